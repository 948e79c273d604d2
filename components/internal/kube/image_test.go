package kube

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestImagesAreWhatANodeCanPull(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	for image, want := range map[string]string{
		"hotkv":                                 "",
		"hotkv:local-next":                      "",
		"kvcacheai/mooncake:0.3.13.post1":       "",
		"localhost:5000/kv:1":                   "",
		"registry.example.com/a/b_c:1" + digest: "",
		"kv" + digest:                           "",
		"":                                      "image: Required value: name one",
		" x y:1 ":                               `image: Invalid value: " x y:1 ": is no image's name`,
		"X:UPPER:1":                             `image: Invalid value: "X:UPPER:1": is no image's name`,
		"registry.example.com/Team/kv:1":        "must be lowercase",
		"a\nb":                                  "is no image's name",
		"-":                                     "is no image's name",
		"@":                                     "is no image's name",
		"kv:":                                   "is no image's name",
		"kv:1@sha256:0123":                      "is no image's name",
		"kv:1@sha1:" + digest[8:]:               "is no image's name",
		"kv:1" + strings.ToUpper(digest):        "is no image's name",
	} {
		errs := ValidateImage(image, "name one", field.NewPath("image"))
		if want == "" {
			assert.Empty(t, errs, image)
		} else if assert.Len(t, errs, 1, image) {
			assert.ErrorContains(t, errs[0], want)
		}
	}
}

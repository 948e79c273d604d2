package stacks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const production = `{"kubeconfig": "kubeconfig", "context": "local", "production": true}`

func TestProductionTakesImagesByTheirDigestOnly(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	for image, refused := range map[string]bool{
		"registry:5000/kv" + digest: false,
		"kv:1" + digest:             false,
		"kv:1":                      true,
		"kv":                        true,
		"kv:1@sha512:" + strings.Repeat(digest[8:], 2): true,
	} {
		config := map[string]string{
			"hotkv":    `{"a": {"image": "` + image + `"}}`,
			"mooncake": `{"m": {"image": "` + image + `", "version": "0.3.13"}}`,
		}
		_, err := load(config)
		assert.NoError(t, err, "%s in any other stack", image)

		config["cluster"] = production
		_, err = load(config)
		if !refused {
			assert.NoError(t, err, image)
			continue
		}
		assert.ErrorContains(t, err, `Pulumi.dev.yaml: kvinfra:hotkv.a.image: Invalid value: "`+image+`": has no digest`)
		assert.ErrorContains(t, err, `Pulumi.dev.yaml: kvinfra:mooncake.m.image: Invalid value: "`+image+`": has no digest`)
	}
}

func TestAnImageThatIsMissingIsReportedOnce(t *testing.T) {
	_, err := load(map[string]string{"cluster": production, "hotkv": `{"a": {}}`})
	assert.Len(t, strings.Split(err.Error(), "\n"), 1, "%v", err)
	assert.ErrorContains(t, err, "kvinfra:hotkv.a.image: Required value")
}

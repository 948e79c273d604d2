package kube

import (
	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateImage reports why a node could not pull the image: it reads the name with
// the same parser. No image at all is required, with an example.
func ValidateImage(image, required string, at *field.Path) field.ErrorList {
	if image == "" {
		return field.ErrorList{field.Required(at, required)}
	}
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return field.ErrorList{field.Invalid(at, image, "is no image's name, like registry.example.com/team/name:tag or name@sha256:digits: "+err.Error())}
	}
	return nil
}

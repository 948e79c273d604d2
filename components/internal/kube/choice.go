package kube

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Choice is a text that is one of a few. Validation and the schema of the stack
// files both ask the type for them.
type Choice[T any] interface {
	~string
	Choices() []T
}

// ValidateChoice reports a text that is none of those of its type.
func ValidateChoice[T Choice[T]](v T, at *field.Path) field.ErrorList {
	if slices.Contains(v.Choices(), v) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, v, v.Choices())}
}

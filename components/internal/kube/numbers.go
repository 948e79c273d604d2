package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxSeconds is the longest that anything may take: a day. Kubernetes and the
// components add to such numbers, and some are 32 bits wide.
const MaxSeconds = 24 * 60 * 60

// ValidateRange reports a number that is not from least to most.
func ValidateRange(n, least, most int, at *field.Path) field.ErrorList {
	if n >= least && n <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("must be from %d to %d", least, most))}
}

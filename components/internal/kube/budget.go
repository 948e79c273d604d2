package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Budget says how many pods of a kind Kubernetes may take away at once when it
// empties nodes for maintenance or to save some. It says nothing of rolling updates,
// which take one, and of nodes that fail.
type Budget struct {
	// MaxUnavailable is how many may be away at once, whatever the reason; pods that
	// are not ready count.
	MaxUnavailable int `json:"maxUnavailable,omitempty"`

	// Off leaves the budget out: all pods may be taken at once. It is for clusters where
	// nodes are only ever emptied with a service window.
	Off bool `json:"off,omitempty"`
}

// Or fills what b leaves out.
func (b Budget) Or(maxUnavailable int) Budget {
	if !b.Off {
		Fill(&b.MaxUnavailable, maxUnavailable)
	}
	return b
}

// Validate reports a budget that says nothing, or more than most, which is a
// sentence's end: why there is no more.
func (b Budget) Validate(most int, why string, at *field.Path) field.ErrorList {
	if b.Off {
		if b.MaxUnavailable != 0 {
			return field.ErrorList{field.Forbidden(at.Child("maxUnavailable"), "the budget is off; leave one of the two out")}
		}
		return nil
	}
	if b.MaxUnavailable < 1 || b.MaxUnavailable > most {
		return field.ErrorList{field.Invalid(at.Child("maxUnavailable"), b.MaxUnavailable, fmt.Sprintf("must be from 1 to %d: %s", most, why))}
	}
	return nil
}

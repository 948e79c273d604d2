package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Budget limits how many pods of a kind Kubernetes may evict at once when nodes are
// drained, for maintenance or to save nodes. Rolling updates, which restart one pod at a
// time, and failing nodes are not limited by it.
type Budget struct {
	// MaxUnavailable is how many pods may be unavailable at once. A pod that is not ready
	// for any other reason counts too.
	MaxUnavailable int `json:"maxUnavailable,omitempty"`

	// Off leaves the budget out: all pods may be evicted at once. Use it only where nodes
	// are drained in a maintenance window. Default false.
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

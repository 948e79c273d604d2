package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	longestText = 1024
	// Kubernetes takes 256 KiB of annotations, names and values together. The components
	// add a few short ones and a text.
	mostAnnotations = 256<<10 - 4<<10
	nul             = "\x00"
	whyNoNul        = "has a NUL character in it, which no process can be given"
)

// ValidateText reports a text that only has to differ from another, like a date, and
// that is too long for it.
func ValidateText(text string, at *field.Path) field.ErrorList {
	if len(text) > longestText {
		return field.ErrorList{field.TooLong(at, "", longestText)}
	}
	if strings.Contains(text, nul) {
		return field.ErrorList{field.Invalid(at, text, whyNoNul)}
	}
	return nil
}

// ValidateValues reports values of flags or variables that no process can be given.
func ValidateValues(values map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if strings.Contains(values[key], nul) {
			errs = append(errs, field.Invalid(at.Key(key), values[key], whyNoNul))
		}
	}
	return errs
}

// validateSize reports annotations that are too much together.
func validateSize(annotations map[string]string, at *field.Path) field.ErrorList {
	size := 0
	for key, value := range annotations {
		size += len(key) + len(value)
	}
	if size <= mostAnnotations {
		return nil
	}
	return field.ErrorList{field.Invalid(at, fmt.Sprintf("%d bytes", size), fmt.Sprintf(
		"may have at most %d together, names and values: Kubernetes takes no more", mostAnnotations))}
}

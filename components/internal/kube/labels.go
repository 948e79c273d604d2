package kube

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateLabels reports further labels of pods that cannot exist, and those that
// say whose pods they are.
func ValidateLabels(labels map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		errs = append(errs, invalid(content.IsLabelKey(key), key, at)...)
		errs = append(errs, invalid(content.IsLabelValue(labels[key]), labels[key], at.Key(key))...)
		if key == "app" || strings.HasPrefix(key, "app.kubernetes.io/") || strings.HasPrefix(key, "kvinfra/") {
			errs = append(errs, field.Forbidden(at.Key(key), "the cluster finds its pods by it"))
		}
	}
	return errs
}

// ValidateAnnotations reports further annotations of pods that cannot exist, and
// those that the components set.
func ValidateAnnotations(annotations map[string]string, at *field.Path) field.ErrorList {
	errs := append(validateSize(annotations, at), ValidateValues(annotations, at)...)
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		errs = append(errs, invalid(content.IsLabelKey(strings.ToLower(key)), key, at)...) // as Kubernetes itself checks them
		if strings.HasPrefix(key, "kvinfra/") {
			errs = append(errs, field.Forbidden(at.Key(key), "is set by the component"))
		}
	}
	return errs
}

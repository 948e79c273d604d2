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
		for _, why := range content.IsLabelKey(key) {
			errs = append(errs, field.Invalid(at, key, why))
		}
		for _, why := range content.IsLabelValue(labels[key]) {
			errs = append(errs, field.Invalid(at.Key(key), labels[key], why))
		}
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
		for _, why := range content.IsLabelKey(strings.ToLower(key)) { // as Kubernetes itself checks them
			errs = append(errs, field.Invalid(at, key, why))
		}
		if strings.HasPrefix(key, "kvinfra/") {
			errs = append(errs, field.Forbidden(at.Key(key), "is set by the component"))
		}
	}
	return errs
}

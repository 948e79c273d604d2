package kube

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Join turns the problems of one component into one error, a line each, that
// names the component:
//
//	hotkv "cache": storage.size: Invalid value: "1G1": is not a quantity
func Join(kind, name string, problems field.ErrorList) error {
	errs := make([]error, 0, len(problems))
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("%s %q: %w", kind, name, p))
	}
	return errors.Join(errs...)
}

// ValidateName reports why a component's name cannot start the names of its
// objects. Services are the strictest: they allow 63 characters and no dot.
func ValidateName(name string, longestSuffix int, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, why := range validation.IsDNS1035Label(name) {
		errs = append(errs, field.Invalid(at, name, why))
	}
	if most := validation.DNS1035LabelMaxLength - longestSuffix; len(errs) == 0 && len(name) > most {
		errs = append(errs, field.Invalid(at, name, fmt.Sprintf("may have at most %d characters, so that the names of its objects fit", most)))
	}
	return errs
}

// ValidateNamespace reports why a namespace cannot exist.
func ValidateNamespace(namespace string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, why := range validation.IsDNS1123Label(namespace) {
		errs = append(errs, field.Invalid(at, namespace, why))
	}
	return errs
}

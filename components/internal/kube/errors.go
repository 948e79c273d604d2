package kube

import (
	"errors"
	"fmt"

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

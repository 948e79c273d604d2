package kube

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateName reports why a component's name cannot start the names of its
// objects. Services are the strictest: they allow 63 characters and no dot.
func ValidateName(name string, longestSuffix int, at *field.Path) field.ErrorList {
	errs := invalid(validation.IsDNS1035Label(name), name, at)
	if most := validation.DNS1035LabelMaxLength - longestSuffix; len(errs) == 0 && len(name) > most {
		errs = append(errs, field.Invalid(at, name, fmt.Sprintf("may have at most %d characters, so that the names of its objects fit", most)))
	}
	return errs
}

// ValidateNamespace reports why a namespace cannot exist.
func ValidateNamespace(namespace string, at *field.Path) field.ErrorList {
	return invalid(validation.IsDNS1123Label(namespace), namespace, at)
}

// ValidateObjectName reports why nothing that a component is told to use can have
// the name: a Secret, a StorageClass, a PriorityClass.
func ValidateObjectName(name string, at *field.Path) field.ErrorList {
	return invalid(validation.IsDNS1123Subdomain(name), name, at)
}

// ValidateObjectNames is ValidateObjectName for a list.
func ValidateObjectNames(names []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range names {
		errs = append(errs, ValidateObjectName(name, at.Index(i))...)
	}
	return errs
}

// ValidateDataKey reports why a Secret or a ConfigMap cannot have the key.
func ValidateDataKey(key string, at *field.Path) field.ErrorList {
	return invalid(validation.IsConfigMapKey(key), key, at)
}

func invalid(reasons []string, value string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, why := range reasons {
		errs = append(errs, field.Invalid(at, value, why))
	}
	return errs
}

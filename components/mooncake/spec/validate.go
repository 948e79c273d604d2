package spec

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// longestSuffix is what the component puts behind its name in an object's name.
const longestSuffix = len("-master")

// Validate reports every problem of a cluster called name, with all defaults
// applied.
func (c Cluster) Validate(name string, at *field.Path) field.ErrorList {
	errs := kube.ValidateName(name, longestSuffix, at.Child("name"))
	errs = append(errs, kube.ValidateNamespace(c.Namespace, at.Child("namespace"))...)
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), "name an image with Mooncake, for example kvcacheai/mooncake:0.3.13.post1"))
	}
	errs = append(errs, c.Master.Resources.Validate(at.Child("master", "resources"))...)
	if c.Store.Replicas < 1 {
		errs = append(errs, field.Invalid(at.Child("store", "replicas"), c.Store.Replicas, "must be at least 1"))
	}
	errs = append(errs, c.Store.validateSizes(at.Child("store"))...)
	errs = append(errs, c.Fabric.validate(at.Child("fabric"))...)
	if c.TimeoutSeconds < 1 {
		errs = append(errs, field.Invalid(at.Child("timeoutSeconds"), c.TimeoutSeconds, "must be at least 1"))
	}
	return errs
}

package stacks

import (
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unpinned reports the images of a production stack that have no digest.
func (s Stack) unpinned(hotkv, mooncake *field.Path) field.ErrorList {
	if !s.Cluster.Production {
		return nil
	}
	digest := regexp.MustCompile(`@sha256:[0-9a-f]{64}$`)
	var errs field.ErrorList
	check := func(at *field.Path, image string) {
		if image != "" && !digest.MatchString(image) { // that it is missing is reported already
			errs = append(errs, field.Invalid(at.Child("image"), image,
				"has no digest, and this stack is for production: append @sha256: and the 64 digits that the registry tells for it"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.HotKV)) {
		check(hotkv.Child(name), s.HotKV[name].Image)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Mooncake)) {
		check(mooncake.Child(name), s.Mooncake[name].Image)
	}
	return errs
}

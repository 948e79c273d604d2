package stacks

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// collisions reports HotKV clusters of one namespace whose pods would have the same
// names: "a" with a StatefulSet for each shard, and "a-0".
func (s Stack) collisions(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	owner := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.HotKV)) {
		c := s.HotKV[name]
		for _, claim := range c.Claims(name) {
			key := c.Namespace + "/" + claim
			if other, taken := owner[key]; taken {
				errs = append(errs, field.Invalid(at.Child(name), name, fmt.Sprintf("and %q would both have something called %s in the namespace %s; rename one", other, claim, c.Namespace)))
				break
			}
			owner[key] = name
		}
	}
	return errs
}

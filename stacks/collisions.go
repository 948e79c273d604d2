package stacks

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// claim is the names that a cluster of the stack has in its namespace.
type claim struct {
	at        *field.Path
	namespace string
	names     []string
}

// claims returns those of every cluster, in a stable order.
func (s Stack) claims(hotkv, mooncake *field.Path) []claim {
	var all []claim
	for _, name := range slices.Sorted(maps.Keys(s.HotKV)) {
		c := s.HotKV[name]
		all = append(all, claim{hotkv.Child(name), c.Namespace, c.Claims(name)})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Mooncake)) {
		c := s.Mooncake[name]
		all = append(all, claim{mooncake.Child(name), c.Namespace, c.Claims(name)})
	}
	return all
}

// collisions reports clusters of one namespace whose objects or pods would have the
// same names: "a" with a StatefulSet for each shard, and "a-0". Where an object of
// that name exists, some versions of the provider take it over without a word.
func collisions(claims []claim) field.ErrorList {
	var errs field.ErrorList
	owners := map[string]*field.Path{}
	for _, c := range claims {
		for _, name := range c.names {
			key := c.namespace + "/" + name
			if owner, taken := owners[key]; taken {
				errs = append(errs, field.Forbidden(c.at, fmt.Sprintf("and %s would both have something called %s in the namespace %s; rename one", owner, name, c.namespace)))
				break
			}
			owners[key] = c.at
		}
	}
	return errs
}

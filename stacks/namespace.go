package stacks

import (
	"slices"
	"strings"
)

// PodSecurity returns the level of Kubernetes' Pod Security Standards that the
// stack gives a namespace: the weakest that any of its clusters there needs, "" for
// a namespace whose level is not the stack's to set.
func (s Stack) PodSecurity(namespace string) string {
	// The namespaces that every cluster has are nobody's in particular: pods of others,
	// that run there today, could not be made again.
	if s.Cluster.SharedNamespaces || namespace == "default" || strings.HasPrefix(namespace, "kube-") {
		return ""
	}
	levels := []string{"restricted", "privileged"} // the strictest first
	level := ""
	need := func(in, needed string) {
		if in == namespace && slices.Index(levels, needed) > slices.Index(levels, level) {
			level = needed
		}
	}
	for _, c := range s.HotKV {
		need(c.Namespace, c.PodSecurity())
	}
	for _, c := range s.Mooncake {
		need(c.Namespace, c.PodSecurity())
	}
	return level
}

package stacks

import (
	"maps"
	"slices"

	hotkv "kvinfra/components/hotkv/spec"
	mooncake "kvinfra/components/mooncake/spec"
)

// Stack is one environment: a Kubernetes cluster and what runs on it. Its keys in
// a stack file start with the project's name: kvinfra:cluster.
type Stack struct {
	// Cluster is the Kubernetes cluster to use. Required.
	Cluster Cluster `json:"cluster"`

	// HotKV are the HotKV clusters to run, by name; there may be several. Default: none.
	// One that is removed is taken away; its volumes stay, unless storage.retention is Delete.
	HotKV map[string]hotkv.Cluster `json:"hotkv,omitempty"`

	// Mooncake are the Mooncake Stores to run, by name; there may be several. Default:
	// none. One that is removed is taken away, with all its keys.
	Mooncake map[string]mooncake.Cluster `json:"mooncake,omitempty"`
}

// Cluster says which Kubernetes cluster a stack uses. It comes from the stack file
// alone, never from the shell.
type Cluster struct {
	// Kubeconfig is a path, relative to the stack file or absolute, or the text of a
	// kubeconfig, which is kept as a secret. Required. A change of the file or of what
	// is in it replaces nothing.
	Kubeconfig string `json:"kubeconfig"`

	// Context is the context in the kubeconfig. Required. It must lead to the same
	// Kubernetes cluster for the whole life of the stack.
	Context string `json:"context"`

	// Namespace in which clusters run that name none themselves. Default: "default".
	Namespace string `json:"namespace,omitempty"`

	// SharedNamespaces leaves the Pod Security level of the stack's namespaces alone,
	// for namespaces that have other pods too, or whose level somebody else sets.
	// Default false: an up labels each with the strictest level at which the stack's
	// own pods run, but for "default" and those of Kubernetes itself, "kube-…". A change is made in place; it
	// stops no pod that runs.
	SharedNamespaces bool `json:"sharedNamespaces,omitempty"`

	// Production keeps the stack from two accidents. StatefulSets, Secrets and
	// generated passwords are protected: no up and no destroy deletes or replaces one.
	// And images must be named by their digest: what a tag names may be another program
	// tomorrow. Default false. A change touches nothing in Kubernetes; what an up with
	// false has gone through can be deleted.
	Production bool `json:"production,omitempty"`
}

// withDefaults gives every cluster without a namespace the stack's.
func (s Stack) withDefaults() Stack {
	if s.Cluster.Namespace == "" {
		s.Cluster.Namespace = "default"
	}
	for name, c := range s.HotKV {
		if c.Namespace == "" {
			c.Namespace = s.Cluster.Namespace
		}
		s.HotKV[name] = c.WithDefaults()
	}
	for name, c := range s.Mooncake {
		if c.Namespace == "" {
			c.Namespace = s.Cluster.Namespace
		}
		s.Mooncake[name] = c.WithDefaults()
	}
	return s
}

// Namespaces returns every namespace that the stack uses, sorted.
func (s Stack) Namespaces() []string {
	used := map[string]bool{}
	for _, c := range s.HotKV {
		used[c.Namespace] = true
	}
	for _, c := range s.Mooncake {
		used[c.Namespace] = true
	}
	return slices.Sorted(maps.Keys(used))
}

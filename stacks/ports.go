package stacks

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	mooncake "kvinfra/components/mooncake/spec"
)

// hostCluster is a Mooncake Store whose stores use ports of their nodes.
type hostCluster struct {
	at    *field.Path
	file  string // which it is in, "" for the one at hand
	nodes map[string]string
}

// hostClusters returns those of the stack, in a stable order.
func (s Stack) hostClusters(at *field.Path, file string) []hostCluster {
	var all []hostCluster
	for _, name := range slices.Sorted(maps.Keys(s.Mooncake)) {
		if c := s.Mooncake[name]; c.Fabric.Mode == mooncake.RDMAHostNetwork {
			all = append(all, hostCluster{at.Child(name), file, c.Store.Placement.NodeSelector})
		}
	}
	return all
}

// crowded reports the first of some clusters whose stores need the same ports of the
// same nodes: no node can have a store of both, and whichever comes second waits for
// a free one, perhaps for ever. Nodes are surely the same where one selector includes
// the other; labels of two different names may be on one node or not.
func (c hostCluster) crowded(others []hostCluster) field.ErrorList {
	for _, other := range others {
		if includes(c.nodes, other.nodes) || includes(other.nodes, c.nodes) {
			where := other.at.String()
			if other.file != "" {
				where += " of " + other.file
			}
			return field.ErrorList{field.Forbidden(c.at.Child("store", "placement", "nodeSelector"), fmt.Sprintf(
				"its stores and those of %s need the same ports (%d, %d to %d) of the same nodes; give each cluster nodes of its own: one label, with another value for each",
				where, mooncake.HealthPort, mooncake.TransferPortMin, mooncake.TransferPortMax))}
		}
	}
	return nil
}

// includes says whether every node that b selects is one that a selects.
func includes(a, b map[string]string) bool {
	for key, value := range a {
		if found, ok := b[key]; !ok || found != value {
			return false
		}
	}
	return true
}

// CheckPorts reports ports of nodes that a cluster of the stack shares with one of the
// others, which are by name.
func (s Stack) CheckPorts(project, stack string, others map[string]Stack) error {
	at := field.NewPath(project + ":mooncake")
	var theirs []hostCluster
	for _, name := range slices.Sorted(maps.Keys(others)) {
		if s.Cluster.sameAs(others[name].Cluster) {
			theirs = append(theirs, others[name].hostClusters(at, File(name))...)
		}
	}
	var errs []error
	for _, c := range s.hostClusters(at, "") {
		for _, err := range c.crowded(theirs) {
			errs = append(errs, err)
		}
	}
	return inFile(File(stack), errs)
}

// sameAs says whether both are surely one Kubernetes cluster: the same file and context.
// Two files may lead to one cluster too, but only a connection would tell, and of an
// encrypted text not even that it is another one.
func (c Cluster) sameAs(other Cluster) bool {
	return !c.Inline() && c.Kubeconfig != Hidden &&
		filepath.Clean(c.Kubeconfig) == filepath.Clean(other.Kubeconfig) && c.Context == other.Context
}

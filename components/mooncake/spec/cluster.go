package spec

import "kvinfra/components/internal/kube"

// Cluster describes one Mooncake Store: a master that knows where every key is,
// and stores that lend their memory. A field left at zero means its default.
type Cluster struct {
	// Namespace of all objects; it must exist. Default: "default". A change makes a
	// new, empty cluster.
	Namespace string `json:"namespace,omitempty"`

	// Image with Mooncake, for master and stores alike: their protocol has no
	// versions, so they must be of one. Required. A change restarts the master, which
	// forgets every key, and then the stores, one after the other.
	Image string `json:"image"`

	// Master is the coordinator.
	Master Master `json:"master,omitzero"`

	// Store is what lends the memory.
	Store Store `json:"store,omitzero"`

	// Fabric is the network over which stores and clients move data.
	Fabric Fabric `json:"fabric,omitzero"`

	// RunVerify repeats the check that data written through one store is read through
	// the others: any new text. Without it the check runs when the cluster is made and
	// whenever a setting of the processes changed.
	RunVerify string `json:"runVerify,omitempty"`

	// SkipVerification leaves that check out. An up then ends when every pod is ready,
	// which does not mean that data can be moved. Default false.
	SkipVerification bool `json:"skipVerification,omitempty"`

	// TimeoutSeconds bounds each wait: for the master's pod, for the stores' pods and
	// for the check. Default 600; a large segment over RDMA is pinned at start, which
	// takes minutes. A change runs the check again.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
}

// Master describes the coordinator, one pod.
type Master struct {
	// Resources of the master. Default: 100m CPU and 256Mi memory requested, memory
	// limited to 256Mi; it needs about 60Mi and a little for each key. A change
	// restarts it, and all keys are forgotten.
	Resources Resources `json:"resources,omitzero"`
}

// Store describes the stores, which are all alike.
type Store struct {
	// Replicas is the number of stores. Default 3. A larger number adds memory in
	// place; a smaller one takes the highest ordinals away with their keys: this is
	// a cache.
	Replicas int `json:"replicas,omitempty"`

	// SegmentSize is the memory that each store lends, a Kubernetes quantity of at
	// least 16Mi. Default 10Gi. A change restarts the stores one after the other; each
	// comes back empty.
	SegmentSize string `json:"segmentSize,omitempty"`

	// LocalBufferSize is the memory through which a store's own REST port moves
	// values, and with it the largest value that this port takes: a Kubernetes
	// quantity, at least 1Mi. Default 64Mi. A change restarts like SegmentSize.
	LocalBufferSize string `json:"localBufferSize,omitempty"`

	// Resources of each store. The memory limit must hold segment, buffer and
	// Overhead, and is their sum by default. Default CPU request: 100m. A change
	// restarts like SegmentSize.
	Resources Resources `json:"resources,omitzero"`
}

// Resources is what one container asks for and what it may not exceed.
type Resources = kube.Resources

// Amounts are Kubernetes quantities, for example cpu "500m", memory "2Gi".
type Amounts = kube.Amounts

// Ports of the processes.
const (
	RPCPort     = 50051 // master, for clients and stores
	MetricsPort = 9003  // master, HTTP
	RESTPort    = 8088  // store, HTTP
	// The Transfer Engine of a store takes two ports of this range. The default one
	// is 2001 ports wide, too many to name in a network policy or on a host.
	TransferPortMin = 15000
	TransferPortMax = 15031
)

// WithDefaults fills every field that is zero and has a default.
func (c Cluster) WithDefaults() Cluster {
	fill(&c.Namespace, "default")
	c.Master.Resources = c.Master.Resources.Or(Resources{
		Requests: Amounts{CPU: "100m"},
		Limits:   Amounts{Memory: "256Mi"},
	})
	fill(&c.Store.Replicas, 3)
	fill(&c.Store.SegmentSize, "10Gi")
	fill(&c.Store.LocalBufferSize, "64Mi")
	c.Store.Resources = c.Store.Resources.Or(Resources{
		Requests: Amounts{CPU: "100m"},
		Limits:   Amounts{Memory: c.Store.footprint()},
	})
	c.Fabric = c.Fabric.withDefaults()
	fill(&c.TimeoutSeconds, 600)
	return c
}

func fill[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

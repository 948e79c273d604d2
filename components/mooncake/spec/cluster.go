package spec

import "kvinfra/components/internal/kube"

// Cluster describes one Mooncake Store: a master that knows where every key is,
// and stores that lend their memory. A field left at zero means its default.
type Cluster struct {
	// Namespace of all objects. A stack file's is made when it is missing; with a program
	// of your own it must exist. Default: "default", or what cluster.namespace of the stack
	// file says. A change makes a new, empty cluster.
	Namespace string `json:"namespace,omitempty"`

	// Image with Mooncake, for master and stores alike: they must be of one release, since
	// their protocol has no version. Required. A change restarts the master, which
	// forgets every key, and then the stores, one after the other.
	Image string `json:"image"`

	// Version is the release of Mooncake in the image, for example 0.3.13.post1. It
	// decides which flags and variables the processes are given, since a master stops
	// at a flag that it does not know. Default: what the tag of a known image says;
	// required for any other. A change restarts the master, which forgets every key, and
	// then the stores, one after the other. Clients must be of the same release: restart
	// them afterwards.
	Version Version `json:"version,omitempty"`

	// ImagePullSecrets are the names of Secrets in the namespace with access to the
	// image's registry. Default: none. A change restarts the master, which forgets every
	// key, and then the stores, one after the other.
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`

	// Master is the coordinator.
	Master Master `json:"master,omitzero"`

	// Store describes the stores, which lend their memory.
	Store Store `json:"store,omitzero"`

	// Metadata says where Transfer Engines learn how to reach each other.
	Metadata Metadata `json:"metadata,omitzero"`

	// HighAvailability runs several masters instead of one.
	HighAvailability HighAvailability `json:"highAvailability,omitzero"`

	// ClusterID is the name of this cluster in an etcd that it shares with others, for
	// metadata and for high availability; masters, stores and clients must have the
	// same. Default: namespace and name, with a dot between. A change restarts what uses
	// it: with high availability the masters, which forget every key, and then the stores;
	// with metadata.mode etcd the stores. Restart the clients afterwards.
	ClusterID string `json:"clusterId,omitempty"`

	// Fabric is the network over which stores and clients move data.
	Fabric Fabric `json:"fabric,omitzero"`

	// Labels are additional labels for the pods of masters and stores. Default: none. A
	// change restarts the master, which forgets every key, and then the stores, one after
	// the other.
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations are additional annotations for the same pods. Default: none. A change
	// restarts the master, which forgets every key, and then the stores, one after the
	// other.
	Annotations map[string]string `json:"annotations,omitempty"`

	// RunVerify repeats the check that data written through one store can be read through
	// the others, whenever it changes to any new text of up to 1024 bytes. The check also runs when the
	// cluster is made, and when a setting of the processes changes. Default: none.
	RunVerify string `json:"runVerify,omitempty"`

	// SkipVerification leaves that check out. An up then ends when every pod is ready,
	// which does not mean that data can be moved. Default false. A change restarts
	// nothing.
	SkipVerification bool `json:"skipVerification,omitempty"`

	// TimeoutSeconds bounds each wait: for the master's pod, for all stores, which
	// start and update one after the other, and for the check. Default 600, at most 86400; a large
	// segment over RDMA is pinned at start, which takes minutes for each store. A change
	// runs the check again.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
}

// Master describes the coordinator. Any change of it restarts the master,
// and all keys are forgotten.
type Master struct {
	// Replicas is the number of masters: 1, or with high availability 2 or 3, by
	// default 3.
	Replicas int `json:"replicas,omitempty"`

	// Threads is the number of threads that serve requests. Default: Mooncake's own
	// choice, up to 16 by the number of cores (4 before 0.3.12). At most 1024.
	Threads int `json:"threads,omitempty"`

	// LeaseMilliseconds is how long a key is kept where it is after it was read: until
	// then it is not evicted, not removed, and not moved away from a store that stops.
	// Default 10000, at most 86400000.
	LeaseMilliseconds int `json:"leaseMilliseconds,omitempty"`

	// EvictionWatermark is the share of the memory in use, above 0 and at most 1, from
	// which keys are evicted. Default 0.9.
	EvictionWatermark float64 `json:"evictionWatermark,omitempty"`

	// EvictionRatio is the share of the memory that one eviction frees, above 0 and at
	// most 1. Default 0.05.
	EvictionRatio float64 `json:"evictionRatio,omitempty"`

	// ClientTTLSeconds is how long a store or client may be silent until the master
	// drops it with its keys. Default 10, at most 86400. Until then, reads of the keys of a store that
	// died fail; with less than 5, a store that is only busy may be dropped.
	ClientTTLSeconds int `json:"clientTTLSeconds,omitempty"`

	// ExtraFlags are additional flags for mooncake_master, without dashes, for example
	// minloglevel: "1". Flags that the release does not have, and those that the component
	// sets itself, are refused. Default: none.
	ExtraFlags map[string]string `json:"extraFlags,omitempty"`

	// ExtraEnv are additional environment variables for the masters. Those that the
	// component sets itself are refused. Default: none.
	ExtraEnv map[string]string `json:"extraEnv,omitempty"`

	// Placement of the masters.
	Placement Placement `json:"placement,omitzero"`

	// Restart restarts the master when it changes: any new text of up to 1024 bytes, for example a date.
	// Default: none.
	Restart string `json:"restart,omitempty"`

	// Resources of the master. Default: 100m CPU and 256Mi memory requested, memory
	// limited to 256Mi. It needs about 60Mi, and a little more for each key.
	Resources Resources `json:"resources,omitzero"`
}

// Store describes the stores, which are all alike.
type Store struct {
	// Replicas is the number of stores. Default 3. A larger number adds stores and
	// restarts none; a smaller one removes those with the highest ordinals, one after the
	// other, each drained.
	Replicas int `json:"replicas,omitempty"`

	// SegmentSize is the memory that each store lends, a Kubernetes quantity of at
	// least 16Mi. Default 10Gi. A change restarts the stores, one after the other; each
	// moves its keys to the others first and comes back empty.
	SegmentSize string `json:"segmentSize,omitempty"`

	// LocalBufferSize is the memory through which a store's own REST port moves
	// values, and with it the largest value that this port takes: a Kubernetes
	// quantity, at least 1Mi. Default 64Mi; before 0.3.8 it is 1Gi and cannot be
	// changed. A change restarts the stores, one after the other.
	LocalBufferSize string `json:"localBufferSize,omitempty"`

	// RESTPort is the port of a store's HTTP interface. Default 8088. A change restarts
	// the stores, one after the other.
	RESTPort int `json:"restPort,omitempty"`

	// DrainSeconds is how long a store that is stopped may take to move its keys to the
	// others; with 0 it drops them. Default 60, at most 86400; 0 before 0.3.12, where stores cannot move
	// keys. A key that was read within master.leaseMilliseconds is not moved, so keys that
	// are read all the time are lost with their store. Nothing is moved when the others
	// have no room, or stop too. A change restarts the stores, one after the other.
	DrainSeconds *int `json:"drainSeconds,omitempty"`

	// ExtraEnv are additional environment variables for the stores. Those that the
	// component sets itself are refused. They are not in the clients' ConfigMap. Default:
	// none. A change restarts the stores, one after the other.
	ExtraEnv map[string]string `json:"extraEnv,omitempty"`

	// Placement of the stores. With fabric.mode rdma-host-network each store needs a node
	// of its own, whatever spread says.
	Placement Placement `json:"placement,omitzero"`

	// DisruptionBudget says how many stores may be away at once when nodes are drained.
	// Default 1: each store then finds others to move its keys to. A change is made in
	// place.
	DisruptionBudget Budget `json:"disruptionBudget,omitzero"`

	// Restart restarts the stores when it changes, one after the other, each drained: any
	// new text of up to 1024 bytes, for example a date. Default: none.
	Restart string `json:"restart,omitempty"`

	// Resources of each store. The memory limit must hold the segment, the local buffer
	// and the process itself, and is their sum by default. The process takes 128Mi and a
	// 512th of the segment over TCP; over RDMA a 20th of the segment, and at least 1Gi.
	// Default CPU request: 100m. A change restarts the stores, one after the other.
	Resources Resources `json:"resources,omitzero"`
}

// Resources is what one container asks for and what it may not exceed.
type Resources = kube.Resources

// Amounts are Kubernetes quantities, for example cpu "500m", memory "2Gi".
type Amounts = kube.Amounts

// Budget is how many pods may be away at once.
type Budget = kube.Budget

// Placement says on which nodes pods run.
type Placement = kube.Placement

// Toleration is a taint that a node may have.
type Toleration = kube.Toleration

// Ports of the processes.
const (
	RPCPort      = 50051 // master, for clients and stores
	MetricsPort  = 9003  // master, HTTP
	MetadataPort = 8080  // master, HTTP, with metadata mode http
	HealthPort   = 9300  // store, HTTP: metrics, and whether it is of use
	// The Transfer Engine of a store takes two ports of this range. The default one
	// is 2001 ports wide, too many to name in a network policy or on a host.
	TransferPortMin = 15000
	TransferPortMax = 15031
)

// WithDefaults fills every field that is zero and has a default.
func (c Cluster) WithDefaults() Cluster {
	kube.Fill(&c.Namespace, "default")
	kube.Fill(&c.Version, versionOf(c.Image))
	kube.Fill(&c.Metadata.Mode, MetadataP2P)
	if c.HighAvailability.Enabled() {
		kube.Fill(&c.Master.Replicas, 3)
	}
	kube.Fill(&c.Master.Replicas, 1)
	kube.Fill(&c.Master.LeaseMilliseconds, 10000)
	kube.Fill(&c.Master.EvictionWatermark, 0.9)
	kube.Fill(&c.Master.EvictionRatio, 0.05)
	kube.Fill(&c.Master.ClientTTLSeconds, 10)
	c.Master.Resources = c.Master.Resources.Or(Resources{
		Requests: Amounts{CPU: "100m"},
		Limits:   Amounts{Memory: "256Mi"},
	})
	c.Fabric = c.Fabric.withDefaults()
	c.Master.Placement = c.Master.Placement.Or(kube.Preferred)
	c.Store.Placement = c.Store.Placement.Or(kube.Preferred)
	c.Store.DisruptionBudget = c.Store.DisruptionBudget.Or(1)
	kube.Fill(&c.Store.Replicas, 3)
	kube.Fill(&c.Store.SegmentSize, "10Gi")
	kube.Fill(&c.Store.LocalBufferSize, defaultBuffer(c.Version))
	kube.Fill(&c.Store.RESTPort, 8088)
	if c.Store.DrainSeconds == nil {
		seconds := 0
		if c.Version.has("drain_jobs") {
			seconds = 60
		}
		c.Store.DrainSeconds = &seconds
	}
	c.Store.Resources = c.Store.Resources.Or(Resources{
		Requests: Amounts{CPU: "100m"},
		Limits:   Amounts{Memory: c.footprint()},
	})
	kube.Fill(&c.TimeoutSeconds, 600)
	return c
}

package spec

import "kvinfra/components/internal/kube"

// Cluster describes one HotKV cluster. A field left at zero means its default.
type Cluster struct {
	// Namespace of all objects. With a program of your own it must exist; a stack makes
	// it. Default: "default", or cluster.namespace of the stack file. It is part of the name that every node announces. A change
	// is refused: it would be another, empty cluster.
	Namespace string `json:"namespace,omitempty"`

	// Image of the server, with bash and getent in it. Required. A change is a
	// rolling restart, one pod after the other.
	Image string `json:"image"`

	// Server is the kind of image: "hotkv" (default), with programs called hotkv-server
	// and hotkv-cli, or "valkey", with those of the official Valkey image. A change is a
	// rolling restart.
	Server Server `json:"server,omitempty"`

	// Primaries is the number of shards; each owns a part of the 16384 slots.
	// Default 3, at least 3: fewer cannot vote a dead one out. A larger number adds
	// pods and moves slots to them, with their keys, while clients go on; that needs
	// Valkey 9.0. A smaller one moves the slots of the last shards to the others,
	// checks that they fit, and then removes these shards' pods, and their volumes if
	// storage.retention is Delete; with OneStatefulSet it is refused.
	Primaries int `json:"primaries,omitempty"`

	// ReplicasPerPrimary is the number of copies of each shard, not counting its primary.
	// Default 1, at least 1: without a copy a restart is an outage. A larger number
	// adds pods in place; a smaller one is refused.
	ReplicasPerPrimary int `json:"replicasPerPrimary,omitempty"`

	// Layout says how the pods are grouped. Default OneStatefulSet, as the published
	// manifest has it. A change is refused: it would be another cluster.
	Layout Layout `json:"layout,omitempty"`

	// Storage is where each pod keeps its data.
	Storage Storage `json:"storage,omitzero"`

	// Resources of each server. Default: 100m CPU and 512Mi memory requested,
	// memory limited to 512Mi. A change is a rolling restart.
	Resources Resources `json:"resources,omitzero"`

	// NodeTimeoutSeconds is how long a node may be silent before the others take it
	// for dead and a replica takes over. Default 5, from 1 to 60: less finds a frozen
	// primary sooner, and mistakes a busy one for dead sooner. A change is a rolling
	// restart.
	NodeTimeoutSeconds int `json:"nodeTimeoutSeconds,omitempty"`

	// PasswordFrom is a Secret that exists already, with the password of the default
	// user. Default: the component makes one, with a password that is generated or
	// given. A change is refused: servers of the old and of the new password do not talk
	// to each other. A change of the password in the Secret restarts nothing; restart
	// all pods at once after it.
	PasswordFrom SecretKey `json:"passwordFrom,omitzero"`

	// Memory says how much of a server's memory is for data, and what happens then.
	Memory Memory `json:"memory,omitzero"`

	// Durability decides what happens when a primary is lost and its replica was not in
	// sync: with "durable" (default) the cluster waits for the primary and does not serve
	// until it is back; with "cache" the replica takes over, and the latest acknowledged
	// writes are lost. A change is a rolling restart.
	Durability Durability `json:"durability,omitempty"`

	// Settings are additional settings for the server, named as in its configuration
	// file, for example maxclients: "20000". Those that the cluster depends on are
	// refused. Default: none. A change is a rolling restart.
	Settings map[string]string `json:"settings,omitempty"`

	// Labels are additional labels for every server pod. Default: none. A change is a
	// rolling restart.
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations are additional annotations for every server pod. Default: none. A
	// change is a rolling restart.
	Annotations map[string]string `json:"annotations,omitempty"`

	// ImagePullSecrets are names of Secrets to pull the image with. Default: none. A
	// change is a rolling restart.
	ImagePullSecrets []string `json:"imagePullSecrets,omitempty"`

	// Restart is any text of up to 1024 bytes, for example a date. A change restarts the servers, one pod
	// after the other. Default: none.
	Restart string `json:"restart,omitempty"`

	// NoHeal turns off the repair that runs every five minutes. The repair brings back
	// pods that lost their volume; it never moves slots. Default false. A change is made
	// in place.
	NoHeal bool `json:"noHeal,omitempty"`

	// Placement says on which nodes the pods run. With the layout StatefulSetPerShard,
	// spread keeps the copies of one shard apart, and prefers different nodes and zones
	// for the first pods of all shards, which begin as primaries; with OneStatefulSet it
	// spreads all pods and knows nothing of shards.
	Placement Placement `json:"placement,omitzero"`

	// DisruptionBudget limits how many pods Kubernetes may evict at once when nodes are
	// drained: of the whole cluster, or with StatefulSetPerShard of each shard. Default 1,
	// at most replicasPerPrimary. A change is made in place.
	DisruptionBudget Budget `json:"disruptionBudget,omitzero"`

	// NetworkPolicy closes the cluster bus, port 16379, to all but the servers of this
	// cluster; the client port stays open to everybody. The bus has no password: a process
	// that reaches it can take the cluster over. A change is made in place and restarts
	// nothing.
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitzero"`

	// TimeoutSeconds limits the wait for the pods of each StatefulSet, and after that the
	// time in which the nodes must become one cluster. Default 600, at most 86400. A change
	// restarts no pod; it checks and repairs the layout once more, as runConverge does.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`

	// RunConverge is any text of up to 1024 bytes, for example a date. A change checks and repairs the
	// cluster's layout once more. Default: none.
	RunConverge string `json:"runConverge,omitempty"`

	// AcceptDataLoss is any text of up to 1024 bytes. Each new text permits, once, that slots start empty when
	// every copy of their data is lost: those of a shard that lost all its volumes, or all
	// slots. Without it such a cluster is left as it is, and the error says so. Removing
	// the text changes nothing; the same text set again later counts as new. Default: none.
	AcceptDataLoss string `json:"acceptDataLoss,omitempty"`
}

// Resources is what one container asks for and what it may not exceed.
type Resources = kube.Resources

// Amounts are Kubernetes quantities, for example cpu "500m", memory "2Gi".
type Amounts = kube.Amounts

// Budget is how many pods may be away at once.
type Budget = kube.Budget

// NetworkPolicy limits who reaches the servers. It works where the network plugin
// enforces such policies, for example Calico or Cilium; elsewhere it does nothing.
// Policies add up: another one that selects the same pods opens further ports.
type NetworkPolicy struct {
	// Off leaves the policy out: all pods of the Kubernetes cluster may reach the bus. Use
	// it where something else closes that port, or where nothing may limit these pods.
	// Default false.
	Off bool `json:"off,omitempty"`
}

// Storage describes where each pod keeps its data: on a volume of its own, which
// stays when the pod goes, or nowhere.
type Storage struct {
	// None leaves the volumes out: data is on the node's disk and goes with the pod. A pod
	// that was deleted or moved starts empty and is filled by its shard's primary before
	// Kubernetes takes the next one. When all copies of a shard go at the same time, for
	// example because two nodes fail, its data is lost, and the cluster waits for
	// acceptDataLoss. Default false. A change is refused: no pod would find its data.
	None bool `json:"none,omitempty"`

	// Size of the volume, a Kubernetes quantity. Default 1Gi. A change is refused:
	// Kubernetes cannot change it in place, and another StatefulSet would stop all
	// pods at once.
	Size string `json:"size,omitempty"`

	// ClassName of the StorageClass. Default: the Kubernetes cluster's default class.
	// A change has no effect: the volumes of new pods also get the first one.
	ClassName string `json:"className,omitempty"`

	// Retention says what happens to the volumes when the cluster is destroyed or a
	// shard is removed: "Retain" (default) keeps them, and a new cluster of the same name
	// finds its data again; "Delete" deletes them with the data. When only the number of
	// a StatefulSet's pods is lowered, they always stay. A change is made in place.
	Retention Retention `json:"retention,omitempty"`
}

// Retention is what happens to volumes that no pod uses any more.
type Retention string

// The retentions.
const (
	Retain Retention = "Retain"
	Delete Retention = "Delete"
)

// Choices are the retentions.
func (Retention) Choices() []Retention { return []Retention{Retain, Delete} }

// Layout says which pods make one StatefulSet.
type Layout string

// The layouts. In OneStatefulSet any pod may serve any shard, so Kubernetes cannot
// keep the copies of a shard apart, nor take away the pods of one. With a
// StatefulSet for each shard it can do both; a rolling update goes through them one
// after the other.
const (
	OneStatefulSet      Layout = "OneStatefulSet"
	StatefulSetPerShard Layout = "StatefulSetPerShard"
)

// Choices are the layouts.
func (Layout) Choices() []Layout { return []Layout{OneStatefulSet, StatefulSetPerShard} }

// Server names the programs of an image.
type Server string

// The images that a cluster can be made of.
const (
	HotKV  Server = "hotkv"
	Valkey Server = "valkey"
)

// Choices are the images.
func (Server) Choices() []Server { return []Server{HotKV, Valkey} }

// Programs are the names under which an image has the server and its client,
// and the variable from which that client takes the password.
type Programs struct {
	Server, CLI, PasswordVariable string
}

// Programs returns the names for s.
func (s Server) Programs() Programs {
	if s == Valkey {
		return Programs{Server: "valkey-server", CLI: "valkey-cli", PasswordVariable: "REDISCLI_AUTH"}
	}
	return Programs{Server: "hotkv-server", CLI: "hotkv-cli", PasswordVariable: "HOTKVCLI_AUTH"}
}

// Ports of each node.
const (
	ClientPort = 6379
	BusPort    = 16379 // always the client port + 10000
)

// WithDefaults fills every field that is zero and has a default.
func (c Cluster) WithDefaults() Cluster {
	kube.Fill(&c.Namespace, "default")
	kube.Fill(&c.Server, HotKV)
	kube.Fill(&c.Primaries, 3)
	kube.Fill(&c.ReplicasPerPrimary, 1)
	kube.Fill(&c.Layout, OneStatefulSet)
	kube.Fill(&c.Memory.Percent, 60)
	kube.Fill(&c.Memory.Policy, "noeviction")
	kube.Fill(&c.Durability, Durable)
	c.Placement = c.Placement.Or(Preferred)
	c.DisruptionBudget = c.DisruptionBudget.Or(1)
	if !c.Storage.None {
		kube.Fill(&c.Storage.Size, "1Gi")
		kube.Fill(&c.Storage.Retention, Retain)
	}
	kube.Fill(&c.NodeTimeoutSeconds, 5)
	kube.Fill(&c.TimeoutSeconds, 600)
	c.Resources = c.Resources.Or(Resources{
		Requests: Amounts{CPU: "100m"},
		Limits:   Amounts{Memory: "512Mi"},
	})
	return c
}

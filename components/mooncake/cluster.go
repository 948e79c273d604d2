package mooncake

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/kube"
	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

// Spec is the description of a cluster. Its types are here too, so that a
// program imports one package.
type (
	Spec             = spec.Cluster
	Master           = spec.Master
	Store            = spec.Store
	Metadata         = spec.Metadata
	HighAvailability = spec.HighAvailability
	Fabric           = spec.Fabric
	Tuning           = spec.Tuning
	DevicePlugin     = spec.DevicePlugin
	Placement        = spec.Placement
	Budget           = spec.Budget
	Toleration       = spec.Toleration
	Resources        = spec.Resources
	Amounts          = spec.Amounts
	Port             = spec.Port
	Party            = spec.Party
)

// Who serves the ports of a Spec, which its Ports lists, and who uses them.
const (
	Masters    = spec.Masters
	Stores     = spec.Stores
	Check      = spec.Check
	Clients    = spec.Clients
	Monitoring = spec.Monitoring
	Etcd       = spec.Etcd
)

// The fabrics that a cluster can use.
const (
	TCP              = spec.TCP
	RDMAHostNetwork  = spec.RDMAHostNetwork
	RDMADevicePlugin = spec.RDMADevicePlugin
)

// The places for the metadata of Transfer Engines.
const (
	MetadataP2P  = spec.MetadataP2P
	MetadataHTTP = spec.MetadataHTTP
	MetadataEtcd = spec.MetadataEtcd
)

// Type is the component's type token.
const Type = "kvinfra:mooncake:MooncakeCluster"

// ClusterArgs are the inputs of a cluster.
type ClusterArgs struct {
	// Spec describes the cluster. Its fields are plain values: they shape names and
	// checks.
	Spec Spec
}

// Cluster is a Mooncake Store.
type Cluster struct {
	pulumi.ResourceState

	// MasterAddress is what clients set as MOONCAKE_MASTER.
	MasterAddress pulumi.StringOutput `pulumi:"masterAddress"`
	// MetadataServer is what clients set as MOONCAKE_TE_META_DATA_SERVER.
	MetadataServer pulumi.StringOutput `pulumi:"metadataServer"`
	// Protocol is what clients set as MOONCAKE_PROTOCOL: tcp or rdma.
	Protocol pulumi.StringOutput `pulumi:"protocol"`
	// ClusterID is what clients set as MC_STORE_CLUSTER_ID when there are several
	// masters, and as MC_METADATA_CLUSTER_ID when the metadata is in etcd.
	ClusterID pulumi.StringOutput `pulumi:"clusterId"`
	// Version is the release of Mooncake that clients must have too.
	Version pulumi.StringOutput `pulumi:"version"`
	// ClientVariables are the names and values that every client needs; each pod adds
	// its own address as MOONCAKE_LOCAL_HOSTNAME and LOCAL_HOSTNAME.
	ClientVariables pulumi.StringMapOutput `pulumi:"clientVariables"`
	// ClientConfigMap is the name of the ConfigMap with these, for envFrom, and
	// ClientFilesConfigMap that of the one with vLLM's mooncake_config.json.
	ClientConfigMap      pulumi.StringOutput `pulumi:"clientConfigMap"`
	ClientFilesConfigMap pulumi.StringOutput `pulumi:"clientFilesConfigMap"`
	// SGLangExtraConfig is what SGLang takes behind --hicache-storage-backend-extra-config,
	// in a container that has the address of its pod in POD_IP.
	SGLangExtraConfig pulumi.StringOutput `pulumi:"sglangExtraConfig"`
	// MetricsURL is the master's summary of keys and capacity.
	MetricsURL pulumi.StringOutput `pulumi:"metricsUrl"`
}

// NewCluster makes a cluster called name; all its objects' names start with it.
// It returns an error that lists every problem of args before anything is made,
// and is complete only when data written through one store was read through others.
func NewCluster(ctx *pulumi.Context, name string, args *ClusterArgs, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if args == nil {
		args = &ClusterArgs{}
	}
	s := args.Spec.WithDefaults()
	if err := kube.Join("mooncake", name, s.Validate(name, nil)); err != nil {
		return nil, err
	}

	cluster := &Cluster{}
	err := ctx.RegisterComponentResourceV2(Type, name, pulumi.Map{
		"replicas":    pulumi.Int(s.Store.Replicas),
		"segmentSize": pulumi.String(s.Store.SegmentSize),
		"fabric":      pulumi.String(s.Fabric.Mode),
	}, cluster, opts...)
	if err != nil {
		return nil, err
	}

	for _, warning := range s.Warnings() {
		if err := ctx.Log.Warn(warning, &pulumi.LogArgs{Resource: cluster}); err != nil {
			return nil, err
		}
	}

	b := &builder{ctx: ctx, parent: cluster, name: name, spec: s, owner: objects.Owner{
		System: "mooncake", Name: name, Namespace: s.Namespace, Project: ctx.Project(), Stack: ctx.Stack(),
	}}
	for _, create := range []func() error{
		b.createMaster,
		b.createMasterService,
		b.createDisruptionBudgets,
		b.createStoreService,
		b.createScripts,
		b.createStores,
		b.createVerifyJob,
		b.createClientConfig,
	} {
		if err := create(); err != nil {
			return nil, fmt.Errorf("mooncake %q: %w", name, err)
		}
	}
	return cluster, b.registerOutputs(cluster)
}

package hotkv

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/kube"
	"kvinfra/components/internal/objects"
)

// Spec is the description of a cluster. Its types are here too, so that a
// program imports one package.
type (
	Spec          = spec.Cluster
	SecretKey     = spec.SecretKey
	Memory        = spec.Memory
	Placement     = spec.Placement
	Toleration    = spec.Toleration
	Storage       = spec.Storage
	Budget        = spec.Budget
	NetworkPolicy = spec.NetworkPolicy
	Resources     = spec.Resources
	Amounts       = spec.Amounts
)

// The images that a cluster can be made of.
const (
	HotKV  = spec.HotKV
	Valkey = spec.Valkey
)

// The layouts.
const (
	OneStatefulSet      = spec.OneStatefulSet
	StatefulSetPerShard = spec.StatefulSetPerShard
)

// What happens to volumes that no pod uses any more.
const (
	Retain = spec.Retain
	Delete = spec.Delete
)

// The durabilities.
const (
	Durable = spec.Durable
	Cache   = spec.Cache
)

// The spreads.
const (
	Required  = spec.Required
	Preferred = spec.Preferred
	Off       = spec.Off
)

// Type is the component's type token.
const Type = "kvinfra:hotkv:HotKVCluster"

// ClusterArgs are the inputs of a cluster.
type ClusterArgs struct {
	// Spec describes the cluster. Its fields are plain values: they shape names,
	// hashes and checks.
	Spec Spec

	// Password of the server's default user: at most 4096 bytes, without control
	// characters. Default: generated, unless Spec.PasswordFrom names one. A change restarts nothing, and running servers do
	// not see it: restart all of them at once after it.
	Password pulumi.StringInput
}

// Cluster is a HotKV cluster.
type Cluster struct {
	pulumi.ResourceState

	// Addresses are host:port of every node; a client needs one that answers.
	Addresses pulumi.StringArrayOutput `pulumi:"addresses"`
	// ServiceName is the name of the headless Service.
	ServiceName pulumi.StringOutput `pulumi:"serviceName"`
	// SecretName and SecretKey say where pods find the password.
	SecretName pulumi.StringOutput `pulumi:"secretName"`
	SecretKey  pulumi.StringOutput `pulumi:"secretKey"`
	// Password is the password itself, a secret; empty when Spec.PasswordFrom names it.
	Password pulumi.StringOutput `pulumi:"password"`
}

// NewCluster makes a cluster called name; all its objects' names start with it.
// It returns an error that lists every problem of args before anything is made,
// and is complete only when the nodes have become one cluster.
func NewCluster(ctx *pulumi.Context, name string, args *ClusterArgs, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if args == nil {
		args = &ClusterArgs{}
	}
	s := args.Spec.WithDefaults()
	if err := kube.Join("hotkv", name, s.Validate(name, nil)); err != nil {
		return nil, err
	}
	if args.Password != nil && s.PasswordFrom.Name != "" {
		return nil, fmt.Errorf("hotkv %q: passwordFrom: there is a Password too; give one of the two", name)
	}
	if err := checkGiven(args.Password); err != nil {
		return nil, fmt.Errorf("hotkv %q: %w", name, err)
	}

	cluster := &Cluster{}
	refusal, err := refuseOnCluster(ctx, name)
	if err != nil {
		return nil, err
	}
	// The options stay the caller's, who may use the rest of their array; and one of
	// them may be nil, which Composite does not take.
	err = ctx.RegisterComponentResourceV2(Type, name, shapeMap(s.Shape()), cluster, append(slices.Clone(opts), refusal)...)
	if err != nil {
		return nil, err
	}

	b := &builder{ctx: ctx, parent: cluster, name: name, spec: s, owner: objects.Owner{
		System: "hotkv", Name: name, Namespace: s.Namespace, Project: ctx.Project(), Stack: ctx.Stack(),
	}}
	for _, create := range []func() error{
		b.createPassword(args.Password),
		b.createSecret,
		b.createScripts,
		b.createService,
		b.createNetworkPolicy,
		b.createLifecycle,
		b.createStatefulSets,
		b.createInitJobs,
		b.createConvergeJob,
		b.createHeal,
	} {
		if err := create(); err != nil {
			return nil, fmt.Errorf("hotkv %q: %w", name, err)
		}
	}
	return cluster, b.registerOutputs(cluster)
}

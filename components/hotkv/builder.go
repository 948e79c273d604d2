package hotkv

import (
	batchv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/batch/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/objects"
)

// builder makes the objects of one cluster, each from the spec and, only for the
// order in which they come up, from those before it.
type builder struct {
	ctx    *pulumi.Context
	parent pulumi.Resource
	name   string
	spec   spec.Cluster
	owner  objects.Owner

	password  pulumi.StringOutput
	version   string // of the servers' pods
	secret    *corev1.Secret
	scripts   *corev1.ConfigMap
	service   *corev1.Service
	policy    *networkingv1.NetworkPolicy
	lifecycle *corev1.ConfigMap
	servers   []pulumi.Resource // StatefulSets, and what protects them
	initJob   *batchv1.Job
	converge  *batchv1.Job
}

// server is the part of the cluster that clients talk to. Its app label is the
// seed's: the name of the cluster.
func (b *builder) server() objects.Part { return objects.Part{Component: "server", App: b.name} }

// shard is the part of server that comes from one StatefulSet.
func (b *builder) shard(set spec.StatefulSet) objects.Part {
	part := b.server()
	if set.Shard != "" {
		part.Only = map[string]string{"kvinfra/shard": set.Shard}
	}
	return part
}

// repair is the part that makes the servers one cluster.
func (b *builder) repair() objects.Part {
	return objects.Part{Component: "converge", App: b.name + "-converge"}
}

// child returns the options of a child that comes up after others.
func (b *builder) child(after ...pulumi.Resource) pulumi.ResourceOption {
	return pulumi.Composite(pulumi.Parent(b.parent), pulumi.DependsOn(after))
}

// user is the user and group that every process of the cluster runs as: the one
// that the official Valkey image has for it. Any other works as well, since the
// volumes belong to the group.
const user = 999

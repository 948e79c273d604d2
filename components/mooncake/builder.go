package mooncake

import (
	"slices"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	batchv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/batch/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

// builder makes the objects of one cluster, each from the spec and, only for the
// order in which they come up, from those before it.
type builder struct {
	ctx    *pulumi.Context
	parent pulumi.Resource
	name   string
	spec   spec.Cluster
	owner  objects.Owner

	masterDeployment *appsv1.Deployment
	masterService    *corev1.Service
	storeService     *corev1.Service
	stores           *appsv1.StatefulSet
	scripts          *corev1.ConfigMap
	verifyJob        *batchv1.Job
}

// master and store are the parts of a cluster; their app labels are the seed's.
func (b *builder) master() objects.Part {
	return objects.Part{Component: string(spec.Masters), App: b.spec.MasterName(b.name)}
}

func (b *builder) store() objects.Part {
	return objects.Part{Component: string(spec.Stores), App: spec.StoreName(b.name)}
}

// child returns the options of a child that comes up after others.
func (b *builder) child(after ...pulumi.Resource) pulumi.ResourceOption {
	return pulumi.Composite(pulumi.Parent(b.parent), pulumi.DependsOn(after))
}

// user is the user and group of every process; Mooncake needs none in particular.
const user = 65532

// verification is the part that checks the stores from outside.
func (b *builder) verification() objects.Part {
	return objects.Part{Component: string(spec.Check), App: b.name + "-verify"}
}

// registerOutputs makes the outputs known when data was moved between the stores.
func (b *builder) registerOutputs(c *Cluster) error {
	sglang, err := b.spec.SGLangExtraConfig(b.name)
	if err != nil {
		return err
	}
	complete := b.stores.ID().ToStringOutput()
	if b.verifyJob != nil {
		complete = b.verifyJob.ID().ToStringOutput()
	}
	afterwards := func(s string) pulumi.StringOutput {
		return complete.ApplyT(func(string) string { return s }).(pulumi.StringOutput)
	}
	c.MasterAddress = afterwards(b.spec.MasterAddress(b.name))
	c.MetadataServer = afterwards(b.spec.MetadataServer(b.name))
	c.Protocol = afterwards(b.spec.Fabric.Protocol())
	c.ClusterID = afterwards(b.spec.ClusterIDFor(b.name))
	c.Version = afterwards(string(b.spec.Version))
	c.ClientVariables = complete.ApplyT(func(string) map[string]string { return b.spec.ClientVariables(b.name) }).(pulumi.StringMapOutput)
	c.ClientConfigMap = afterwards(b.clientName())
	c.ClientFilesConfigMap = afterwards(b.clientFilesName())
	c.SGLangExtraConfig = afterwards(sglang)
	c.MetricsURL = afterwards("http://" + b.spec.AdminAddress(b.name) + "/metrics/summary")
	return b.ctx.RegisterResourceOutputs(c, pulumi.Map{
		"masterAddress":        c.MasterAddress,
		"metadataServer":       c.MetadataServer,
		"protocol":             c.Protocol,
		"clusterId":            c.ClusterID,
		"version":              c.Version,
		"clientVariables":      c.ClientVariables,
		"clientConfigMap":      c.ClientConfigMap,
		"clientFilesConfigMap": c.ClientFilesConfigMap,
		"sglangExtraConfig":    c.SGLangExtraConfig,
		"metricsUrl":           c.MetricsURL,
	})
}

// pod returns a pod of the cluster with one process.
func (b *builder) pod(container *corev1.ContainerArgs) *corev1.PodSpecArgs {
	pod := objects.Pod(user, container)
	pod.ImagePullSecrets = objects.PullSecrets(b.spec.ImagePullSecrets)
	return pod
}

func (b *builder) containerPorts(of spec.Party) corev1.ContainerPortArray {
	var ports corev1.ContainerPortArray
	for _, p := range b.spec.PortsOf(of) {
		ports = append(ports, objects.Port(p.Name, p.First))
	}
	return ports
}

func (b *builder) servicePorts(of spec.Party, without ...string) corev1.ServicePortArray {
	var ports corev1.ServicePortArray
	for _, p := range b.spec.PortsOf(of) {
		if !slices.Contains(without, p.Name) {
			ports = append(ports, objects.ServicePort(p.Name, p.First))
		}
	}
	return ports
}

// environment returns the variables of a container.
func environment(variables []spec.Variable) corev1.EnvVarArray {
	var env corev1.EnvVarArray
	for _, v := range variables {
		if v.Field != "" {
			env = append(env, objects.EnvFromField(v.Name, v.Field))
		} else {
			env = append(env, objects.Env(v.Name, v.Value))
		}
	}
	return env
}

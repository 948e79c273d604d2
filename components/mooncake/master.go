package mooncake

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

func (b *builder) createMaster() (err error) {
	name := b.spec.MasterName(b.name)
	notice, err := objects.NoticeRestart(b.ctx, b.parent, "mooncake-"+b.name+"-master-restart", b.spec.MasterRestartNotice(b.name))
	if err != nil {
		return err
	}
	b.masterDeployment, err = appsv1.NewDeployment(b.ctx, name, b.masterArgs(name), b.child(), notice)
	return err
}

func (b *builder) masterArgs(name string) *appsv1.DeploymentArgs {
	container := objects.Container(corev1.ContainerArgs{
		Name:    pulumi.String("mooncake-master"),
		Image:   pulumi.String(b.spec.Image),
		Command: pulumi.ToStringArray(b.spec.MasterCommand()),
		Args:    pulumi.ToStringArray(b.spec.MasterArguments(b.name)),
		Env:     environment(b.spec.MasterVariables(b.name)),
		Ports:   b.containerPorts(spec.Masters),
		StartupProbe: &corev1.ProbeArgs{
			TcpSocket:        &corev1.TCPSocketActionArgs{Port: pulumi.String("rpc")},
			PeriodSeconds:    pulumi.Int(1),
			FailureThreshold: pulumi.Int(60),
		},
		ReadinessProbe: &corev1.ProbeArgs{
			TcpSocket:     &corev1.TCPSocketActionArgs{Port: pulumi.String("rpc")},
			PeriodSeconds: pulumi.Int(5),
		},
		LivenessProbe: &corev1.ProbeArgs{
			HttpGet:          healthOfMaster(),
			PeriodSeconds:    pulumi.Int(10),
			TimeoutSeconds:   pulumi.Int(5),
			FailureThreshold: pulumi.Int(6),
		},
		Resources: objects.Resources(b.spec.Master.Resources),
	})
	pod := b.pod(container)
	objects.Place(pod, b.owner, b.master(), b.spec.Master.Placement)
	// As process 1 some releases do not hear SIGTERM.
	pod.ShareProcessNamespace = pulumi.Bool(true)
	pod.TerminationGracePeriodSeconds = pulumi.Int(10) // it has nothing to save

	// Never two masters behind one Service: each would know half of the keys.
	strategy := &appsv1.DeploymentStrategyArgs{Type: pulumi.String("Recreate")}
	if b.spec.HighAvailability.Enabled() {
		b.shareLeadership(pod, container)
		strategy = &appsv1.DeploymentStrategyArgs{
			Type: pulumi.String("RollingUpdate"),
			RollingUpdate: &appsv1.RollingUpdateDeploymentArgs{
				MaxSurge:       pulumi.Int(1),
				MaxUnavailable: pulumi.Int(0),
			},
		}
	}
	return &appsv1.DeploymentArgs{
		Metadata: b.owner.AwaitedMeta(name, b.master(), b.spec.TimeoutSeconds),
		Spec: &appsv1.DeploymentSpecArgs{
			Replicas: pulumi.Int(b.spec.Master.Replicas),
			Strategy: strategy,
			Selector: b.owner.LabelSelector(b.master()),
			Template: objects.ServerTemplate(b.owner, b.master(), pod, b.spec.Labels, b.spec.Annotations, b.spec.Master.Restart),
		},
	}
}

// shareLeadership makes a pod one of several masters. Those that wait have no open
// RPC port, so their health is asked of the other one.
func (b *builder) shareLeadership(pod *corev1.PodSpecArgs, container *corev1.ContainerArgs) {
	for _, probe := range []corev1.ProbePtrInput{container.StartupProbe, container.ReadinessProbe} {
		probe := probe.(*corev1.ProbeArgs)
		probe.TcpSocket, probe.HttpGet = nil, healthOfMaster()
	}
	// A leader may serve until it is killed, and the next one leads only when its lease
	// has run out.
	pod.TerminationGracePeriodSeconds = pulumi.Int(5)
}

func healthOfMaster() *corev1.HTTPGetActionArgs {
	return &corev1.HTTPGetActionArgs{Path: pulumi.String("/health"), Port: pulumi.String("metrics")}
}

// createMasterService gives the one master an address. Several are headless, each
// with its metrics: clients find the one that leads in etcd.
func (b *builder) createMasterService() (err error) {
	name := b.spec.MasterName(b.name)
	service := &corev1.ServiceSpecArgs{
		Type:     pulumi.String("ClusterIP"),
		Selector: pulumi.ToStringMap(b.owner.Selector(b.master())),
		Ports:    b.servicePorts(spec.Masters),
	}
	if b.spec.HighAvailability.Enabled() {
		service.ClusterIP = pulumi.String("None")
		service.Ports = b.servicePorts(spec.Masters, "rpc")
	}
	b.masterService, err = corev1.NewService(b.ctx, name, &corev1.ServiceArgs{
		Metadata: b.owner.Meta(name, b.master()),
		Spec:     service,
	}, b.child(b.masterDeployment))
	return err
}

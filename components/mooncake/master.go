package mooncake

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

func (b *builder) createMaster() (err error) {
	name := spec.MasterName(b.name)
	b.masterDeployment, err = appsv1.NewDeployment(b.ctx, name, b.masterArgs(name), b.child())
	return err
}

func (b *builder) masterArgs(name string) *appsv1.DeploymentArgs {
	pod := objects.Pod(user, &corev1.ContainerArgs{
		Name:            pulumi.String("mooncake-master"),
		Image:           pulumi.String(b.spec.Image),
		ImagePullPolicy: pulumi.String("IfNotPresent"),
		Command:         pulumi.ToStringArray([]string{"mooncake_master"}),
		Args:            pulumi.ToStringArray(spec.MasterArguments()),
		Ports: corev1.ContainerPortArray{
			objects.Port("rpc", spec.RPCPort),
			objects.Port("metrics", spec.MetricsPort),
		},
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
			TcpSocket:        &corev1.TCPSocketActionArgs{Port: pulumi.String("metrics")},
			PeriodSeconds:    pulumi.Int(10),
			FailureThreshold: pulumi.Int(6),
		},
		Resources:                objects.Resources(b.spec.Master.Resources),
		SecurityContext:          objects.Locked(),
		TerminationMessagePolicy: pulumi.String("FallbackToLogsOnError"),
	})
	// The process may ignore SIGTERM when it is PID 1; it has nothing to save.
	pod.TerminationGracePeriodSeconds = pulumi.Int(10)

	return &appsv1.DeploymentArgs{
		Metadata: b.owner.AwaitedMeta(name, b.master(), b.spec.TimeoutSeconds),
		Spec: &appsv1.DeploymentSpecArgs{
			Replicas: pulumi.Int(1),
			// Never two masters behind one Service: each would know half of the keys.
			Strategy: &appsv1.DeploymentStrategyArgs{Type: pulumi.String("Recreate")},
			Selector: b.owner.LabelSelector(b.master()),
			Template: objects.Template(b.owner, b.master(), pod, nil),
		},
	}
}

func (b *builder) createMasterService() (err error) {
	name := spec.MasterName(b.name)
	b.masterService, err = corev1.NewService(b.ctx, name, &corev1.ServiceArgs{
		Metadata: b.owner.Meta(name, b.master()),
		Spec: &corev1.ServiceSpecArgs{
			Type:     pulumi.String("ClusterIP"),
			Selector: pulumi.ToStringMap(b.owner.Selector(b.master())),
			Ports: corev1.ServicePortArray{
				objects.ServicePort("rpc", spec.RPCPort),
				objects.ServicePort("metrics", spec.MetricsPort),
			},
		},
	}, b.child(b.masterDeployment))
	return err
}

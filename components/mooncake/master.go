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
		Command:         pulumi.ToStringArray(b.spec.MasterCommand()),
		Args:            pulumi.ToStringArray(b.spec.MasterArguments()),
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
			HttpGet:          &corev1.HTTPGetActionArgs{Path: pulumi.String("/health"), Port: pulumi.String("metrics")},
			PeriodSeconds:    pulumi.Int(10),
			TimeoutSeconds:   pulumi.Int(5),
			FailureThreshold: pulumi.Int(6),
		},
		Resources:                objects.Resources(b.spec.Master.Resources),
		SecurityContext:          objects.Locked(),
		TerminationMessagePolicy: pulumi.String("FallbackToLogsOnError"),
	})
	// As process 1 some releases do not hear SIGTERM.
	pod.ShareProcessNamespace = pulumi.Bool(true)
	pod.TerminationGracePeriodSeconds = pulumi.Int(10) // it has nothing to save

	return &appsv1.DeploymentArgs{
		Metadata: b.owner.AwaitedMeta(name, b.master(), b.spec.TimeoutSeconds),
		Spec: &appsv1.DeploymentSpecArgs{
			Replicas: pulumi.Int(1),
			// Never two masters behind one Service: each would know half of the keys.
			Strategy: &appsv1.DeploymentStrategyArgs{Type: pulumi.String("Recreate")},
			Selector: b.owner.LabelSelector(b.master()),
			Template: objects.Template(b.owner, b.master(), pod, restarted(b.spec.Master.Restart)),
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

package mooncake

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

// createStoreService makes the headless Service that gives each store a name, for
// its REST port. Data does not pass through it: peers dial addresses that the
// stores register at the master.
func (b *builder) createStoreService() (err error) {
	name := spec.StoreName(b.name)
	b.storeService, err = corev1.NewService(b.ctx, name, &corev1.ServiceArgs{
		Metadata: b.owner.Meta(name, b.store()),
		Spec: &corev1.ServiceSpecArgs{
			ClusterIP: pulumi.String("None"),
			Selector:  pulumi.ToStringMap(b.owner.Selector(b.store())),
			Ports:     b.servicePorts(spec.Stores, "health"),
		},
	}, b.child())
	return err
}

func (b *builder) createStores() (err error) {
	name := spec.StoreName(b.name)
	notice, err := objects.NoticeRestart(b.ctx, b.parent, "mooncake-"+b.name+"-store-restart", b.spec.StoreRestartNotice(b.name))
	if err != nil {
		return err
	}
	b.stores, err = appsv1.NewStatefulSet(b.ctx, name, b.storeArgs(name), b.child(b.masterService, b.storeService, b.scripts), notice)
	return err
}

func (b *builder) storeArgs(name string) *appsv1.StatefulSetArgs {
	pod := b.pod(b.storeContainer())
	objects.Place(pod, b.owner, b.store(), b.spec.Store.Placement)
	// As process 1 some releases do not hear SIGTERM, and the hook could not kill it.
	pod.ShareProcessNamespace = pulumi.Bool(true)
	pod.TerminationGracePeriodSeconds = pulumi.Int(b.spec.StoreGraceSeconds())
	if hook := b.spec.StoreStopCommand(b.name); hook != nil {
		container := pod.Containers.(corev1.ContainerArray)[0].(*corev1.ContainerArgs)
		container.Lifecycle = &corev1.LifecycleArgs{PreStop: &corev1.LifecycleHandlerArgs{
			Exec: &corev1.ExecActionArgs{Command: pulumi.ToStringArray(hook)},
		}}
		container.VolumeMounts = corev1.VolumeMountArray{scriptsMount()}
		pod.Volumes = corev1.VolumeArray{b.scriptsVolume()}
	}
	b.joinFabric(pod)

	return &appsv1.StatefulSetArgs{
		Metadata: b.owner.AwaitedMeta(name, b.store(), b.spec.TimeoutSeconds),
		Spec: &appsv1.StatefulSetSpecArgs{
			ServiceName: pulumi.String(name),
			Replicas:    pulumi.Int(b.spec.Store.Replicas),
			// One after the other, also while some are not ready: Parallel took two stores
			// away at once when it rolled right after a restart of the master (measured).
			PodManagementPolicy: pulumi.String("OrderedReady"),
			Selector:            b.owner.LabelSelector(b.store()),
			Template:            objects.ServerTemplate(b.owner, b.store(), pod, b.spec.Labels, b.spec.Annotations, b.spec.Store.Restart),
		},
	}
}

// startSeconds is how long a store may take to open its port. It is no setting: a
// change would restart every store.
const startSeconds = 3600

func (b *builder) storeContainer() *corev1.ContainerArgs {
	readiness := &corev1.ProbeArgs{
		TcpSocket:     &corev1.TCPSocketActionArgs{Port: pulumi.String("rest")},
		PeriodSeconds: pulumi.Int(5),
	}
	if b.spec.StoreTellsHealth() {
		readiness = &corev1.ProbeArgs{
			HttpGet:        &corev1.HTTPGetActionArgs{Path: pulumi.String("/health"), Port: pulumi.String("health")},
			PeriodSeconds:  pulumi.Int(5),
			TimeoutSeconds: pulumi.Int(5),
		}
	}
	return objects.Container(corev1.ContainerArgs{
		Name:    pulumi.String("mooncake-store"),
		Image:   pulumi.String(b.spec.Image),
		Command: pulumi.ToStringArray([]string{"python3", "-m", "mooncake.mooncake_store_service"}),
		Args:    pulumi.ToStringArray(b.spec.StoreArguments()),
		Env:     environment(b.spec.StoreVariables(b.name)),
		Ports:   b.containerPorts(spec.Stores),
		// The port opens only when the segment is registered at the master; RDMA pins a
		// large one for minutes.
		StartupProbe: &corev1.ProbeArgs{
			TcpSocket:        &corev1.TCPSocketActionArgs{Port: pulumi.String("rest")},
			PeriodSeconds:    pulumi.Int(1),
			FailureThreshold: pulumi.Int(startSeconds),
		},
		ReadinessProbe: readiness,
		// A restart destroys what the store holds: only a dead process is worth it.
		LivenessProbe: &corev1.ProbeArgs{
			TcpSocket:        &corev1.TCPSocketActionArgs{Port: pulumi.String("rest")},
			PeriodSeconds:    pulumi.Int(10),
			FailureThreshold: pulumi.Int(6),
		},
		Resources: objects.Resources(b.spec.Store.Resources),
	})
}

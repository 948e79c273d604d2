package hotkv

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/kube"
	"kvinfra/components/internal/objects"
)

// storageSizeAnnotation carries the wanted volume size. The claim templates
// themselves are ignored after creation: any change of them would replace the
// StatefulSet and stop every pod at once.
const storageSizeAnnotation = "kvinfra/storage-size"

// createStatefulSets makes them one after the other, so that an update goes through
// the shards one by one: several primaries that hand over at once could not vote.
func (b *builder) createStatefulSets() error {
	after := []pulumi.Resource{b.service, b.lifecycle, b.scripts}
	if b.secret != nil {
		after = append(after, b.secret)
	}
	if b.policy != nil { // the bus is closed before a server runs, and until the last one is gone
		after = append(after, b.policy)
	}
	// The same for all of them: it is of the pods without what tells them apart.
	var err error
	if b.version, err = kube.Hash(b.serverTemplate(b.server())); err != nil {
		return err
	}
	notice, err := objects.NoticeRestart(b.ctx, b.parent, "hotkv-"+b.name+"-restart", b.spec.RestartNotice(b.name))
	if err != nil {
		return err
	}
	for _, set := range b.spec.StatefulSets(b.name) {
		refusal, err := refuseOnStatefulSet(b.ctx, b.name, set.Name)
		if err != nil {
			return err
		}
		servers, err := appsv1.NewStatefulSet(b.ctx, set.Name, b.statefulSet(set),
			b.child(after...),
			pulumi.IgnoreChanges([]string{"spec.volumeClaimTemplates"}),
			refusal, notice,
		)
		if err != nil {
			return err
		}
		after = []pulumi.Resource{servers}
		b.servers = append(b.servers, servers)
		if b.spec.DisruptionBudget.Off {
			continue
		}
		budget, err := policyv1.NewPodDisruptionBudget(b.ctx, set.Name, objects.Budget(b.owner, set.Name, b.shard(set), b.spec.DisruptionBudget), b.child())
		if err != nil {
			return err
		}
		b.servers = append(b.servers, budget)
	}
	return nil
}

func (b *builder) statefulSet(set spec.StatefulSet) *appsv1.StatefulSetArgs {
	part := b.shard(set)
	meta := b.owner.AwaitedMeta(set.Name, part, b.spec.TimeoutSeconds)
	meta.Annotations.(pulumi.StringMap)[storageSizeAnnotation] = pulumi.String(b.spec.VolumeSize())

	args := &appsv1.StatefulSetArgs{
		Metadata: meta,
		Spec: &appsv1.StatefulSetSpecArgs{
			ServiceName: pulumi.String(b.name),
			Replicas:    pulumi.Int(set.Pods),
			// All pods at once: no node has anything to wait for before the others exist.
			PodManagementPolicy: pulumi.String("Parallel"),
			Selector:            b.owner.LabelSelector(part),
			Template:            b.serverTemplate(part),
		},
	}
	b.keepData(args)
	return args
}

func (b *builder) serverTemplate(part objects.Part) *corev1.PodTemplateSpecArgs {
	pod := objects.Pod(user, b.serverContainer())
	pod.TerminationGracePeriodSeconds = pulumi.Int(b.spec.GraceSeconds())
	pod.DnsConfig = boundedLookups()
	objects.Place(pod, b.owner, part, b.spec.Placement)
	if b.spec.Layout == spec.StatefulSetPerShard {
		// The first pod of each shard begins as its primary. All on one node, they would
		// fail together, and without a majority of the primaries no replica is elected.
		objects.PlaceFirstsApart(pod, b.owner, part, b.server(), b.spec.Placement)
	}
	pod.Volumes = corev1.VolumeArray{
		b.passwordVolume(),
		objects.ConfigMapVolume("scripts", b.lifecycleName()),
	}
	if b.spec.Storage.None {
		pod.Volumes = append(pod.Volumes.(corev1.VolumeArray), b.lostWithThePod()...)
	}
	pod.ImagePullSecrets = objects.PullSecrets(b.spec.ImagePullSecrets)
	return objects.ServerTemplate(b.owner, part, pod, b.spec.Labels, b.spec.Annotations, b.spec.Restart)
}

func (b *builder) serverContainer() *corev1.ContainerArgs {
	mounts := corev1.VolumeMountArray{
		objects.Mount("data", "/data"),
		passwordMount(),
		objects.Mount("scripts", "/scripts"),
	}
	if b.spec.Storage.None {
		mounts = append(mounts, objects.Mount("converge", "/converge"))
	}
	return objects.Container(corev1.ContainerArgs{
		Name:    pulumi.String("hotkv"),
		Image:   pulumi.String(b.spec.Image),
		Command: pulumi.ToStringArray(b.serverCommand()),
		Args:    pulumi.ToStringArray(append(b.spec.Arguments(b.name), spec.VersionArguments(b.version)...)),
		Env: corev1.EnvVarArray{
			objects.EnvFromField("POD_NAME", "metadata.name"),
			// The probes and the handover take the password from it. Leaving it out would
			// restart every server.
			b.passwordVariable(),
		},
		Ports: corev1.ContainerPortArray{
			objects.Port("client", spec.ClientPort),
			objects.Port("bus", spec.BusPort),
		},
		Lifecycle:      &corev1.LifecycleArgs{PreStop: b.handover()},
		StartupProbe:   b.startup(),
		ReadinessProbe: b.readiness(),
		LivenessProbe:  liveness(),
		Resources:      objects.Resources(b.spec.Resources),
		VolumeMounts:   mounts,
	})
}

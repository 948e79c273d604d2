package hotkv

import (
	"fmt"
	"strconv"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/objects"
)

// storageSizeAnnotation carries the wanted volume size. The claim templates
// themselves are ignored after creation: any change of them would replace the
// StatefulSet and stop every pod at once.
const storageSizeAnnotation = "kvinfra/storage-size"

// createStatefulSets makes them one after the other, so that an update goes through
// the shards one by one: several primaries that hand over at once could not vote.
func (b *builder) createStatefulSets() error {
	after := []pulumi.Resource{b.secret, b.service, b.lifecycle}
	for _, set := range b.spec.StatefulSets(b.name) {
		refusal, err := refuseOnStatefulSet(b.ctx, b.name, set.Name)
		if err != nil {
			return err
		}
		servers, err := appsv1.NewStatefulSet(b.ctx, set.Name, b.statefulSet(set),
			b.child(after...),
			pulumi.IgnoreChanges([]string{"spec.volumeClaimTemplates"}),
			refusal,
		)
		if err != nil {
			return err
		}
		budget, err := policyv1.NewPodDisruptionBudget(b.ctx, set.Name, b.budget(set), b.child())
		if err != nil {
			return err
		}
		after = []pulumi.Resource{servers}
		b.servers = append(b.servers, servers, budget)
	}
	return nil
}

func (b *builder) statefulSet(set spec.StatefulSet) *appsv1.StatefulSetArgs {
	part := b.shard(set)
	meta := b.owner.AwaitedMeta(set.Name, part, b.spec.TimeoutSeconds)
	meta.Annotations.(pulumi.StringMap)[storageSizeAnnotation] = pulumi.String(b.spec.Storage.Size)

	pod := objects.Pod(user, b.serverContainer())
	pod.TerminationGracePeriodSeconds = pulumi.Int(b.spec.GraceSeconds())
	pod.DnsConfig = boundedLookups()
	b.place(pod, part)
	pod.Volumes = corev1.VolumeArray{
		&corev1.VolumeArgs{Name: pulumi.String("auth"), Secret: &corev1.SecretVolumeSourceArgs{
			SecretName:  pulumi.String(b.name),
			DefaultMode: pulumi.Int(0o440),
			Items:       corev1.KeyToPathArray{&corev1.KeyToPathArgs{Key: pulumi.String(authConfigKey), Path: pulumi.String(authConfigKey)}},
		}},
		&corev1.VolumeArgs{Name: pulumi.String("scripts"), ConfigMap: &corev1.ConfigMapVolumeSourceArgs{Name: pulumi.String(b.lifecycleName())}},
	}

	return &appsv1.StatefulSetArgs{
		Metadata: meta,
		Spec: &appsv1.StatefulSetSpecArgs{
			ServiceName: pulumi.String(b.name),
			Replicas:    pulumi.Int(set.Pods),
			// All pods at once: no node has anything to wait for before the others exist.
			PodManagementPolicy:  pulumi.String("Parallel"),
			Selector:             b.owner.LabelSelector(part),
			Template:             objects.Template(b.owner, part, pod, nil),
			VolumeClaimTemplates: corev1.PersistentVolumeClaimTypeArray{b.claim()},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicyArgs{
				WhenDeleted: pulumi.String("Retain"),
				WhenScaled:  pulumi.String("Retain"),
			},
		},
	}
}

func (b *builder) serverContainer() *corev1.ContainerArgs {
	programs := b.spec.Server.Programs()
	return &corev1.ContainerArgs{
		Name:            pulumi.String("hotkv"),
		Image:           pulumi.String(b.spec.Image),
		ImagePullPolicy: pulumi.String("IfNotPresent"),
		Command:         pulumi.ToStringArray([]string{programs.Server}),
		Args: pulumi.ToStringArray([]string{
			"--include", "/etc/hotkv/" + authConfigKey,
			"--dir", "/data",
			"--appendonly", "yes",
			"--cluster-enabled", "yes",
			"--cluster-announce-ip", fmt.Sprintf("$(POD_NAME).%s.%s.svc", b.name, b.spec.Namespace),
			// A replica that moves to another shard by itself breaks the layout.
			"--cluster-allow-replica-migration", "no",
			"--cluster-node-timeout", strconv.Itoa(b.spec.NodeTimeoutSeconds * 1000),
			// Writes stand still while a handover waits for votes.
			"--cluster-manual-failover-timeout", "2000",
			// With one or two replicas there is nobody to wait for: they are in sync 5 s sooner.
			"--repl-diskless-sync-delay", "0",
			"--shutdown-on-sigterm", "failover",
		}),
		Env: corev1.EnvVarArray{
			objects.EnvFromField("POD_NAME", "metadata.name"),
			objects.EnvFromSecret(programs.PasswordVariable, b.name, passwordKey),
		},
		Ports: corev1.ContainerPortArray{
			objects.Port("client", spec.ClientPort),
			objects.Port("bus", spec.BusPort),
		},
		Lifecycle:                b.handover(),
		StartupProbe:             b.startup(),
		ReadinessProbe:           b.readiness(),
		LivenessProbe:            liveness(),
		Resources:                objects.Resources(b.spec.Resources),
		SecurityContext:          objects.Locked(),
		TerminationMessagePolicy: pulumi.String("FallbackToLogsOnError"),
		VolumeMounts: corev1.VolumeMountArray{
			objects.Mount("data", "/data"),
			objects.Mount("auth", "/etc/hotkv"),
			objects.Mount("scripts", "/scripts"),
		},
	}
}

func (b *builder) claim() *corev1.PersistentVolumeClaimTypeArgs {
	claim := &corev1.PersistentVolumeClaimSpecArgs{
		AccessModes: pulumi.ToStringArray([]string{"ReadWriteOnce"}),
		Resources: &corev1.VolumeResourceRequirementsArgs{
			Requests: pulumi.StringMap{"storage": pulumi.String(b.spec.Storage.Size)},
		},
	}
	if b.spec.Storage.ClassName != "" {
		claim.StorageClassName = pulumi.String(b.spec.Storage.ClassName)
	}
	return &corev1.PersistentVolumeClaimTypeArgs{
		Metadata: &metav1.ObjectMetaArgs{Name: pulumi.String("data")},
		Spec:     claim,
	}
}

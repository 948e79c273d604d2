package hotkv

import (
	"fmt"
	"strconv"

	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/objects"
)

// storageSizeAnnotation carries the wanted volume size. The claim templates
// themselves are ignored after creation: any change of them would replace the
// StatefulSet and stop every pod at once.
const storageSizeAnnotation = "kvinfra/storage-size"

func (b *builder) createStatefulSet() error {
	refusal, err := refuseOnStatefulSet(b.ctx, b.name)
	if err != nil {
		return err
	}
	b.servers, err = appsv1.NewStatefulSet(b.ctx, b.name, b.statefulSet(),
		b.child(b.secret, b.service, b.lifecycle),
		pulumi.IgnoreChanges([]string{"spec.volumeClaimTemplates"}),
		refusal,
	)
	return err
}

func (b *builder) statefulSet() *appsv1.StatefulSetArgs {
	meta := b.owner.AwaitedMeta(b.name, b.server(), b.spec.TimeoutSeconds)
	meta.Annotations.(pulumi.StringMap)[storageSizeAnnotation] = pulumi.String(b.spec.Storage.Size)

	pod := objects.Pod(user, b.serverContainer())
	pod.TerminationGracePeriodSeconds = pulumi.Int(b.spec.GraceSeconds())
	pod.DnsConfig = boundedLookups()
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
			Replicas:    pulumi.Int(b.spec.Pods()),
			// All pods at once: no node has anything to wait for before the others exist.
			PodManagementPolicy:  pulumi.String("Parallel"),
			Selector:             b.owner.LabelSelector(b.server()),
			Template:             objects.Template(b.owner, b.server(), pod, nil),
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

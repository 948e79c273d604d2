package hotkv

import (
	appsv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/apps/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/objects"
)

// keepData gives each pod a volume, if there are any. A StatefulSet that is scaled
// always keeps them: the refusal of a smaller one is not the only way to scale it.
func (b *builder) keepData(args *appsv1.StatefulSetArgs) {
	if b.spec.Storage.None {
		return
	}
	set := args.Spec.(*appsv1.StatefulSetSpecArgs)
	set.VolumeClaimTemplates = corev1.PersistentVolumeClaimTypeArray{b.claim()}
	set.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicyArgs{
		WhenDeleted: pulumi.String(b.spec.Storage.Retention),
		WhenScaled:  pulumi.String(spec.Retain),
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

// lostWithThePod is what a pod has instead of a volume, with the script that brings
// it back after it was lost.
func (b *builder) lostWithThePod() corev1.VolumeArray {
	return corev1.VolumeArray{
		&corev1.VolumeArgs{Name: pulumi.String("data"), EmptyDir: &corev1.EmptyDirVolumeSourceArgs{}},
		objects.ConfigMapVolume("converge", b.scriptsName()),
	}
}

// settledMarker is a file that a server without a volume has once it is in its place.
const settledMarker = "/data/settled"

// serverCommand starts the server. Without a volume it also brings a pod that begins
// empty back into the cluster before it is ready, and so before a rolling update takes
// the next one.
func (b *builder) serverCommand() []string {
	start := []string{"bash", "/scripts/" + spec.StartFile, passwordFile, b.spec.Server.Programs().Server}
	if !b.spec.Storage.None {
		return start
	}
	return append([]string{"bash", "/scripts/" + spec.RejoinFile, "/scripts/" + spec.RepairFile, "/converge/" + spec.ConvergeFile, settledMarker}, start...)
}

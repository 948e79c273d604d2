package mooncake

import (
	batchv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/batch/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/kube"
	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

// createVerifyJob makes the Job that moves data between the stores. Its name
// changes, and so it runs again, with everything that decides whether they can.
func (b *builder) createVerifyJob() error {
	if b.spec.SkipVerification {
		return nil
	}
	pod := b.verifyPod()
	hash, err := kube.Hash(pod, spec.Scripts(), b.spec.RunVerify,
		b.masterArgs(b.spec.MasterName(b.name)).Spec, b.storeArgs(spec.StoreName(b.name)).Spec)
	if err != nil {
		return err
	}
	b.verifyJob, err = batchv1.NewJob(b.ctx, b.name+"-verify", &batchv1.JobArgs{
		Metadata: b.owner.JobMeta(b.name+"-verify-"+hash, b.verification()),
		Spec:     objects.Job(b.spec.TimeoutSeconds, pod),
	}, b.child(b.scripts, b.stores))
	return err
}

func (b *builder) verifyPod() *corev1.PodTemplateSpecArgs {
	template := objects.JobPod(b.owner, b.verification(), user, objects.Container(corev1.ContainerArgs{
		Name:         pulumi.String("verify"),
		Image:        pulumi.String(b.spec.Image),
		Command:      pulumi.ToStringArray([]string{"python3", scriptsDir + "/verify.py"}),
		Env:          environment(b.spec.VerifyVariables(b.name)),
		Resources:    objects.Resources(verifyResources()),
		VolumeMounts: corev1.VolumeMountArray{scriptsMount()},
	}))
	pod := template.Spec.(*corev1.PodSpecArgs)
	pod.ImagePullSecrets = objects.PullSecrets(b.spec.ImagePullSecrets)
	pod.TerminationGracePeriodSeconds = pulumi.Int(1) // nothing to finish: what it wrote is evicted some day
	pod.Volumes = corev1.VolumeArray{b.scriptsVolume()}
	return template
}

// verifyResources are enough for the script, whatever the size of the cluster.
func verifyResources() kube.Resources {
	return kube.Resources{
		Requests: kube.Amounts{CPU: "50m", Memory: "128Mi"},
		Limits:   kube.Amounts{Memory: "128Mi"},
	}
}

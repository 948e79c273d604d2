package hotkv

import (
	"slices"

	batchv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/batch/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/kube"
	"kvinfra/components/internal/objects"
)

func (b *builder) scriptsName() string { return b.name + "-init" }

// createScripts keeps the scripts under a name without a hash: the init Job is
// never replaced, and a run of it that is repeated later must still find them.
func (b *builder) createScripts() error {
	files, err := spec.ConvergeScripts()
	if err != nil {
		return err
	}
	files[spec.InitFile] = b.spec.InitVariables(b.name)
	b.scripts, err = corev1.NewConfigMap(b.ctx, b.scriptsName(), &corev1.ConfigMapArgs{
		Metadata: b.owner.Meta(b.scriptsName(), b.repair()),
		Data:     pulumi.ToStringMap(files),
	}, b.child())
	return err
}

// createInitJobs makes the Jobs that may give out slots that nobody owns. Each is
// created once: the permission must not come back with a later change, when empty
// servers may be servers that lost everything. The one that makes the cluster is
// always there, so that it is never made anew. The one for a loss that somebody accepts
// is made beside it, and before it: a cluster whose volumes were partly lost before it
// was made again cannot be made without it.
func (b *builder) createInitJobs() error {
	after := append(slices.Clone(b.servers), b.scripts)
	if b.spec.AcceptDataLoss != "" {
		hash, err := kube.Hash(b.spec.AcceptDataLoss)
		if err != nil {
			return err
		}
		job, err := b.createOnce(b.name+"-init-"+hash, spec.AcceptLoss, after)
		if err != nil {
			return err
		}
		after = []pulumi.Resource{job}
	}
	var err error
	b.initJob, err = b.createOnce(b.name+"-init", spec.Bootstrap, after)
	return err
}

// createOnce makes a Job that stays as it is. The engine would make even one that
// failed again as it was, so nothing that may change is in it: what a later run must know
// is in a file, and that has the deadline. All of the spec is ignored: after an update in
// place the provider no longer knows ignored parts, and would replace the Job for them.
func (b *builder) createOnce(name string, mode spec.Mode, after []pulumi.Resource) (*batchv1.Job, error) {
	pod := b.convergePod(b.spec.InitEnvironment(mode), "/scripts/"+spec.InitFile)
	return batchv1.NewJob(b.ctx, name, &batchv1.JobArgs{
		Metadata: b.owner.JobMeta(name, b.repair()),
		Spec:     objects.Job(longestInit, pod),
	}, b.child(after...), pulumi.IgnoreChanges([]string{"spec"}))
}

// longestInit ends, in seconds, a run that does not end by itself: a day.
const longestInit = 24 * 60 * 60

// createConvergeJob makes the Job that brings the cluster to the wanted layout
// after each change. Kubernetes does not change a Job's pod, so each version of it
// is an object of its own, named by what it runs.
func (b *builder) createConvergeJob() error {
	pod := b.convergePod(b.spec.ConvergeVariables(b.name, b.version, spec.Converge))
	files, err := spec.ConvergeScripts()
	if err != nil {
		return err
	}
	hash, err := kube.Hash(pod, files, b.spec.RunConverge)
	if err != nil {
		return err
	}
	b.converge, err = batchv1.NewJob(b.ctx, b.name+"-converge", &batchv1.JobArgs{
		Metadata: b.owner.JobMeta(b.name+"-converge-"+hash, b.repair()),
		Spec:     objects.Job(b.spec.TimeoutSeconds, pod),
	}, b.child(b.initJob))
	return err
}

// createHeal repairs between two runs of Pulumi, when a pod comes back without its
// volume or a part went missing in a crash.
func (b *builder) createHeal() error {
	if b.spec.NoHeal {
		return nil
	}
	name := b.name + "-heal"
	_, err := batchv1.NewCronJob(b.ctx, name, &batchv1.CronJobArgs{
		Metadata: b.owner.Meta(name, b.repair()),
		Spec: &batchv1.CronJobSpecArgs{
			Schedule:                   pulumi.String("*/5 * * * *"),
			ConcurrencyPolicy:          pulumi.String("Forbid"),
			SuccessfulJobsHistoryLimit: pulumi.Int(1),
			FailedJobsHistoryLimit:     pulumi.Int(1),
			JobTemplate: &batchv1.JobTemplateSpecArgs{
				Metadata: &metav1.ObjectMetaArgs{Labels: b.owner.Labels(b.repair())},
				Spec:     objects.Job(spec.RepairSeconds, b.convergePod(b.spec.ConvergeVariables(b.name, b.version, spec.Repair))),
			},
		},
	}, b.child(b.converge))
	return err
}

// convergePod runs the script with variables, and those of a file, if one is given.
func (b *builder) convergePod(variables []spec.Variable, file ...string) *corev1.PodTemplateSpecArgs {
	env := corev1.EnvVarArray{objects.Env(spec.PasswordFileVariable, passwordFile)}
	for _, v := range variables {
		env = append(env, objects.Env(v.Name, v.Value))
	}
	pod := objects.JobPod(b.owner, b.repair(), user, objects.Container(corev1.ContainerArgs{
		Name:      pulumi.String("converge"),
		Image:     pulumi.String(b.spec.Image),
		Command:   pulumi.ToStringArray(append([]string{"bash", "/scripts/" + spec.ConvergeFile}, file...)),
		Env:       env,
		Resources: objects.Resources(convergeResources()),
		VolumeMounts: corev1.VolumeMountArray{
			passwordMount(),
			objects.Mount("scripts", "/scripts"),
			objects.Mount("tmp", "/tmp"),
		},
	}))
	pod.Spec.(*corev1.PodSpecArgs).ImagePullSecrets = objects.PullSecrets(b.spec.ImagePullSecrets)
	pod.Spec.(*corev1.PodSpecArgs).Volumes = corev1.VolumeArray{
		b.passwordVolume(),
		objects.ConfigMapVolume("scripts", b.scriptsName()),
		&corev1.VolumeArgs{Name: pulumi.String("tmp"), EmptyDir: &corev1.EmptyDirVolumeSourceArgs{}},
	}
	return pod
}

// convergeResources are enough for the script, whatever the size of the cluster. On a
// busy node the servers get more than it: what moves slots must not slow them down.
func convergeResources() kube.Resources {
	return kube.Resources{
		Requests: kube.Amounts{CPU: "50m", Memory: "64Mi"},
		Limits:   kube.Amounts{Memory: "64Mi"},
	}
}

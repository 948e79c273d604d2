package objects

import (
	batchv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/batch/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Job returns a Job that runs pod, whose program gives up by itself after so many
// seconds and says why. The engine's own wait ends only when nothing is said for a
// while, so the Job has a bound too. A pod that Kubernetes takes away is tried
// again; any other end is final, by the limit of retries: the engine does not see a
// Job that failed by a rule of its policy as failed.
func Job(seconds int, pod *corev1.PodTemplateSpecArgs) *batchv1.JobSpecArgs {
	return &batchv1.JobSpecArgs{
		ActiveDeadlineSeconds: pulumi.Int(seconds + 60),
		BackoffLimit:          pulumi.Int(0),
		PodFailurePolicy: &batchv1.PodFailurePolicyArgs{Rules: batchv1.PodFailurePolicyRuleArray{
			&batchv1.PodFailurePolicyRuleArgs{
				Action: pulumi.String("Ignore"),
				OnPodConditions: batchv1.PodFailurePolicyOnPodConditionsPatternArray{
					&batchv1.PodFailurePolicyOnPodConditionsPatternArgs{
						Type:   pulumi.String("DisruptionTarget"),
						Status: pulumi.String("True"),
					},
				},
			},
		}},
		Template: pod,
	}
}

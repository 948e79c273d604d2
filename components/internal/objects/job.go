package objects

import (
	batchv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/batch/v1"
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Job returns a Job that runs pod, whose program gives up by itself after so many
// seconds and says why. The engine's own wait ends only when nothing is said for a
// while, so the Job has a bound too. The program's verdict (exit code 1) is final;
// a pod that was evicted or killed is tried again.
func Job(seconds int, pod *corev1.PodTemplateSpecArgs) *batchv1.JobSpecArgs {
	return &batchv1.JobSpecArgs{
		ActiveDeadlineSeconds: pulumi.Int(seconds + 60),
		BackoffLimit:          pulumi.Int(3),
		PodFailurePolicy: &batchv1.PodFailurePolicyArgs{Rules: batchv1.PodFailurePolicyRuleArray{
			&batchv1.PodFailurePolicyRuleArgs{
				Action: pulumi.String("FailJob"),
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirementArgs{
					Operator: pulumi.String("In"),
					Values:   pulumi.ToIntArray([]int{1}),
				},
			},
		}},
		Template: pod,
	}
}

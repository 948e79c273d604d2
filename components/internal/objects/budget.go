package objects

import (
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/kube"
)

// Budget lets Kubernetes take so many pods of part at a time when it empties nodes. A
// pod that is not ready anyway may always go: kept, it would hold up the repair of
// its node.
func Budget(o Owner, name string, p Part, b kube.Budget) *policyv1.PodDisruptionBudgetArgs {
	return &policyv1.PodDisruptionBudgetArgs{
		Metadata: o.Meta(name, p),
		Spec: &policyv1.PodDisruptionBudgetSpecArgs{
			MaxUnavailable:             pulumi.Int(b.MaxUnavailable),
			UnhealthyPodEvictionPolicy: pulumi.String("AlwaysAllow"),
			Selector:                   o.LabelSelector(p),
		},
	}
}

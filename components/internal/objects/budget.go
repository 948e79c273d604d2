package objects

import (
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Budget lets Kubernetes take one pod of part at a time when it empties a node. A
// pod that is not ready anyway may always go: kept, it would hold up the repair of
// its node.
func Budget(o Owner, name string, p Part) *policyv1.PodDisruptionBudgetArgs {
	return &policyv1.PodDisruptionBudgetArgs{
		Metadata: o.Meta(name, p),
		Spec: &policyv1.PodDisruptionBudgetSpecArgs{
			MaxUnavailable:             pulumi.Int(1),
			UnhealthyPodEvictionPolicy: pulumi.String("AlwaysAllow"),
			Selector:                   o.LabelSelector(p),
		},
	}
}

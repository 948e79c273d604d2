package hotkv

import (
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
)

// budget lets Kubernetes take one pod of a StatefulSet at a time when it empties a
// node. A pod that is not ready anyway may always go: kept, it would hold up the
// repair of its node.
func (b *builder) budget(set spec.StatefulSet) *policyv1.PodDisruptionBudgetArgs {
	return &policyv1.PodDisruptionBudgetArgs{
		Metadata: b.owner.Meta(set.Name, b.shard(set)),
		Spec: &policyv1.PodDisruptionBudgetSpecArgs{
			MaxUnavailable:             pulumi.Int(1),
			UnhealthyPodEvictionPolicy: pulumi.String("AlwaysAllow"),
			Selector:                   b.owner.LabelSelector(b.shard(set)),
		},
	}
}

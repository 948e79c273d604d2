package hotkv

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	policyv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/policy/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/objects"
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

// place says on which nodes the pods of part may run.
func (b *builder) place(pod *corev1.PodSpecArgs, part objects.Part) {
	p := b.spec.Placement
	if len(p.NodeSelector) > 0 {
		pod.NodeSelector = pulumi.ToStringMap(p.NodeSelector)
	}
	var tolerations corev1.TolerationArray
	for _, t := range p.Tolerations {
		toleration := &corev1.TolerationArgs{Operator: pulumi.String("Exists")}
		if t.Key != "" {
			toleration.Key = pulumi.String(t.Key)
		}
		if t.Value != "" {
			toleration.Operator, toleration.Value = pulumi.String("Equal"), pulumi.String(t.Value)
		}
		if t.Effect != "" {
			toleration.Effect = pulumi.String(t.Effect)
		}
		tolerations = append(tolerations, toleration)
	}
	if len(tolerations) > 0 {
		pod.Tolerations = tolerations
	}
	if p.PriorityClassName != "" {
		pod.PriorityClassName = pulumi.String(p.PriorityClassName)
	}
	if p.Spread == spec.Off {
		return
	}
	pod.TopologySpreadConstraints = corev1.TopologySpreadConstraintArray{
		b.spread(part, "kubernetes.io/hostname"),
		b.spread(part, "topology.kubernetes.io/zone"),
	}
	if p.Spread == spec.Required {
		pod.Affinity = &corev1.AffinityArgs{PodAntiAffinity: &corev1.PodAntiAffinityArgs{
			RequiredDuringSchedulingIgnoredDuringExecution: corev1.PodAffinityTermArray{&corev1.PodAffinityTermArgs{
				TopologyKey:   pulumi.String("kubernetes.io/hostname"),
				LabelSelector: b.owner.LabelSelector(part),
			}},
		}}
	}
}

// spread asks for pods of part in different places of a kind.
func (b *builder) spread(part objects.Part, kind string) *corev1.TopologySpreadConstraintArgs {
	return &corev1.TopologySpreadConstraintArgs{
		TopologyKey:       pulumi.String(kind),
		MaxSkew:           pulumi.Int(1),
		WhenUnsatisfiable: pulumi.String("ScheduleAnyway"),
		LabelSelector:     b.owner.LabelSelector(part),
	}
}

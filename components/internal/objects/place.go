package objects

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/kube"
)

// Place says on which nodes the pods of part may run.
func Place(pod *corev1.PodSpecArgs, o Owner, part Part, p kube.Placement) {
	if len(p.NodeSelector) > 0 {
		pod.NodeSelector = pulumi.ToStringMap(p.NodeSelector)
	}
	if len(p.Tolerations) > 0 {
		pod.Tolerations = tolerations(p.Tolerations)
	}
	if p.PriorityClassName != "" {
		pod.PriorityClassName = pulumi.String(p.PriorityClassName)
	}
	if p.Spread == kube.Off {
		return
	}
	pod.TopologySpreadConstraints = corev1.TopologySpreadConstraintArray{
		spread(o, part, "kubernetes.io/hostname"),
		spread(o, part, "topology.kubernetes.io/zone"),
	}
	if p.Spread == kube.Required {
		pod.Affinity = &corev1.AffinityArgs{PodAntiAffinity: &corev1.PodAntiAffinityArgs{
			RequiredDuringSchedulingIgnoredDuringExecution: corev1.PodAffinityTermArray{&corev1.PodAffinityTermArgs{
				TopologyKey:   pulumi.String("kubernetes.io/hostname"),
				LabelSelector: o.LabelSelector(part),
			}},
		}}
	}
}

func tolerations(all []kube.Toleration) corev1.TolerationArray {
	var args corev1.TolerationArray
	for _, t := range all {
		toleration := &corev1.TolerationArgs{Operator: pulumi.String("Exists")}
		if t.Key != "" {
			toleration.Key = pulumi.String(t.Key)
		}
		if t.Value != "" {
			toleration.Operator, toleration.Value = pulumi.String("Equal"), pulumi.String(t.Value)
		}
		if t.Effect != "" {
			toleration.Effect = pulumi.String(string(t.Effect))
		}
		args = append(args, toleration)
	}
	return args
}

// spread asks for pods of part in different places of a kind.
func spread(o Owner, part Part, kind string) *corev1.TopologySpreadConstraintArgs {
	return &corev1.TopologySpreadConstraintArgs{
		TopologyKey:       pulumi.String(kind),
		MaxSkew:           pulumi.Int(1),
		WhenUnsatisfiable: pulumi.String("ScheduleAnyway"),
		LabelSelector:     o.LabelSelector(part),
	}
}

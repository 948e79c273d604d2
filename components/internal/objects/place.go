package objects

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/kube"
)

// The kinds of places, as nodes' labels name them.
const (
	node = "kubernetes.io/hostname"
	zone = "topology.kubernetes.io/zone"
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
		spread(o, part, node),
		spread(o, part, zone),
	}
	if p.Spread == kube.Required {
		pod.Affinity = &corev1.AffinityArgs{PodAntiAffinity: &corev1.PodAntiAffinityArgs{
			RequiredDuringSchedulingIgnoredDuringExecution: corev1.PodAffinityTermArray{&corev1.PodAffinityTermArgs{
				TopologyKey:   pulumi.String(node),
				LabelSelector: o.LabelSelector(part),
			}},
		}}
	}
}

// PlaceFirstsApart adds to what Place said of copies, the pods of one of the StatefulSets
// of part, that the first pods of all these are kept apart too, and the second ones, and
// so on, as far as there are nodes and zones. Where both cannot be, copies come first. (A
// second spread constraint for a kind of place would be refused.)
func PlaceFirstsApart(pod *corev1.PodSpecArgs, o Owner, copies, part Part, p kube.Placement) {
	if p.Spread == kube.Off {
		return
	}
	affinity, ok := pod.Affinity.(*corev1.AffinityArgs)
	if !ok {
		affinity = &corev1.AffinityArgs{PodAntiAffinity: &corev1.PodAntiAffinityArgs{}}
		pod.Affinity = affinity
	}
	firsts := func(kind string) *corev1.PodAffinityTermArgs {
		return &corev1.PodAffinityTermArgs{
			TopologyKey:    pulumi.String(kind),
			LabelSelector:  o.LabelSelector(part),
			MatchLabelKeys: pulumi.ToStringArray([]string{"apps.kubernetes.io/pod-index"}),
		}
	}
	affinity.PodAntiAffinity.(*corev1.PodAntiAffinityArgs).PreferredDuringSchedulingIgnoredDuringExecution = corev1.WeightedPodAffinityTermArray{
		&corev1.WeightedPodAffinityTermArgs{Weight: pulumi.Int(100), PodAffinityTerm: &corev1.PodAffinityTermArgs{
			TopologyKey:   pulumi.String(zone),
			LabelSelector: o.LabelSelector(copies),
		}},
		&corev1.WeightedPodAffinityTermArgs{Weight: pulumi.Int(10), PodAffinityTerm: firsts(zone)},
		&corev1.WeightedPodAffinityTermArgs{Weight: pulumi.Int(10), PodAffinityTerm: firsts(node)},
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

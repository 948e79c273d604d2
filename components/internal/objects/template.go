package objects

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Template returns the template of part's pods.
func Template(o Owner, p Part, spec *corev1.PodSpecArgs, annotations pulumi.StringMap) *corev1.PodTemplateSpecArgs {
	return &corev1.PodTemplateSpecArgs{
		Metadata: &metav1.ObjectMetaArgs{Labels: o.Labels(p), Annotations: annotations},
		Spec:     spec,
	}
}

// LabelSelector returns the selector of part's pods.
func (o Owner) LabelSelector(p Part) *metav1.LabelSelectorArgs {
	return &metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(o.Selector(p))}
}

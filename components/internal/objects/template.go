package objects

import (
	"maps"

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

// ServerTemplate is Template for pods that run all the time: with the user's own
// labels and annotations, and restarted by any new text.
func ServerTemplate(o Owner, p Part, spec *corev1.PodSpecArgs, labels, annotations map[string]string, restart string) *corev1.PodTemplateSpecArgs {
	var all pulumi.StringMap // no empty map in the manifest
	if len(annotations) > 0 || restart != "" {
		all = pulumi.ToStringMap(annotations)
	}
	if restart != "" {
		all["kvinfra/restart"] = pulumi.String(restart)
	}
	template := Template(o, p, spec, all)
	maps.Copy(template.Metadata.(*metav1.ObjectMetaArgs).Labels.(pulumi.StringMap), pulumi.ToStringMap(labels))
	return template
}

// LabelSelector returns the selector of part's pods.
func (o Owner) LabelSelector(p Part) *metav1.LabelSelectorArgs {
	return &metav1.LabelSelectorArgs{MatchLabels: pulumi.ToStringMap(o.Selector(p))}
}

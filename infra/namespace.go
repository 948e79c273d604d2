package main

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// claimNamespace patches our labels into a namespace and makes it when it is
// missing. A destroy takes the labels away and leaves the namespace, with the
// volumes in it.
func claimNamespace(ctx *pulumi.Context, name, podSecurity string, provider pulumi.ProviderResource) (pulumi.Resource, error) {
	labels := pulumi.StringMap{"app.kubernetes.io/part-of": pulumi.String("kvinfra")}
	if podSecurity != "" {
		labels["pod-security.kubernetes.io/enforce"] = pulumi.String(podSecurity)
	}
	return corev1.NewNamespacePatch(ctx, name, &corev1.NamespacePatchArgs{
		Metadata: &metav1.ObjectMetaPatchArgs{
			Name:   pulumi.String(name),
			Labels: labels,
			Annotations: pulumi.StringMap{
				"pulumi.com/patchFieldManager": pulumi.String("kvinfra-" + ctx.Project() + "-" + ctx.Stack()),
			},
		},
	}, pulumi.Provider(provider))
}

package main

import (
	"fmt"
	"strings"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/stacks"
)

// enforce is the label by which Kubernetes knows which pods a namespace takes.
const enforce = "pod-security.kubernetes.io/enforce"

// claimNamespace patches our labels into a namespace and makes it when it is
// missing. A destroy takes the labels away and leaves the namespace, with the
// volumes in it.
func claimNamespace(ctx *pulumi.Context, name, podSecurity string, provider pulumi.ProviderResource) (pulumi.Resource, error) {
	labels := pulumi.StringMap{"app.kubernetes.io/part-of": pulumi.String("kvinfra")}
	if podSecurity != "" {
		labels[enforce] = pulumi.String(podSecurity)
	}
	explain, err := ctx.RegisterErrorHook("namespace-"+name, func(failed *pulumi.ErrorHookArgs) (bool, error) {
		const again = false
		if !strings.Contains(strings.Join(failed.Errors, " "), enforce) {
			return again, nil
		}
		return again, ctx.Log.Error(fmt.Sprintf("%s: %s:cluster: somebody else has set the Pod Security level of the namespace %s, and this stack needs %q there; "+
			"remove their label %s, or leave it with sharedNamespaces: true", stacks.File(ctx.Stack()), ctx.Project(), name, podSecurity, enforce), nil)
	})
	if err != nil {
		return nil, err
	}
	return corev1.NewNamespacePatch(ctx, name, &corev1.NamespacePatchArgs{
		Metadata: &metav1.ObjectMetaPatchArgs{
			Name:   pulumi.String(name),
			Labels: labels,
			Annotations: pulumi.StringMap{
				"pulumi.com/patchFieldManager": pulumi.String("kvinfra-" + ctx.Project() + "-" + ctx.Stack()),
			},
		},
	}, pulumi.Provider(provider), pulumi.ResourceHooks(&pulumi.ResourceHookBinding{OnError: []*pulumi.ErrorHook{explain}}))
}

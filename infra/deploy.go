package main

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv"
	"kvinfra/components/mooncake"
	"kvinfra/stacks"
)

// deploy runs what the stack's configuration names.
func deploy(ctx *pulumi.Context, config map[string]string) error {
	stack, err := stacks.Load(ctx.Project(), ctx.Stack(), config)
	if err != nil {
		return err
	}
	provider, err := connect(ctx, stack.Cluster)
	if err != nil {
		return err
	}
	namespaces := map[string]pulumi.Resource{}
	for _, name := range stack.Namespaces() {
		if namespaces[name], err = claimNamespace(ctx, name, provider); err != nil {
			return err
		}
	}
	on := func(namespace string) pulumi.ResourceOption {
		return pulumi.Composite(pulumi.Providers(provider), pulumi.DependsOn([]pulumi.Resource{namespaces[namespace]}))
	}

	for _, name := range slices.Sorted(maps.Keys(stack.HotKV)) {
		s := stack.HotKV[name]
		c, err := hotkv.NewCluster(ctx, name, &hotkv.ClusterArgs{Spec: s}, on(s.Namespace))
		if err != nil {
			return err
		}
		ctx.Export("hotkv-"+name, pulumi.Map{
			"namespace":   pulumi.String(s.Namespace),
			"addresses":   c.Addresses,
			"serviceName": c.ServiceName,
			"secretName":  c.SecretName,
			"secretKey":   c.SecretKey,
			"password":    c.Password,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(stack.Mooncake)) {
		s := stack.Mooncake[name]
		c, err := mooncake.NewCluster(ctx, name, &mooncake.ClusterArgs{Spec: s}, on(s.Namespace))
		if err != nil {
			return err
		}
		ctx.Export("mooncake-"+name, pulumi.Map{
			"namespace":         pulumi.String(s.Namespace),
			"masterAddress":     c.MasterAddress,
			"metadataServer":    c.MetadataServer,
			"protocol":          c.Protocol,
			"clusterId":         c.ClusterID,
			"version":           c.Version,
			"clients":           pulumi.StringArray{c.ClientConfigMap, c.ClientFilesConfigMap},
			"sglangExtraConfig": c.SGLangExtraConfig,
			"metricsUrl":        c.MetricsURL,
		})
	}
	return nil
}

// claimNamespace patches our label into a namespace and makes it when it is
// missing. A destroy takes the label away and leaves the namespace, with the
// volumes in it.
func claimNamespace(ctx *pulumi.Context, name string, provider pulumi.ProviderResource) (pulumi.Resource, error) {
	return corev1.NewNamespacePatch(ctx, name, &corev1.NamespacePatchArgs{
		Metadata: &metav1.ObjectMetaPatchArgs{
			Name:   pulumi.String(name),
			Labels: pulumi.StringMap{"app.kubernetes.io/part-of": pulumi.String("kvinfra")},
			Annotations: pulumi.StringMap{
				"pulumi.com/patchFieldManager": pulumi.String("kvinfra-" + ctx.Project() + "-" + ctx.Stack()),
			},
		},
	}, pulumi.Provider(provider))
}

// missing says whether an error means that the kubeconfig is not there yet, which
// is no reason not to preview.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

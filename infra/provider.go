package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/stacks"
)

// newProvider makes the one provider of the stack, for the Kubernetes cluster that its
// file names and for no other.
func newProvider(ctx *pulumi.Context, cluster stacks.Cluster, ask func(context.Context, stacks.Endpoint) error) (*kubernetes.Provider, error) {
	root := ctx.RootDirectory()
	kubeconfig, err := cluster.KubeconfigFor(root, filepath.Join(root, "infra"))
	if err != nil {
		return nil, err
	}
	endpoint, unusable := cluster.Endpoint(root)
	withoutCluster := errors.Is(unusable, fs.ErrNotExist)
	if unusable == nil {
		unusable = ask(ctx.Context(), endpoint)
		if withoutCluster = unusable != nil; withoutCluster {
			kubeconfig = "the cluster does not answer" // with the real one the provider would wait for a minute
		}
	}
	if unusable != nil {
		unusable = fmt.Errorf("%s: %s:%w", stacks.File(ctx.Stack()), ctx.Project(), unusable)
		// A preview works without a cluster and without a kubeconfig.
		if !ctx.DryRun() || !withoutCluster {
			return nil, unusable
		}
		if err := ctx.Log.Warn(unusable.Error()+"; this preview cannot ask a cluster, an up will fail", nil); err != nil {
			return nil, err
		}
	}
	var input pulumi.StringInput = pulumi.String(kubeconfig)
	if cluster.Inline() {
		input = pulumi.ToSecret(input).(pulumi.StringOutput)
	}
	return kubernetes.NewProvider(ctx, "cluster", &kubernetes.ProviderArgs{
		Kubeconfig: pulumi.StringPtrInput(input.ToStringOutput().ToStringPtrOutput()),
		Context:    pulumi.String(cluster.Context),
		// Without a name of our own for the cluster, another address of its server would
		// replace every object.
		ClusterIdentifier: pulumi.String("kvinfra-" + ctx.Stack()),
		// A changed script is a changed ConfigMap, not another one.
		EnableConfigMapMutable: pulumi.Bool(true),
		EnableSecretMutable:    pulumi.Bool(true),
	})
}

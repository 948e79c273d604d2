package main

import (
	"fmt"
	"path/filepath"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/stacks"
)

// connect makes the one provider of the stack, for the Kubernetes cluster that its
// file names and for no other.
func connect(ctx *pulumi.Context, cluster stacks.Cluster) (*kubernetes.Provider, error) {
	root := ctx.RootDirectory()
	if err := cluster.CheckKubeconfig(root); err != nil {
		err = fmt.Errorf("%s: %s:%w", stacks.File(ctx.Stack()), ctx.Project(), err)
		// A preview works without a cluster, and so without a kubeconfig.
		if !ctx.DryRun() || !missing(err) {
			return nil, err
		}
		if err := ctx.Log.Warn(err.Error()+"; this preview cannot ask a cluster, an up will fail", nil); err != nil {
			return nil, err
		}
	}
	kubeconfig, err := cluster.KubeconfigFor(root, filepath.Join(root, "infra"))
	if err != nil {
		return nil, err
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

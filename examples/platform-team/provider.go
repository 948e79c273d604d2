package main

import (
	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// connect makes the provider. The stack file says which Kubernetes cluster is
// meant: without a kubeconfig of ours the provider would take the shell's.
func (s shop) connect() (*kubernetes.Provider, error) {
	return kubernetes.NewProvider(s.ctx, "cluster", &kubernetes.ProviderArgs{
		Kubeconfig: pulumi.String(s.settings.Require("kubeconfig")),
		Context:    pulumi.String(s.settings.Require("context")),
		// Without a name of our own for the cluster, another address of its server would
		// replace every object.
		ClusterIdentifier: pulumi.String(s.ctx.Project() + "-" + s.ctx.Stack()),
		// A changed script or password changes its object and does not replace it.
		EnableConfigMapMutable: pulumi.Bool(true),
		EnableSecretMutable:    pulumi.Bool(true),
	})
}

package main

import (
	"context"
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv"
	"kvinfra/components/mooncake"
	"kvinfra/stacks"
)

// deploy runs what the stack's configuration names, on a Kubernetes cluster that
// answers to ask.
func deploy(ctx *pulumi.Context, config map[string]string, ask func(context.Context, stacks.Endpoint) error) error {
	stack, err := load(ctx, config)
	if err != nil {
		return err
	}
	if stack.Cluster.Production {
		if err := protect(ctx); err != nil {
			return err
		}
	}
	provider, err := newProvider(ctx, stack.Cluster, ask)
	if err != nil {
		return err
	}
	namespaces := map[string]pulumi.Resource{}
	for _, name := range stack.Namespaces() {
		if namespaces[name], err = claimNamespace(ctx, name, stack.PodSecurity(name), provider); err != nil {
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
		ctx.Export("hotkv-"+name, hotkvOutputs(s, c))
	}
	for _, name := range slices.Sorted(maps.Keys(stack.Mooncake)) {
		s := stack.Mooncake[name]
		c, err := mooncake.NewCluster(ctx, name, &mooncake.ClusterArgs{Spec: s}, on(s.Namespace))
		if err != nil {
			return err
		}
		outputs, err := mooncakeOutputs(s, c)
		if err != nil {
			return err
		}
		ctx.Export("mooncake-"+name, outputs)
	}
	return nil
}

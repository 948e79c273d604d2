package main

import (
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// protect forbids the engine to delete or replace what holds data or opens it. It
// goes by type and not by component: what a component protects, all its children
// inherit, and a Job or CronJob could not be replaced any more by its next version.
func protect(ctx *pulumi.Context) error {
	return ctx.RegisterStackTransformation(func(r *pulumi.ResourceTransformationArgs) *pulumi.ResourceTransformationResult {
		if !slices.Contains(protectedTypes(), r.Type) {
			return nil
		}
		return &pulumi.ResourceTransformationResult{
			Props: r.Props,
			Opts:  append(slices.Clip(r.Opts), pulumi.Protect(true)),
		}
	})
}

func protectedTypes() []string {
	return []string{
		"kubernetes:apps/v1:StatefulSet",
		"kubernetes:core/v1:Secret",
		"random:index/randomPassword:RandomPassword",
	}
}

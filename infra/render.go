package main

import (
	"context"
	"io"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/render"
	"kvinfra/stacks"
)

// renderStack writes the objects of a stack, as its file in root describes them.
func renderStack(out io.Writer, root, stack string) error {
	config, err := configurationOf(project, root, stack)
	if err != nil {
		return err
	}
	resources, err := render.Program(func(ctx *pulumi.Context) error { return deploy(ctx, config, nobody) },
		render.Options{Project: project, Stack: stack, Root: root, Preview: true})
	if err != nil {
		return err
	}
	manifests, err := render.YAML(resources)
	if err != nil {
		return err
	}
	_, err = out.Write(manifests)
	return err
}

// nobody lets every cluster pass: what is rendered does not depend on one.
func nobody(context.Context, stacks.Endpoint) error { return nil }

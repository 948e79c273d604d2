package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/render"
	"kvinfra/stacks"
)

// renderStack writes the objects of a stack, as its file in root describes them.
func renderStack(out io.Writer, root, stack string) error {
	text, err := os.ReadFile(filepath.Join(root, stacks.File(stack)))
	if err != nil {
		return fmt.Errorf("there is no stack %q: %w", stack, err)
	}
	config, err := stacks.ConfigOf(text)
	if err != nil {
		return fmt.Errorf("%s: %w", stacks.File(stack), err)
	}
	resources, err := render.Program(func(ctx *pulumi.Context) error { return deploy(ctx, config) },
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

package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/cluster"
	"kvinfra/infra/local/internal/pulumi"
	"kvinfra/infra/local/internal/step"
)

// up makes a stack real, and before it what the stack needs: tools, and the local
// cluster with its images when the stack names that cluster.
func up(ctx context.Context, c checkout.Checkout, s pulumi.Stack, args []string) error {
	config, err := s.Config()
	if err != nil {
		return err
	}
	s, err = openCompiled(ctx, c, s)
	if err != nil {
		return err
	}
	if config.OnLocalCluster() {
		if err := s.Check(ctx); err != nil { // before a cluster is started for it
			return err
		}
		if err := clusterWithImages(ctx, c); err != nil {
			return err
		}
	}
	err = step.RunFile("stack "+s.Name, c.Local("log", "up.log"), func(log *os.File) error {
		changes, err := s.Up(ctx, log, args...)
		if err == nil {
			step.Say("%s", changes)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := s.Output(ctx, os.Stdout, os.Stderr); err != nil {
		return err
	}
	fmt.Println("\nTo try:")
	for _, command := range append(config.Kubectl(), "make output STACK="+s.Name) {
		fmt.Println("  " + command)
	}
	return nil
}

// clusterWithImages starts the local cluster and gives it the product's images.
func clusterWithImages(ctx context.Context, c checkout.Checkout) error {
	err := step.Run("local cluster", c.Local("log", "cluster.log"), func(log io.Writer) error {
		return cluster.Up(ctx, c, log)
	})
	if err != nil {
		return err
	}
	return images(ctx, c, nil)
}

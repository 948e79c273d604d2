package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/cluster"
	"kvinfra/infra/local/internal/pulumi"
	"kvinfra/infra/local/internal/step"
)

// clusterUp starts the local cluster and prints how to reach it.
func clusterUp(ctx context.Context, c checkout.Checkout, args []string) error {
	if len(args) > 0 {
		return errors.New("usage: local up")
	}
	err := step.Run("local cluster", c.Local("log", "cluster.log"), func(log io.Writer) error {
		return cluster.Up(ctx, c, log)
	})
	if err != nil {
		return err
	}
	return kubeconfig(ctx, c, nil)
}

// clusterDown stops the local cluster and the API tier, and wipes their state
// when asked to.
func clusterDown(ctx context.Context, c checkout.Checkout, args []string) error {
	wipe := len(args) == 1 && args[0] == "--wipe"
	if len(args) > 0 && !wipe {
		return errors.New("usage: local down [--wipe]")
	}
	return step.Run("stop the local cluster", c.Local("log", "cluster-down.log"), func(log io.Writer) error {
		if err := cluster.Down(ctx, c, wipe, log); err != nil || !wipe {
			return err
		}
		return pulumi.Forget(c)
	})
}

func clusterStatus(ctx context.Context, c checkout.Checkout, _ []string) error {
	return cluster.Status(ctx, c, os.Stdout)
}

// kubeconfig prints the line that leads kubectl to the local cluster.
func kubeconfig(_ context.Context, c checkout.Checkout, _ []string) error {
	path := c.Local("kubeconfig")
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("the local cluster has no kubeconfig yet: make up starts it (%w)", err)
	}
	_, err := fmt.Printf("export KUBECONFIG=%s\n", path)
	return err
}

// api starts or stops the API tier: an API server with fake nodes.
func api(ctx context.Context, c checkout.Checkout, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "up":
		err := step.Run("API tier", c.Local("log", "api.log"), func(log io.Writer) error {
			return cluster.UpAPI(ctx, c, log)
		})
		if err != nil {
			return err
		}
		_, err = fmt.Printf("export KUBECONFIG=%s\n", c.Local("api", "kubeconfig"))
		return err
	case len(args) == 1 && args[0] == "down":
		return step.Run("stop the API tier", c.Local("log", "api-down.log"), func(io.Writer) error {
			return cluster.DownAPI(ctx, c)
		})
	}
	return errors.New("usage: local api up|down")
}

// The commands by which this program starts itself again.

func runNode(ctx context.Context, c checkout.Checkout, _ []string) error {
	return cluster.RunNode(ctx, c)
}

func node(ctx context.Context, c checkout.Checkout, _ []string) error {
	return cluster.Node(ctx, c)
}

func runAPI(ctx context.Context, c checkout.Checkout, _ []string) error {
	return cluster.RunAPI(ctx, c)
}

// Command infra is the Pulumi program: it runs the clusters that a stack file
// names on the Kubernetes cluster that it names. Its one rule: it defines no
// Kubernetes object but the namespace; the components do.
//
// Pulumi starts it without arguments. "infra render STACK" prints the objects of a
// stack, and "infra diff STACK COMMIT" what changed of them since a commit, without
// an engine and without a cluster.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/stacks"
)

// project is the name in Pulumi.yaml, with which the keys of a stack file start.
const project = "kvinfra"

func main() {
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "render":
		exit(renderStack(os.Stdout, ".", args[1]))
	case len(args) == 3 && args[0] == "diff":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err := diffStack(ctx, os.Stdout, ".", args[1], args[2])
		stop()
		exit(err)
	}
	pulumi.Run(func(ctx *pulumi.Context) error {
		// The engine's whole configuration, to see keys that nobody reads.
		config := map[string]string{}
		if err := json.Unmarshal([]byte(os.Getenv(pulumi.EnvConfig)), &config); err != nil {
			return fmt.Errorf("the engine's configuration cannot be read: %w", err)
		}
		var secrets []string
		if text := os.Getenv(pulumi.EnvConfigSecretKeys); text != "" {
			if err := json.Unmarshal([]byte(text), &secrets); err != nil {
				return fmt.Errorf("the engine's list of secrets cannot be read: %w", err)
			}
		}
		for _, key := range secrets {
			if err := mayBeSecret(key, true); err != nil {
				return fmt.Errorf("%s: %w", stacks.File(ctx.Stack()), err)
			}
		}
		return deploy(ctx, config, reachable)
	})
}

// exit ends the program, with the error if there is one.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

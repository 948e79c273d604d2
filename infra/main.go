// Command infra is the Pulumi program: it runs the clusters that a stack file
// names on the Kubernetes cluster that it names. Its one rule: it defines no
// Kubernetes object but the namespace; the components do.
//
// Pulumi starts it without arguments. "infra render STACK" prints the objects of a
// stack, and "infra diff STACK COMMIT" what changed of them since a commit, without
// an engine and without a cluster.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// project is the name in Pulumi.yaml, with which the keys of a stack file start.
const project = "kvinfra"

func main() {
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "render":
		exit(renderStack(os.Stdout, ".", args[1]))
	case len(args) == 3 && args[0] == "diff":
		exit(diffStack(os.Stdout, ".", args[1], args[2]))
	}
	pulumi.Run(func(ctx *pulumi.Context) error {
		// The engine's whole configuration, to see keys that nobody reads.
		config := map[string]string{}
		if err := json.Unmarshal([]byte(os.Getenv(pulumi.EnvConfig)), &config); err != nil {
			return fmt.Errorf("the engine's configuration cannot be read: %w", err)
		}
		return deploy(ctx, config)
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

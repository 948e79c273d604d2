package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/cluster"
)

// command is one word of the command line.
type command struct {
	usage string
	run   func(ctx context.Context, c checkout.Checkout, args []string) error
}

// commands returns what local can do, by name.
func commands() map[string]command {
	return map[string]command{
		"images": {"build the container images of the product, and of further DIRECTORIES, and give them to the local cluster", images},
		"stack":  {"preview, change or show a stack: stack " + strings.Join(verbNames(), "|") + " STACK [-- ARGUMENT-OF-PULUMI...]", stack},
		"tools":  {"find or build the Pulumi command line", tools},
		"needs":  {"get what make test calls beside Go", testNeeds},

		"up":         {"start the local cluster", clusterUp},
		"down":       {"stop the local cluster and the API tier; with --wipe, remove their state", clusterDown},
		"clean":      {"down, and remove all state and everything built", clean},
		"status":     {"show what runs in the local cluster and what it takes", clusterStatus},
		"kubeconfig": {"print the line that leads kubectl to the local cluster", kubeconfig},
		"api":        {"up or down: an API server with fake nodes, for tests", api},

		// This program starts itself by these.
		cluster.RunNodeCommand: {"", runNode},
		cluster.NodeCommand:    {"", node},
		cluster.RunAPICommand:  {"", runAPI},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usage()
	}
	cmd, ok := commands()[args[0]]
	if !ok {
		return usage()
	}
	c, err := checkout.Find()
	if err != nil {
		return err
	}
	return cmd.run(ctx, c, args[1:])
}

// usage lists the commands; those without a word of it are for the program itself.
func usage() error {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(commands())) {
		if say := commands()[name].usage; say != "" {
			fmt.Fprintf(&lines, "\n  %-11s %s", name, say)
		}
	}
	return errors.New("usage: local COMMAND" + lines.String())
}

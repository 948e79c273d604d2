//go:build linux

package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"kvinfra/infra/local/internal/checkout"
)

// Node is the first process of the node's namespaces, which RunNode starts. It
// returns when ctx ends or the node cannot go on, and everything in the node
// ends with it.
func Node(ctx context.Context, c checkout.Checkout) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("this command starts only as the first process of the node: use up")
	}
	if err := unix.Sethostname([]byte(nodeName)); err != nil {
		return fmt.Errorf("name the node: %w", err)
	}
	if err := enterRoot(c); err != nil {
		return err
	}
	if err := joinCgroups(); err != nil {
		return err
	}
	// The machine closes our input when the cable is there.
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return fmt.Errorf("wait for the cable: %w", err)
	}
	if err := joinNetwork(); err != nil {
		return err
	}
	p := nodeControlPlane()
	containerd := component{name: "containerd", program: "/usr/bin/containerd", args: []string{"--config=" + p.file("containerd.toml")}}
	return superviseTier(ctx, inNodeLogs, p, []component{p.etcd(), p.apiServer(), containerd},
		append([]component{p.controllerManager(), p.scheduler()}, nodeComponents()...))
}

// superviseTier keeps two groups of components running: first, and rest as soon
// as the API server answers. Sooner, they would only take its processor time.
func superviseTier(ctx context.Context, logs string, p controlPlane, first, rest []component) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := freshFolder(logs); err != nil {
		return err
	}
	s := newSupervisor(logs, os.Stderr)
	api, err := connect(p.file("admin.kubeconfig"))
	if err != nil {
		return err
	}
	go func() {
		s.start(ctx, first...)
		// Whoever wanted the tier gives up earlier, and says so.
		if err := api.waitReady(ctx, time.Hour); err != nil {
			fmt.Fprintln(os.Stderr, err)
			cancel()
		}
		s.start(ctx, rest...)
	}()
	return s.run(ctx)
}

// freshFolder makes dir, without what a run before this one left in it.
func freshFolder(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/step"
)

// Down ends both tiers of this checkout and removes what the node had on the
// machine. Their state stays for the next start, unless wipe says otherwise.
// Programs in pods end as in a power cut.
func Down(ctx context.Context, c checkout.Checkout, wipe bool, log io.Writer) error {
	change, err := alone(ctx)
	if err != nil {
		return err
	}
	defer change.Close()
	if err := stopAPI(ctx, c); err != nil {
		return err
	}
	running, err := whoRuns(ctx, nodeSocket)
	if err != nil {
		return err
	}
	if running != nil && running.Root != c.Root {
		step.Say("the local cluster of %s is running: left alone", running.Root)
	} else {
		if err := stop(ctx, nodeSocket, running); err != nil {
			return err
		}
		if err := tidy(ctx); err != nil {
			return err
		}
	}
	if !wipe {
		return nil
	}
	for _, path := range []string{c.Local("cluster"), c.Local("api"), c.Local("kubeconfig")} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes what is left on the machine of a node that ended.
func tidy(ctx context.Context) error {
	if err := errors.Join(unplug(), unguard()); err != nil {
		return err
	}
	return waitGone(ctx)
}

// waitGone waits until the last process of a node ended, of which its cgroups tell.
func waitGone(ctx context.Context) error {
	return wait(ctx, 20*time.Second, "a process of the last node is still there", func(context.Context) error { return removeCgroups() })
}

// stop ends the tier that runs under a socket's name, if one does.
func stop(ctx context.Context, socket string, running *presence) error {
	if running == nil {
		return nil
	}
	if err := syscall.Kill(running.Pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end process %d: %w", running.Pid, err)
	}
	return wait(ctx, 20*time.Second, fmt.Sprintf("process %d does not end", running.Pid), func(ctx context.Context) error {
		left, err := whoRuns(ctx, socket)
		if err == nil && left != nil {
			err = errors.New("it still has its socket")
		}
		return err
	})
}

//go:build linux

package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/prometheus/procfs"

	"kvinfra/infra/local/internal/checkout"
)

// Status tells what runs: the programs of both tiers with the memory and the
// processor time that they take, the node, its pods and the addresses.
func Status(ctx context.Context, c checkout.Checkout, out io.Writer) error {
	for _, tier := range []struct{ name, socket, kubeconfig string }{
		{"local cluster", nodeSocket, c.Local("kubeconfig")},
		{"API tier", apiSocket, c.Local("api", "kubeconfig")},
	} {
		running, err := whoRuns(ctx, tier.socket)
		if err != nil {
			return err
		}
		switch {
		case running == nil:
			fmt.Fprintf(out, "%s: not running\n", tier.name)
		case running.Root != c.Root:
			fmt.Fprintf(out, "%s: not running here, but in %s\n", tier.name, running.Root)
		default:
			fmt.Fprintf(out, "%s: running, KUBECONFIG=%s\n", tier.name, tier.kubeconfig)
			if err := printUsage(ctx, out, running.Pid); err != nil {
				return err
			}
			if err := printObjects(ctx, c, out, tier.kubeconfig); err != nil {
				return err
			}
		}
	}
	return nil
}

// usage is what processes of one name take.
type usage struct {
	name      string
	processes int
	memory    int     // bytes
	cpu       float64 // seconds
}

func (u usage) print(table io.Writer, elapsed float64) {
	fmt.Fprintf(table, "%d MiB\t%.1f %%\t%d\t  %s\n", u.memory>>20, 100*u.cpu/elapsed, u.processes, u.name)
}

// printUsage prints what pid and the processes that descend from it take.
func printUsage(ctx context.Context, out io.Writer, pid int) error {
	const span = 2 * time.Second // to watch their processor time
	before, err := family(pid)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(span):
	}
	after, err := family(pid)
	if err != nil {
		return err
	}
	programs := map[string]usage{}
	all := usage{name: "together"}
	for id, p := range after {
		p.cpu -= before[id].cpu
		u := programs[p.name]
		programs[p.name] = usage{p.name, u.processes + 1, u.memory + p.memory, u.cpu + p.cpu}
		all = usage{all.name, all.processes + 1, all.memory + p.memory, all.cpu + p.cpu}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "memory\tof a core\tprocesses\t  program")
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		programs[name].print(table, span.Seconds())
	}
	all.print(table, span.Seconds())
	return table.Flush()
}

// family returns pid and its descendants.
func family(pid int) (map[int]usage, error) {
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	children := map[int][]int{}
	known := map[int]usage{}
	for _, p := range processes {
		stat, err := p.Stat()
		if err != nil {
			continue // it just ended
		}
		name := stat.Comm
		// One binary holds all programs of Kubernetes: they go by their first word.
		if words, err := p.CmdLine(); err == nil && len(words) > 0 {
			name = filepath.Base(words[0])
		}
		children[stat.PPID] = append(children[stat.PPID], p.PID)
		known[p.PID] = usage{name, 1, stat.ResidentMemory(), stat.CPUTime()}
	}
	members := map[int]usage{}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		members[next[0]] = known[next[0]]
		next = append(next, children[next[0]]...)
	}
	return members, nil
}

// printObjects prints the nodes, pods and Services.
func printObjects(ctx context.Context, c checkout.Checkout, out io.Writer, kubeconfig string) error {
	for _, args := range [][]string{{"get", "nodes"}, {"get", "pods,services", "--all-namespaces", "--output=wide"}} {
		fmt.Fprintln(out)
		cmd := kubectl(ctx, c, kubeconfig, args...)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("kubectl get: %w", err)
		}
	}
	return nil
}

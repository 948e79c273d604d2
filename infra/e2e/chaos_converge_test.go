package e2e

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChaosConverge kills the Job that makes the cluster, at three of its steps: the
// next up ends in the same cluster.
func TestChaosConverge(t *testing.T) {
	for n, line := range []string{"all 6 nodes answer", "all nodes know each other", ": replicate "} {
		t.Run(strings.Trim(line, ": "), func(t *testing.T) {
			s := chaos(t, fmt.Sprintf("converge-%d", n), "")
			killed := make(chan error, 1)
			go func() { killed <- s.killJob(t, "hotkv-init", line) }()
			assert.Contains(t, s.refused(t, "up"), "hotkv-init", "the Job was killed before its end")
			require.NoError(t, <-killed)
			s.run(t, "up")
			s.eventuallyHealthy(t, 3, 1)
			for pod := range s.pods(t, ".metadata.uid") {
				assert.Contains(t, s.ask(t, pod, "config", "get", "cluster-node-timeout"), "5000", pod)
			}
			s.unchanged(t)
		})
	}
}

// killJob kills the script of a Job that comes up, once it has said a line.
func (s hotkv) killJob(t *testing.T, job, line string) error {
	const pods = "batch.kubernetes.io/job-name="
	container := ""
	for start := time.Now(); container == ""; time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > 3*time.Minute {
			return fmt.Errorf("no pod of %s", job)
		}
		out, err := kubectl("-n", string(s.stack), "get", "pods", "-l", pods+job,
			"-o", "jsonpath={.items[*].status.containerStatuses[0].containerID}")
		if err == nil {
			container = strings.TrimPrefix(out, "containerd://")
		}
	}
	logs := exec.CommandContext(t.Context(), root+"/.local/bin/kubectl", "--kubeconfig", kubeconfig, "-n", string(s.stack), "logs", "-f", "job/"+job)
	out, err := logs.StdoutPipe()
	if err != nil {
		return err
	}
	if err := logs.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), line) {
			id, err := firstProcess(container)
			if err != nil {
				return err
			}
			if err := syscall.Kill(id, syscall.SIGKILL); err != nil {
				return err
			}
			break
		}
	}
	_ = logs.Process.Kill()
	_ = logs.Wait()
	return lines.Err()
}

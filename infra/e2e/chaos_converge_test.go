package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	for _, tt := range []struct {
		story   string
		reached func(nodes []string) bool // told by what the nodes say
	}{
		{"slots", func(nodes []string) bool {
			return slices.ContainsFunc(nodes, func(words string) bool { return !strings.Contains(words, "cluster_slots_assigned:0\r") })
		}},
		{"met", func(nodes []string) bool {
			return !slices.ContainsFunc(nodes, func(words string) bool { return !strings.Contains(words, "cluster_known_nodes:6\r") })
		}},
		{"replica", func(nodes []string) bool {
			return slices.ContainsFunc(nodes, func(words string) bool { return strings.Contains(words, "role:slave") })
		}},
	} {
		t.Run(tt.story, func(t *testing.T) {
			s := chaos(t, "converge-"+tt.story, "")
			words := make(chan string, 1)
			failed := make(chan error, 1)
			go func() {
				out, err := s.try(t, "up")
				words <- out
				failed <- err
			}()
			require.NoError(t, s.killInit(t, tt.reached))
			assert.Contains(t, <-words, "hotkv-init")
			require.Error(t, <-failed, "the Job was killed before its end")
			t.Log(s.kubectl(t, "logs", "job/hotkv-init"))
			s.run(t, "up")
			s.eventuallyHealthy(t, 3, 1)
			for pod := range s.pods(t, ".metadata.uid") {
				assert.Contains(t, s.ask(t, pod, "config", "get", "cluster-node-timeout"), "5000", pod)
			}
			s.unchanged(t)
		})
	}
}

// killInit kills the script that makes a cluster as soon as the nodes say so.
func (s hotkv) killInit(t *testing.T, reached func(nodes []string) bool) error {
	t.Helper()
	eventually(t, 3*time.Minute, func(c *assert.CollectT) {
		pods := s.pods(c, ".status.podIP")
		assert.Len(c, pods, 6)
		for pod, address := range pods {
			assert.NotEmpty(c, address, pod)
		}
	})
	cluster := s.cluster(t)
	addresses := s.pods(t, ".status.podIP")
	for start := time.Now(); time.Since(start) < 3*time.Minute; time.Sleep(20 * time.Millisecond) {
		var nodes []string
		for _, address := range addresses {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			words, err := cluster.Info(ctx, address+":6379")
			cancel()
			if err == nil {
				nodes = append(nodes, words)
			}
		}
		if len(nodes) == len(addresses) && reached(nodes) {
			id, err := s.script()
			if err != nil {
				return err
			}
			return syscall.Kill(id, syscall.SIGKILL)
		}
	}
	return errors.New("the nodes never got there")
}

// script returns the process of the script that works on the cluster's nodes: the
// oldest, which started the others.
func (s hotkv) script() (int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0, err
	}
	var ids []int
	for _, file := range files {
		dir := filepath.Dir(file)
		words, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(words, []byte("/scripts/converge.sh")) {
			continue
		}
		environment, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(environment, fmt.Appendf(nil, ".%s.%s.svc", s.name, s.stack)) {
			continue
		}
		id, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			return 0, err
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return 0, errors.New("the script does not run")
	}
	return slices.Min(ids), nil
}

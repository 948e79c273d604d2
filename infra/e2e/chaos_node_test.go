package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// signal sends a signal to the first process of a pod, as only the node can: inside
// of its namespace nothing kills that process. This machine is the node.
func (s hotkv) signal(t *testing.T, pod string, signal syscall.Signal) {
	t.Helper()
	container := s.kubectl(t, "get", "pod", pod, "-o", "jsonpath={.status.containerStatuses[0].containerID}")
	id, err := firstProcess(strings.TrimPrefix(container, "containerd://"))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(id, signal))
}

// firstProcess returns what a container was started with.
func firstProcess(container string) (int, error) {
	const length = 64 // of its id
	if len(container) != length {
		return 0, fmt.Errorf("%q is no container", container)
	}
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		groups, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(groups, []byte(container)) {
			continue // it ended, or it is another container's
		}
		dir := filepath.Dir(file)
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			ids, found := strings.CutPrefix(line, "NSpid:")
			if fields := strings.Fields(ids); found && len(fields) > 1 && fields[len(fields)-1] == "1" {
				return strconv.Atoi(filepath.Base(dir))
			}
		}
	}
	return 0, fmt.Errorf("no process of container %s on this machine", container)
}

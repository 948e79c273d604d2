//go:build linux

package cluster

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSupervisorStartsAgainWhatEnds(t *testing.T) {
	logs := t.TempDir()
	var log bytes.Buffer
	s := newSupervisor(logs, &log)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.run(ctx) }()
	s.start(ctx, component{name: "brief", program: "/bin/sh", args: []string{"-c", "echo run; exit 3"}})

	words := func() string {
		content, err := os.ReadFile(filepath.Join(logs, "brief.log"))
		if err != nil {
			return ""
		}
		return string(content)
	}
	require.Eventually(t, func() bool { return strings.HasPrefix(words(), "run\nrun\n") }, 10*time.Second, 20*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	assert.Contains(t, log.String(), "brief ended (exit status 3): starting it again")
}

func TestSupervisorReportsAProgramThatCannotStart(t *testing.T) {
	s := newSupervisor(t.TempDir(), &bytes.Buffer{})
	go s.start(t.Context(), component{name: "missing", program: "/nonexistent/program"})
	assert.ErrorContains(t, s.run(t.Context()), "start missing: ")
}

func TestSupervisorNamesAComponentByItsName(t *testing.T) {
	logs := t.TempDir()
	s := newSupervisor(logs, &bytes.Buffer{})
	pid, err := s.launch(component{name: "kube-something", program: "/bin/sleep", args: []string{"60"}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		_, err := syscall.Wait4(pid, nil, 0, nil)
		require.NoError(t, err)
	})
	// The kernel has the words a moment after the program replaced this one.
	assert.EventuallyWithT(t, func(c *assert.CollectT) {
		words, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		require.NoError(c, err)
		assert.Equal(c, "kube-something\x0060\x00", string(words))
	}, 10*time.Second, 5*time.Millisecond)
}

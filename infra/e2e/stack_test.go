package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// limit is how long one command may take. On two free cores the slowest, the
// rolling update, takes a quarter of it.
const limit = 4 * time.Minute

// stack is a stack of the copy. Its namespace has the same name.
type stack string

// newStack returns the stack, without what an earlier run left of it, and tells at
// the end of a failed test what is in its namespace.
func newStack(t *testing.T, name string) stack {
	t.Helper()
	s := stack(name)
	_, err := kubectl("delete", "namespace", name, "--ignore-not-found", "--timeout=2m")
	require.NoError(t, err, "remove the namespace of an earlier run")
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, what := range [][]string{
			{"pods,jobs,persistentvolumeclaims", "--output=wide"},
			{"events", "--field-selector=type=Warning", "--output=custom-columns=:.metadata.creationTimestamp,:.involvedObject.name,:.message"},
		} {
			out, err := kubectl(append([]string{"get", "-n", name}, what...)...)
			t.Logf("%s of %s (%v):\n%s", what[0], name, err, out)
		}
	})
	return s
}

// run runs "local stack" with a command for the stack and returns its words.
func (s stack) run(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, err := s.try(t, command, args...)
	require.NoError(t, err, "%s", out)
	return out
}

// unchanged has Pulumi find nothing to do.
func (s stack) unchanged(t *testing.T) {
	t.Helper()
	s.run(t, "up", "--expect-no-changes")
	s.run(t, "refresh", "--expect-no-changes")
}

// refused is run for what must fail.
func (s stack) refused(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, err := s.try(t, command, args...)
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	return out
}

func (s stack) try(t *testing.T, command string, args ...string) (string, error) {
	t.Helper()
	cmd := s.command(t, command, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	t.Logf("%s: %.1f s%s", strings.Join(append([]string{command, string(s)}, args...), " "), time.Since(start).Seconds(), changes(out.String()))
	return out.String(), err
}

func (s stack) command(t *testing.T, command string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	program, err := filepath.Abs(root + "/.local/bin/local")
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, program, append([]string{"stack", command, string(s), "--"}, args...)...)
	cmd.Dir = work
	cmd.Env = append(cmd.Environ(), "KUBECONFIG=/nowhere") // which must change nothing
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return cmd
}

// changes returns what an up says that it changed.
func changes(out string) string {
	_, after, found := strings.Cut(out, "==> stack ")
	if !found {
		return ""
	}
	for line := range strings.Lines(after) {
		if words, isDetail := strings.CutPrefix(line, "    "); isDetail {
			return ": " + strings.TrimSpace(words)
		}
	}
	return ""
}

// edit replaces a part of the stack's file that is in it once.
func (s stack) edit(t *testing.T, old, new string) {
	t.Helper()
	file := filepath.Join(work, fmt.Sprintf("Pulumi.%s.yaml", s))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), old), "%q in %s", old, file)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o644))
}

// step is a part of a walk: the next one starts where it ended, so the walk ends
// when it fails.
func step(t *testing.T, name string, do func(t *testing.T)) {
	t.Helper()
	if !t.Run(name, do) {
		t.FailNow()
	}
}

// loadAverage returns that of the last minute, which a figure of time means nothing
// without.
func loadAverage(t *testing.T) string {
	t.Helper()
	average, _, _ := strings.Cut(readFile(t, "/proc/loadavg"), " ")
	return average
}

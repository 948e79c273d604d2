package e2e

import (
	"bytes"
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

// TestKilledUp kills an up at its worst moment: the StatefulSet is made, and the
// state does not know it yet.
func TestKilledUp(t *testing.T) {
	s := newHotKV(t, "e2e-killed")

	step(t, "kill -9 while the StatefulSet comes up", func(t *testing.T) {
		up := s.command(t, "up")
		var words bytes.Buffer
		up.Stderr = &words
		require.NoError(t, up.Start())
		eventually(t, time.Minute, func(c *assert.CollectT) {
			assert.Contains(c, s.list(c, "statefulsets", ".metadata.uid"), "hotkv")
		})
		for id, name := range engine(t) {
			if name == "pulumi" {
				require.NoError(t, syscall.Kill(id, syscall.SIGKILL))
			}
		}
		require.Error(t, up.Wait())
		assert.Contains(t, words.String(), "make unlock STACK=e2e-killed")
		assert.Empty(t, engine(t))
	})
	step(t, "up says what to do", func(t *testing.T) {
		assert.Contains(t, s.refused(t, "up"), "make unlock STACK=e2e-killed")
	})
	step(t, "unlock", func(t *testing.T) {
		s.run(t, "unlock")
		assert.Empty(t, engine(t))
	})
	step(t, "up works again", func(t *testing.T) {
		s.run(t, "up")
		assert.Equal(t, seedLayout(), s.layout(t, "hotkv-0"))
		s.unchanged(t)
	})
	step(t, "clean up", s.remove)
	assert.Empty(t, engine(t))
}

// engine returns the names of the programs that Pulumi runs on the copy's stacks,
// by their ids.
func engine(t *testing.T) map[int]string {
	t.Helper()
	state, err := filepath.Abs(filepath.Join(work, ".local", "state"))
	require.NoError(t, err)
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	found := map[int]string{}
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(environment, []byte("PULUMI_BACKEND_URL=file://"+state)) {
			continue // it ended, or it is somebody else's
		}
		dir := filepath.Dir(file)
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue
		}
		id, err := strconv.Atoi(filepath.Base(dir))
		require.NoError(t, err)
		found[id] = strings.TrimSpace(string(name))
	}
	return found
}

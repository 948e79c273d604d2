package child

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunFailsWithTheLastWords(t *testing.T) {
	var log strings.Builder
	err := Run(Command(t.Context(), "bash", "-c", "seq 20; echo gave up >&2; exit 3"), &log)
	assert.EqualError(t, err, "bash -c: exit status 3\n14\n15\n16\n17\n18\n19\n20\ngave up")
	assert.Contains(t, log.String(), "\n1\n2\n")
	assert.Contains(t, log.String(), "seq 20")
}

// A program's own children hear of the end, too, and may tidy up.
func TestEndOfTheContextInterruptsTheFamily(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	notes := filepath.Join(t.TempDir(), "notes")
	family := `trap "wait; echo child >>$0; exit 0" INT
(trap "echo grandchild >>$0; exit" INT; echo ready >>$0; while :; do sleep 0.05; done) &
while :; do sleep 0.05; done`
	cmd := Command(ctx, "bash", "-c", family, notes)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return read(notes) == "ready\n" }, 10*time.Second, 10*time.Millisecond)
	cancel()
	assert.ErrorIs(t, cmd.Wait(), context.Canceled)
	assert.Equal(t, "ready\ngrandchild\nchild\n", read(notes))
}

func read(file string) string {
	content, _ := os.ReadFile(file)
	return string(content)
}

package checkout

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindWorksBelowTheRootAndMakesLocalPrivate(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	below := filepath.Join(root, "infra", "local", "internal")
	require.NoError(t, os.MkdirAll(below, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "infra", "local", "go.mod"), nil, 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".local"), 0o755)) // as `go build -o .local/bin/local` makes it
	defer syscall.Umask(syscall.Umask(0))
	t.Chdir(below)

	c, err := Find()
	require.NoError(t, err)
	assert.Equal(t, root, c.Root)
	info, err := os.Stat(c.Local())
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestFindOutsideSaysWhatToDo(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Find()
	assert.EqualError(t, err, "no infra/local in this directory or above it: run this inside the checkout")
}

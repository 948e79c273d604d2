package cache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// with returns a fill that writes a file.
func with(content string) func(dir string) error {
	return func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "file"), []byte(content), 0o644)
	}
}

func TestEntryIsFilledOnce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	for _, content := range []string{"first", "second"} {
		dir, err := Entry(t.Context(), home, "key", with(content))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dir, "file"))
		require.NoError(t, err)
		assert.Equal(t, "first", string(got))
	}
}

func TestFailedFillLeavesNothing(t *testing.T) {
	home := t.TempDir()
	boom := errors.New("boom")
	_, err := Entry(t.Context(), home, "key", func(dir string) error {
		return errors.Join(with("half")(dir), boom)
	})
	require.ErrorIs(t, err, boom)

	dir, err := Entry(t.Context(), home, "key", with("whole"))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, "file"))
	require.NoError(t, err)
	assert.Equal(t, "whole", string(got))
}

func TestLeftoverOfKilledProcessIsNotPartOfAnEntry(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, "work", "leftover"), 0o755))
	dir, err := Entry(t.Context(), home, "key", with("new"))
	require.NoError(t, err)
	assert.NoDirExists(t, filepath.Join(dir, "leftover"))
	assert.NoDirExists(t, filepath.Join(home, "work"))
}

func TestEntriesUsedLastAreKept(t *testing.T) {
	home := t.TempDir()
	for _, key := range []string{"a", "b", "a", "c"} {
		_, err := Entry(t.Context(), home, key, with(key))
		require.NoError(t, err)
	}
	assert.DirExists(t, filepath.Join(home, "a"), "used after b")
	assert.NoDirExists(t, filepath.Join(home, "b"))
	assert.DirExists(t, filepath.Join(home, "c"))
}

func TestOnlyOneProcessFills(t *testing.T) {
	home := t.TempDir()
	other := flock.New(filepath.Join(home, "lock"))
	require.NoError(t, other.Lock())
	defer other.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Entry(ctx, home, "key", with("content"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, home)
}

func TestKeyDependsOn(t *testing.T) {
	key := func(change func(dir string) error, values ...any) string {
		t.Helper()
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "file"), []byte("content"), 0o644))
		require.NoError(t, change(dir))
		k, err := Key(dir, values...)
		require.NoError(t, err)
		return k
	}
	nothing := func(string) error { return nil }
	original := key(nothing, "value")
	assert.Equal(t, original, key(nothing, "value"), "the same files in another place")

	for name, other := range map[string]string{
		"the values":            key(nothing, "another"),
		"the number of values":  key(nothing, "value", "another"),
		"the content of a file": key(func(dir string) error { return os.WriteFile(dir+"/sub/file", []byte("Content"), 0o644) }, "value"),
		"the mode of a file":    key(func(dir string) error { return os.Chmod(dir+"/sub/file", 0o755) }, "value"),
		"the name of a file":    key(func(dir string) error { return os.Rename(dir+"/sub/file", dir+"/sub/other") }, "value"),
		"an additional file":    key(func(dir string) error { return os.WriteFile(dir+"/new", nil, 0o644) }, "value"),
	} {
		assert.NotEqual(t, original, other, name)
	}
}

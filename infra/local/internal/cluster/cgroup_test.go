//go:build linux

package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMakeGroupOfVersion2HandsAllControllersOn(t *testing.T) {
	parent := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(parent, "cgroup.controllers"), []byte("cpuset cpu memory pids\n"), 0o600))
	group := filepath.Join(parent, "kvinfra")
	for range 2 { // the second time over what the first one left
		require.NoError(t, makeGroup(group))
		enabled, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
		require.NoError(t, err)
		assert.Equal(t, "+cpuset +cpu +memory +pids", string(enabled))
	}
	assert.DirExists(t, group)
}

func TestTheNodeWeighsMoreThanAnotherProcess(t *testing.T) {
	for file, weight := range map[string]string{"cpu.shares": "4096", "cpu.weight": "400"} {
		group := t.TempDir()
		require.NoError(t, weigh(group), "a hierarchy without processors")
		require.NoError(t, os.WriteFile(filepath.Join(group, file), []byte("1"), 0o600))
		require.NoError(t, weigh(group))
		now, err := os.ReadFile(filepath.Join(group, file))
		require.NoError(t, err)
		assert.Equal(t, weight, string(now))
	}
}

func TestRemoveGroup(t *testing.T) {
	group := filepath.Join(t.TempDir(), "kvinfra")
	t.Run("takes a whole tree away", func(t *testing.T) {
		require.NoError(t, os.MkdirAll(filepath.Join(group, "kubepods", "pod1"), 0o700))
		require.NoError(t, removeGroup(group))
		assert.NoDirExists(t, group)
	})
	t.Run("is content when there is none", func(t *testing.T) {
		assert.NoError(t, removeGroup(group))
	})
}

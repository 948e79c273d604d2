package spec

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rejoin runs the script on node i as its pod does, and returns what it said.
func (l *lab) rejoin(i int) string {
	l.t.Helper()
	bin := l.t.TempDir()
	// The Service's name has the addresses of all pods that run. Here it is what is left
	// of an address without its first number.
	dns := fmt.Sprintf("#!/bin/bash\n[[ $2 != *.*.*.* ]] || exec /usr/bin/getent \"$@\"\nprintf '%%s STREAM\\n' %s\n", strings.Join(l.hosts, " "))
	require.NoError(l.t, os.WriteFile(filepath.Join(bin, "getent"), []byte(dns), 0o700))
	var variables strings.Builder
	for _, v := range l.script(Repair, "CLI="+l.cli(i, "")).Env[len(os.Environ()):] {
		if name, value, _ := strings.Cut(v, "="); name != PasswordFileVariable {
			fmt.Fprintf(&variables, "%s='%s'\n", name, value)
		}
	}
	file := filepath.Join(bin, RepairFile)
	require.NoError(l.t, os.WriteFile(file, []byte(variables.String()), 0o600))
	script := exec.CommandContext(l.t.Context(), "bash", RejoinFile, file, ConvergeFile, l.marker(i), "true")
	script.WaitDelay = 15 * time.Second // after the end of what starts the server
	script.Env = append(os.Environ(), "REDISCLI_AUTH="+password, "PATH="+bin+":"+os.Getenv("PATH"))
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := script.CombinedOutput()
	// What waits for the others to come back outlives the server's start.
	if err := syscall.Kill(-script.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		require.NoError(l.t, err)
	}
	if !errors.Is(err, exec.ErrWaitDelay) {
		require.NoError(l.t, err, "it must never fail the start: %s", out)
	}
	return string(out)
}

func (l *lab) marker(i int) string { return filepath.Join(l.dir, fmt.Sprint(i), "settled") }

func TestARollingUpdateWithoutVolumes(t *testing.T) {
	l := newLab(t, 6)
	for i := range l.hosts {
		assert.Empty(t, l.rejoin(i), "a new cluster has nobody to come back to")
		assert.FileExists(t, l.marker(i))
	}
	l.converge(Bootstrap)
	keys := map[string]int{keyOfShard0: 0, keyOfShard1: 1, keyOfShard2: 2}
	for key, host := range keys {
		l.ask(host, "set", key, "ada")
	}
	for i := 5; i >= 0; i-- {
		l.handover(i, "30", "")
		assert.False(t, l.isPrimary(i))
		l.lose(i)
		assert.Contains(t, l.rejoin(i), "the cluster is ready: 3 primaries, 3 replicas")
		assert.FileExists(t, l.marker(i))
		l.assertWell()
		assert.Empty(t, l.rejoin(i), "a container that restarts is who it was")
	}
	for key := range keys {
		found := 0
		for i := range l.hosts {
			if out, err := l.client(i, "get", key).Output(); err == nil && strings.TrimSpace(string(out)) == "ada" {
				found++
			}
		}
		assert.Equal(t, 1, found, key)
	}

	l.add(1)
	require.Eventually(t, func() bool { return l.answers(6) }, 10*time.Second, 50*time.Millisecond)
	assert.Empty(t, l.rejoin(6), "a pod that is new is left to the run that wants it")
}

func TestAPodThatCannotComeBackIsNotReady(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	l.lose(1, 4) // both copies of a shard
	assert.Contains(t, l.rejoin(1), "FAILED: the slots 5461-10922 are lost")
	assert.NoFileExists(t, l.marker(1))
}

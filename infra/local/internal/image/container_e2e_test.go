//go:build linux && e2e

package image

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/require"
)

// container runs programs of an image as a strict pod does: as process 1, with no
// capability, over a root file system that is read-only, with a volume at the
// working directory.
type container struct {
	root   string
	config v1.Config
	user   int
}

// unpack unpacks an image, to be run as user.
func unpack(t *testing.T, archive Archive, user int) container {
	t.Helper()
	img, err := tarball.ImageFromPath(archive.Path, nil)
	require.NoError(t, err)
	config, err := img.ConfigFile()
	require.NoError(t, err)
	c := container{root: t.TempDir(), config: config.Config, user: user}
	require.NoError(t, os.Chmod(c.root, 0o755))
	files := mutate.Extract(img)
	defer files.Close()
	tar := exec.Command("tar", "--extract", "--preserve-permissions", "--numeric-owner", "--directory", c.root)
	tar.Stdin = files
	out, err := tar.CombinedOutput()
	require.NoError(t, err, string(out))
	return c
}

// become turns a process in new namespaces into the container's process 1.
const become = `set -eu
root=$1 user=$2 dir=$3; shift 3
ip link set lo up
mount --bind "$root" "$root"
mount --options remount,bind,ro "$root"
mount --types proc proc "$root/proc"
if [ "$dir" != / ]; then mount --types tmpfs --options "uid=$user" tmpfs "$root$dir"; fi
exec chroot "$root" setpriv --reuid "$user" --regid "$user" --clear-groups --bounding-set=-all --no-new-privs env --chdir="$dir" "$@"`

// command is a program as process 1 of a container.
func (c container) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	dir := c.config.WorkingDir
	if dir == "" {
		dir = "/"
	}
	words := append(isolated(), "sh", "-c", become, "sh", c.root, strconv.Itoa(c.user), dir)
	words = append(words, args...)
	// A network of its own: the ports of two containers do not meet.
	cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"--net", "--"}, words...)...)
	cmd.Env = c.config.Env
	return cmd
}

// output runs a program to its end.
func (c container) output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.command(t, args...).CombinedOutput()
	require.NoError(t, err, "%v: %s", args, out)
	return string(out)
}

// server is a container that runs on.
type server struct {
	cmd *exec.Cmd
	log *lines
}

// start starts the image as a pod without a command does.
func (c container) start(t *testing.T, args ...string) server {
	t.Helper()
	s := server{cmd: c.command(t, append(c.config.Entrypoint, args...)...), log: &lines{}}
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	require.NoError(t, s.cmd.Start())
	return s
}

// process1 returns the process's id outside of the container.
func (s server) process1(t *testing.T) int {
	t.Helper()
	parent := s.cmd.Process.Pid
	var child int
	waitUntil(t, s, "process 1 runs", func() bool {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
		require.NoError(t, err, s.log)
		child, err = strconv.Atoi(strings.TrimSpace(string(children)))
		return err == nil
	})
	return child
}

// waitUntil asks again and again, for as long as a start can take on a busy machine.
func waitUntil(t *testing.T, s server, what string, ask func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ask(); time.Sleep(50 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "waited until %s\n%s", what, s.log)
	}
}

// exec runs a program beside process 1, as kubectl exec does.
func (s server) exec(t *testing.T, env []string, args ...string) string {
	t.Helper()
	words := []string{"--target", strconv.Itoa(s.process1(t)), "--all", "--root", "--wd", "env"}
	out, err := exec.CommandContext(t.Context(), "nsenter", append(append(words, env...), args...)...).CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return strings.TrimSpace(string(out))
}

// terminate sends SIGTERM to process 1 and returns with which code it ends.
func (s server) terminate(t *testing.T, within time.Duration) int {
	t.Helper()
	require.NoError(t, syscall.Kill(s.process1(t), syscall.SIGTERM))
	ended := make(chan struct{})
	go func() { s.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		require.Fail(t, "SIGTERM was not heard", s.log)
		return -1
	}
}

// lines is what a server says; it can be read while more comes.
type lines struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

//go:build linux && e2e

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/local/internal/checkout"
)

// TestNode starts a node in a checkout of its own, uses it, kills it, starts it
// again and stops it. It needs root, and no other local cluster on this machine.
func TestNode(t *testing.T) {
	n := newTestNode(t)
	before := machineState(t)

	n.local(t, "up")
	first := runningNode(t)
	t.Run("a second up changes nothing and is quick", func(t *testing.T) {
		start := time.Now()
		assert.Contains(t, n.local(t, "up"), "up already")
		assert.Less(t, time.Since(start), 2*time.Second)
		assert.Equal(t, first, runningNode(t))
	})
	n.kubectl(t, "apply", "--filename", "testdata/smoke.yaml")
	n.kubectl(t, "wait", "--for=condition=Ready", "pod/web", "pod/client", "--timeout=60s")
	web := n.kubectl(t, "get", "pod", "web", "--output=jsonpath={.status.podIP}")
	service := n.kubectl(t, "get", "service", "web", "--output=jsonpath={.spec.clusterIP}")

	t.Run("logs are read", func(t *testing.T) {
		assert.Equal(t, "started", n.kubectl(t, "logs", "web"))
	})
	for name, address := range map[string]string{
		"pod":                 web + " 8080",
		"Service":             service + " 80",
		"Service's name":      "web 80",
		"Service's long name": "web.default.svc.cluster.local 80",
	} {
		t.Run("a pod reaches another by the "+name, func(t *testing.T) {
			assert.Contains(t, n.inClient(t, "printf 'GET /index.html HTTP/1.0\r\n\r\n' | nc -w 5 "+address), "hello")
		})
	}
	for name, address := range map[string]string{
		"pod":       web + ":8080",
		"Service":   service,
		"node port": nodeAddress + ":30080",
	} {
		t.Run("the machine reaches the "+name, func(t *testing.T) {
			assert.Equal(t, "hello\n", fetch(t, "http://"+address+"/index.html"))
		})
	}
	t.Run("a name outside the cluster does not exist", func(t *testing.T) {
		assert.Contains(t, n.inClient(t, "nslookup example.org 2>&1 || true"), "NXDOMAIN")
	})
	t.Run("a NetworkPolicy refuses whom it does not name", func(t *testing.T) {
		n.kubectl(t, "apply", "--filename", "testdata/policy.yaml")
		eventually(t, "the client is not refused", func() bool { return !n.connects(t, web) })
		n.kubectl(t, "label", "pod", "client", "access=yes")
		eventually(t, "the client is still refused", func() bool { return n.connects(t, web) })
		n.kubectl(t, "delete", "networkpolicy", "web")
	})
	t.Run("the address of a deleted pod is refused at once", func(t *testing.T) {
		n.kubectl(t, "exec", "web", "--", "sh", "-c", "echo kept > /data/file; sync")
		require.True(t, n.connects(t, web)) // whoever talked to it just now waits longest
		n.kubectl(t, "delete", "pod", "web")
		// Many at once: the kernel by itself would tell only one of them a second.
		out := n.inClient(t, "read from _ </proc/uptime\nfor i in 1 2 3 4 5 6 7 8; do nc -w 30 "+web+" 8080 </dev/null >/dev/null 2>&1 && echo connected & done\nwait; read to _ </proc/uptime; echo $from $to")
		var from, to float64
		_, err := fmt.Sscan(out, &from, &to)
		require.NoError(t, err, out)
		assert.LessOrEqual(t, to-from, 1.5)
	})

	t.Run("a kill of the machine's side leaves no process of the node", func(t *testing.T) {
		alive := processes(t, first)
		require.NotEmpty(t, alive)
		require.NoError(t, syscall.Kill(first.Pid, syscall.SIGKILL))
		eventually(t, "processes stay", func() bool { return len(processes(t, first)) == 0 })
	})
	t.Run("without a node its addresses are unreachable", func(t *testing.T) {
		// The kernel takes the node's network away a little after its processes.
		eventually(t, "the node's addresses lead somewhere", func() bool {
			_, err := net.DialTimeout("tcp", web+":8080", 5*time.Second)
			return errors.Is(err, syscall.EHOSTUNREACH)
		})
	})
	n.local(t, "up")
	t.Run("volumes and pods are back after a kill", func(t *testing.T) {
		n.kubectl(t, "apply", "--filename", "testdata/smoke.yaml")
		n.kubectl(t, "wait", "--for=condition=Ready", "pod/web", "pod/client", "--timeout=60s")
		assert.Equal(t, "kept", n.kubectl(t, "exec", "web", "--", "cat", "/data/file"))
	})
	last := runningNode(t)
	n.local(t, "down")
	t.Run("down leaves nothing on the machine", func(t *testing.T) {
		assert.Equal(t, before, machineState(t))
		eventually(t, "processes stay", func() bool { return len(processes(t, last)) == 0 })
	})
	n.local(t, "down", "--wipe")
	t.Run("down --wipe leaves no state", func(t *testing.T) {
		for _, path := range []string{"cluster", "api", "kubeconfig"} {
			assert.NoFileExists(t, n.checkout.Local(path))
			assert.NoDirExists(t, n.checkout.Local(path))
		}
	})
}

// TestAPITier needs no root, and no other API tier on this machine.
func TestAPITier(t *testing.T) {
	n := newTestNode(t)
	n.local(t, "api", "up")
	tier := func(args ...string) string {
		t.Helper()
		return run(t, kubectl(t.Context(), n.checkout, n.checkout.Local("api", "kubeconfig"), args...))
	}
	tier("apply", "--filename", "testdata/fake.yaml")
	tier("wait", "--for=condition=Ready", "node/fake", "pod/fake", "--timeout=30s")
	t.Run("a second up changes nothing", func(t *testing.T) {
		assert.Contains(t, n.local(t, "api", "up"), "up already")
	})
	running, err := whoRuns(t.Context(), apiSocket)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(running.Pid, syscall.SIGKILL))
	n.local(t, "api", "up")
	t.Run("objects are back after a kill", func(t *testing.T) {
		assert.Equal(t, "fake", tier("get", "pod", "fake", "--output=jsonpath={.spec.nodeName}"))
	})
	n.local(t, "api", "down")
	t.Run("down frees the ports", func(t *testing.T) {
		assert.NoError(t, portsFree(apiControlPlane(n.checkout).ports()...))
	})
}

// testNode is a checkout with its own state, and the program to run in it.
type testNode struct {
	program  string
	checkout checkout.Checkout
}

func newTestNode(t *testing.T) testNode {
	t.Helper()
	sources, err := filepath.Abs("../../..")
	require.NoError(t, err)
	root := t.TempDir()
	require.NoError(t, os.Symlink(sources, filepath.Join(root, "infra")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "Pulumi.yaml"), nil, 0o600))
	n := testNode{filepath.Join(root, "local"), checkout.Checkout{Root: root}}
	compile := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", n.program, "kvinfra/infra/local")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	run(t, compile)
	t.Cleanup(func() { n.local(t, "down", "--wipe") })
	return n
}

// local runs a command of the program in the checkout.
func (n testNode) local(t *testing.T, args ...string) string {
	t.Helper()
	start := time.Now()
	cmd := exec.Command(n.program, args...)
	cmd.Dir = n.checkout.Root
	out := run(t, cmd)
	t.Logf("local %s: %.1f s", strings.Join(args, " "), time.Since(start).Seconds())
	return out
}

func (n testNode) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, kubectl(t.Context(), n.checkout, n.checkout.Local("kubeconfig"), args...))
}

func (n testNode) inClient(t *testing.T, script string) string {
	t.Helper()
	return n.kubectl(t, "exec", "client", "--", "sh", "-c", script)
}

// connects tells whether the client pod reaches the web server at address.
func (n testNode) connects(t *testing.T, address string) bool {
	t.Helper()
	return n.inClient(t, "nc -w 5 "+address+" 8080 </dev/null >/dev/null 2>&1 && echo yes || echo no") == "yes"
}

func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", cmd, out)
	return strings.TrimSpace(string(out))
}

func runningNode(t *testing.T) presence {
	t.Helper()
	running, err := whoRuns(t.Context(), nodeSocket)
	require.NoError(t, err)
	require.NotNil(t, running)
	return *running
}

// processes returns those that are, or were, in the node of p.
func processes(t *testing.T, p presence) []string {
	t.Helper()
	all, err := procfs.AllProcs()
	require.NoError(t, err)
	var found []string
	for _, process := range all {
		cgroups, err := process.Cgroups()
		if err != nil {
			continue // it just ended
		}
		for _, group := range cgroups {
			if strings.HasPrefix(group.Path, podsGroup) {
				found = append(found, fmt.Sprint(process.PID))
				break
			}
		}
		if process.PID == p.Pid {
			found = append(found, fmt.Sprint(process.PID))
		}
	}
	return found
}

// machineState describes what a node must leave as it was.
func machineState(t *testing.T) map[string]string {
	t.Helper()
	state := map[string]string{}
	routes, err := machineRoutes()
	require.NoError(t, err)
	state["routes"] = fmt.Sprint(routes)
	for name, pattern := range map[string]string{
		"interfaces": "/sys/class/net/*",
		"cgroups":    "/sys/fs/cgroup/*/kvinfra*",
		"/run":       "/run/*",
		"/var":       "/var/*/*",
	} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		state[name] = strings.Join(files, " ")
	}
	for _, file := range []string{
		"/proc/mounts", "/proc/sys/net/ipv4/ip_forward",
		"/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops", "/proc/sys/vm/overcommit_memory",
	} {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		state[file] = string(content)
	}
	rules, err := exec.Command("nft", "list", "ruleset").CombinedOutput()
	require.NoError(t, err)
	state["firewall"] = string(rules)
	return state
}

func eventually(t *testing.T, problem string, check func() bool) {
	t.Helper()
	require.NoError(t, wait(t.Context(), 15*time.Second, problem, func(context.Context) error {
		if !check() {
			return errors.New("not within 15 s")
		}
		return nil
	}))
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

package spec

import (
	"context"
	"fmt"
	"hash/crc32"
	"net"
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

// These tests run the script against real servers, each on a loopback address of
// its own, as each pod has one.

const password = "p w"

type lab struct {
	t       *testing.T
	dir     string
	port    string
	hosts   []string
	servers []*exec.Cmd
}

func newLab(t *testing.T, nodes int) *lab {
	t.Helper()
	if _, err := exec.LookPath("valkey-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("valkey-server is not on PATH; make test puts it there")
		}
		t.Skip("valkey-server is not on PATH; make test puts it there")
	}
	t.Parallel()
	// A network of its own for each test of each run, by its process and its name.
	network := fmt.Sprintf("127.%d.%d", 1+os.Getpid()%250, 1+crc32.ChecksumIEEE([]byte(t.Name()))%250)
	l := &lab{t: t, dir: t.TempDir(), port: freePort(t, network+".11")}
	for i := range nodes {
		l.hosts = append(l.hosts, fmt.Sprintf("%s.%d", network, 11+i))
		l.servers = append(l.servers, nil)
		l.start(i)
	}
	return l
}

// freePort returns a port that is free together with the bus port above it.
func freePort(t *testing.T, address string) string {
	t.Helper()
	for port := 20000; port < 30000; port += 7 {
		client, err := net.Listen("tcp", fmt.Sprintf("%s:%d", address, port))
		if err != nil {
			continue
		}
		defer client.Close()
		bus, err := net.Listen("tcp", fmt.Sprintf("%s:%d", address, port+BusPort-ClientPort))
		if err != nil {
			continue
		}
		defer bus.Close()
		return fmt.Sprint(port)
	}
	t.Fatal("no free port")
	return ""
}

// start starts node i on the volume it has.
func (l *lab) start(i int) {
	l.t.Helper()
	dir := filepath.Join(l.dir, fmt.Sprint(i))
	require.NoError(l.t, os.MkdirAll(dir, 0o700))
	config, err := AuthConfig(password)
	require.NoError(l.t, err)
	require.NoError(l.t, os.WriteFile(filepath.Join(dir, "auth.conf"), []byte(config), 0o600))
	server := exec.Command("valkey-server",
		"--include", filepath.Join(dir, "auth.conf"), "--dir", dir, "--bind", l.hosts[i], "--port", l.port,
		"--cluster-enabled", "yes", "--cluster-announce-ip", l.hosts[i], "--cluster-node-timeout", "1000",
		"--cluster-allow-replica-migration", "no", "--appendonly", "yes", "--save", "")
	// A test that is killed leaves no server behind.
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(l.t, server.Start())
	l.servers[i] = server
	l.t.Cleanup(func() { l.stop(i) })
}

func (l *lab) stop(i int) {
	if l.servers[i] != nil {
		_ = l.servers[i].Process.Kill()
		_ = l.servers[i].Wait()
		l.servers[i] = nil
	}
}

// startEmpty starts node i, which was stopped, on an empty volume.
func (l *lab) startEmpty(i int) {
	require.NoError(l.t, os.RemoveAll(filepath.Join(l.dir, fmt.Sprint(i))))
	l.start(i)
}

func (l *lab) ask(i int, words ...string) string {
	l.t.Helper()
	cli := exec.Command("valkey-cli", append([]string{"-e", "-h", l.hosts[i], "-p", l.port}, words...)...)
	cli.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
	out, err := cli.CombinedOutput()
	require.NoError(l.t, err, "%v: %s", words, out)
	return strings.TrimSpace(string(out))
}

func (l *lab) script(ctx context.Context, cli string, bootstrap bool, deadline int) *exec.Cmd {
	run := exec.CommandContext(ctx, "bash", "converge.sh")
	run.Env = append(os.Environ(),
		"REDISCLI_AUTH="+password, "CLI="+cli, "HOSTS="+strings.Join(l.hosts, " "), "PORT="+l.port,
		"PRIMARIES=3", fmt.Sprintf("BOOTSTRAP=%t", bootstrap), fmt.Sprintf("DEADLINE_SECONDS=%d", deadline))
	return run
}

func (l *lab) converge(bootstrap bool, deadline int) (string, error) {
	out, err := l.script(l.t.Context(), "valkey-cli", bootstrap, deadline).CombinedOutput()
	return string(out), err
}

// layout says who serves what, as node 0 sees it: "0: 0-5460", "3: replica of 0".
func (l *lab) layout() []string {
	l.t.Helper()
	number, lines := map[string]int{}, strings.Split(l.ask(0, "cluster", "nodes"), "\n")
	for _, line := range lines {
		fields := strings.Fields(line)
		for i, host := range l.hosts {
			if strings.HasPrefix(fields[1], host+":") {
				number[fields[0]] = i
			}
		}
	}
	layout := make([]string, len(l.hosts))
	for _, line := range lines {
		fields := strings.Fields(line)
		i, known := number[fields[0]]
		require.True(l.t, known, "a stranger: %s", line)
		if fields[3] != "-" {
			layout[i] = fmt.Sprintf("replica of %d", number[fields[3]])
		} else {
			layout[i] = strings.Join(fields[8:], " ")
		}
	}
	return layout
}

func seedLayout() []string {
	return []string{"0-5460", "5461-10922", "10923-16383", "replica of 0", "replica of 1", "replica of 2"}
}

func TestANewCluster(t *testing.T) {
	l := newLab(t, 6)
	out, err := l.converge(true, 30)
	require.NoError(t, err, out)
	assert.Contains(t, out, "the cluster is ready: 3 primaries, 3 replicas")
	assert.Equal(t, seedLayout(), l.layout())

	before := l.ask(0, "cluster", "myid")
	out, err = l.converge(false, 30)
	require.NoError(t, err, out)
	assert.NotContains(t, out, "replicates", "a second run does nothing")
	assert.Equal(t, seedLayout(), l.layout())
	assert.Equal(t, before, l.ask(0, "cluster", "myid"))
}

func TestOnlyAnAllowedRunBootstraps(t *testing.T) {
	l := newLab(t, 6)
	out, err := l.converge(false, 30)
	assert.Error(t, err)
	assert.Contains(t, out, "FAILED: nobody owns the slots 0 16383 and all nodes are empty")
	assert.Equal(t, make([]string, 6), l.layout(), "slots were given out")
}

func TestARunThatWasKilledIsRepeated(t *testing.T) {
	// A client that does what it is asked to and then hangs, at the n-th change.
	const hanging = `#!/bin/bash
valkey-cli "$@"; rc=$?
case "$*" in
*"cluster meet"*|*"cluster addslotsrange"*|*"cluster replicate"*)
  echo >>"$COUNT"
  if [ "$(wc -l <"$COUNT")" -ge "$N" ]; then touch "$COUNT.reached"; sleep 60; fi;;
esac
exit $rc
`
	// In a new cluster 30 meetings come first, then 3 ranges of slots and 3 replicas.
	for _, n := range []int{1, 7, 31, 33, 34, 36} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			l := newLab(t, 6)
			cli, count := filepath.Join(l.dir, "cli"), filepath.Join(l.dir, "count")
			require.NoError(t, os.WriteFile(cli, []byte(hanging), 0o700))
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			first := l.script(ctx, cli, true, 30)
			first.Env = append(first.Env, "COUNT="+count, fmt.Sprintf("N=%d", n))
			require.NoError(t, first.Start())
			ended := make(chan error, 1)
			go func() { ended <- first.Wait() }()
			require.Eventually(t, func() bool {
				_, err := os.Stat(count + ".reached")
				return err == nil || len(ended) > 0
			}, 30*time.Second, 20*time.Millisecond)
			_ = first.Process.Kill()

			out, err := l.converge(true, 30)
			require.NoError(t, err, out)
			assert.Equal(t, seedLayout(), l.layout())
		})
	}
}

func TestANodeThatLostItsVolumeComesBack(t *testing.T) {
	for role, lost := range map[string]int{"a replica": 4, "a primary": 1} {
		t.Run(role, func(t *testing.T) {
			l := newLab(t, 6)
			out, err := l.converge(true, 30)
			require.NoError(t, err, out)
			l.ask(1, "set", "user:1002", "ada") // slot 5474, on node 1
			l.stop(lost)
			if lost == 1 {
				require.Eventually(t, func() bool {
					return strings.Contains(l.ask(4, "role"), "master")
				}, 20*time.Second, 100*time.Millisecond, "the replica takes over")
			}
			l.startEmpty(lost)
			out, err = l.converge(false, 40)
			require.NoError(t, err, out)
			assert.Contains(t, out, "forget ")
			layout := l.layout()
			if lost == 1 {
				assert.Equal(t, []string{"0-5460", "replica of 4", "10923-16383", "replica of 0", "5461-10922", "replica of 2"}, layout)
				assert.Equal(t, "ada", l.ask(4, "get", "user:1002"))
			} else {
				assert.Equal(t, seedLayout(), layout)
			}
		})
	}
}

func TestAFailoverIsKept(t *testing.T) {
	l := newLab(t, 6)
	out, err := l.converge(true, 30)
	require.NoError(t, err, out)
	l.ask(3, "cluster", "failover")
	require.Eventually(t, func() bool { return strings.Contains(l.ask(3, "role"), "master") }, 10*time.Second, 50*time.Millisecond)
	out, err = l.converge(false, 30)
	require.NoError(t, err, out)
	assert.Equal(t, []string{"replica of 3", "5461-10922", "10923-16383", "0-5460", "replica of 1", "replica of 2"}, l.layout())
}

func TestAMissingNodeIsNamed(t *testing.T) {
	l := newLab(t, 6)
	l.stop(4)
	out, err := l.converge(true, 3)
	assert.Error(t, err)
	assert.Contains(t, out, "FAILED: "+l.hosts[4]+" does not answer")
}

func TestAWrongPasswordIsNamed(t *testing.T) {
	l := newLab(t, 3)
	run := l.script(t.Context(), "valkey-cli", true, 2)
	run.Env = append(run.Env, "REDISCLI_AUTH=wrong")
	out, err := run.CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "FAILED: "+l.hosts[0]+" does not answer")
	assert.Contains(t, string(out), "WRONGPASS")
}

func TestLostDataIsNotPaperedOver(t *testing.T) {
	l := newLab(t, 6)
	out, err := l.converge(true, 30)
	require.NoError(t, err, out)
	for _, i := range []int{1, 4} { // both copies of a shard
		l.stop(i)
		l.startEmpty(i)
	}
	out, err = l.converge(true, 30)
	assert.Error(t, err)
	assert.Contains(t, out, "owns slots but is none of the pods: its data is lost")
}

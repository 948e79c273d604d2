package spec

import (
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

// The tests of the scripts run them against real servers, each on a loopback address of
// its own, as each pod has one.

const (
	password    = `p w"#'$(X)\ü`
	nodeTimeout = "1500"
)

type lab struct {
	t       *testing.T
	dir     string
	network string
	port    string
	hosts   []string
	servers []*exec.Cmd
}

func newLab(t *testing.T, nodes int) *lab {
	t.Helper()
	t.Parallel()
	return newLoneLab(t, nodes)
}

// newLoneLab is newLab for a test that measures time: none other runs meanwhile.
func newLoneLab(t *testing.T, nodes int) *lab {
	t.Helper()
	if _, err := exec.LookPath("valkey-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("valkey-server is not on PATH; make test puts it there")
		}
		t.Skip("valkey-server is not on PATH; make test puts it there")
	}
	// A network of its own for each test of each run, by its process and its name.
	network := fmt.Sprintf("127.%d.%d", 1+os.Getpid()%250, 1+crc32.ChecksumIEEE([]byte(t.Name()))%250)
	l := &lab{t: t, dir: t.TempDir(), network: network, port: freePort(t, network+".11")}
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "password"), []byte(password), 0o600))
	l.add(nodes)
	return l
}

// add starts more nodes.
func (l *lab) add(nodes int) {
	l.t.Helper()
	for range nodes {
		l.hosts = append(l.hosts, fmt.Sprintf("%s.%d", l.network, 11+len(l.hosts)))
		l.servers = append(l.servers, nil)
		l.start(len(l.hosts) - 1)
	}
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
	file := filepath.Join(dir, "password")
	require.NoError(l.t, os.WriteFile(file, []byte(password), 0o600))
	server := exec.Command("bash", StartFile, file, "valkey-server", "--dir", dir, "--bind", l.hosts[i], "--port", l.port,
		"--cluster-enabled", "yes", "--cluster-announce-ip", l.hosts[i], "--cluster-node-timeout", nodeTimeout, "--repl-diskless-sync-delay", "0",
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

// lose stops nodes and starts them again on empty volumes.
func (l *lab) lose(nodes ...int) {
	for _, i := range nodes {
		l.stop(i)
	}
	for _, i := range nodes {
		l.startEmpty(i)
	}
}

func (l *lab) startEmpty(i int) {
	l.t.Helper()
	require.NoError(l.t, os.RemoveAll(filepath.Join(l.dir, fmt.Sprint(i))))
	l.start(i)
}

func (l *lab) ask(i int, words ...string) string {
	l.t.Helper()
	out, err := l.client(i, words...).CombinedOutput()
	require.NoError(l.t, err, "%v: %s", words, out)
	return strings.TrimSpace(string(out))
}

func (l *lab) try(i int, words ...string) error { return l.client(i, words...).Run() }

func (l *lab) answers(i int) bool { return l.try(i, "cluster", "myid") == nil }

func (l *lab) client(i int, words ...string) *exec.Cmd {
	cli := exec.Command("valkey-cli", append([]string{"-e", "-h", l.hosts[i], "-p", l.port}, words...)...)
	cli.Env = append(os.Environ(), "REDISCLI_AUTH="+password)
	return cli
}

// pod returns a folder with the scripts of a server's pod.
func (l *lab) pod() string {
	l.t.Helper()
	dir := filepath.Join(l.dir, "scripts")
	require.NoError(l.t, os.MkdirAll(dir, 0o700))
	files := Cluster{Storage: Storage{None: true}}.LifecycleScripts("")
	files[FamilyFile] = variablesFile([]Variable{{"FAMILY", l.family()}})
	for name, text := range files {
		require.NoError(l.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func (l *lab) family() string { return l.network + ".*" }

// script returns a run of the script, with settings as "NAME=value" that differ
// from those of three shards with a replica each.
func (l *lab) script(mode Mode, settings ...string) *exec.Cmd {
	l.t.Helper()
	run := exec.CommandContext(l.t.Context(), "bash", ConvergeFile)
	run.Env = append(os.Environ(),
		"PASSWORD_FILE="+filepath.Join(l.dir, "password"), "CLI=valkey-cli", "PORT="+l.port, "HOSTS="+strings.Join(l.hosts, " "), "SHARDS=",
		"FAMILY="+l.family(), "PRIMARIES=3", "REPLICAS=1", "NODE_TIMEOUT="+nodeTimeout, "VERSION=", "DEADLINE_SECONDS=40", "MODE="+string(mode))
	run.Env = append(run.Env, settings...)
	return run
}

func (l *lab) run(mode Mode, settings ...string) (string, error) {
	out, err := l.script(mode, settings...).CombinedOutput()
	return string(out), err
}

// converge is run for what must succeed. It returns what the script said.
func (l *lab) converge(mode Mode, settings ...string) string {
	l.t.Helper()
	out, err := l.run(mode, settings...)
	require.NoError(l.t, err, out)
	return out
}

// refused is run for what must fail. It returns the last line.
func (l *lab) refused(mode Mode, settings ...string) string {
	l.t.Helper()
	out, err := l.run(mode, settings...)
	require.Error(l.t, err, out)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return lines[len(lines)-1]
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

// assertWell requires what a run of the script promises, from every node's view.
func (l *lab) assertWell() {
	l.t.Helper()
	for i, host := range l.hosts {
		info := l.ask(i, "cluster", "info")
		assert.Contains(l.t, info, "cluster_state:ok", host)
		assert.Contains(l.t, info, "cluster_slots_ok:16384", host)
		assert.Contains(l.t, info, fmt.Sprintf("cluster_known_nodes:%d\r", len(l.hosts)), host)
		assert.Equal(l.t, "cluster-node-timeout\n"+nodeTimeout, l.ask(i, "config", "get", "cluster-node-timeout"), host)
		if !l.isPrimary(i) {
			assert.Contains(l.t, l.ask(i, "info", "replication"), "master_link_status:up", host)
		}
	}
}

func (l *lab) isPrimary(i int) bool { return strings.HasPrefix(l.ask(i, "role"), "master") }

// becomesPrimary waits until node i took over.
func (l *lab) becomesPrimary(i int) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.isPrimary(i) }, 30*time.Second, 50*time.Millisecond, "node %d takes over", i)
}

func seedLayout() []string {
	return []string{"0-5460", "5461-10922", "10923-16383", "replica of 0", "replica of 1", "replica of 2"}
}

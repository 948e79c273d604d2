package spec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Keys, and the shard of the seed's layout that each is in.
const (
	keyOfShard0 = "user:1000" // slot 1649
	keyOfShard1 = "user:1001" // slot 5712
	keyOfShard2 = "user:1003" // slot 13842
)

func TestANewCluster(t *testing.T) {
	l := newLab(t, 6)
	out := l.converge(Bootstrap)
	t.Log(out)
	assert.Contains(t, out, "the cluster is ready: 3 primaries, 3 replicas")
	assert.Equal(t, seedLayout(), l.layout())
	l.assertWell()

	out = l.converge(Converge)
	older := l.script(Repair)
	older.Env = slices.DeleteFunc(older.Env, func(v string) bool {
		return strings.HasPrefix(v, "VERSION=") || strings.HasPrefix(v, "SHARDS=") || strings.HasPrefix(v, "PASSWORD_FILE=")
	})
	older.Env = append(older.Env, "REDISCLI_AUTH="+password)
	said, err := older.CombinedOutput()
	assert.NoError(t, err, "a Job of an older version runs the script too: %s", said)
	file := filepath.Join(l.dir, InitFile)
	require.NoError(t, os.WriteFile(file, []byte(variablesFile([]Variable{{"HOSTS", strings.Join(l.hosts, " ")}, {"DEADLINE_SECONDS", "40"}})), 0o600))
	once := l.script(Bootstrap, "HOSTS=nowhere", "DEADLINE_SECONDS=0")
	once.Args = append(once.Args, file)
	said, err = once.CombinedOutput()
	assert.NoError(t, err, "what the file has counts: %s", said)
	for _, change := range []string{"replicate ", "slots", "forget"} {
		assert.NotContains(t, out, change, "a second run does nothing")
	}
	assert.Equal(t, seedLayout(), l.layout())
}

// The clock of this test is an outside one, from the moment at which all servers
// answer. The script must not end before what it says is true. Others may use the
// machine, so one of three must be quick.
func TestANewClusterIsQuick(t *testing.T) {
	const limit = 4 * time.Second // on two free cores it takes less than 2
	var took time.Duration
	for try := range 3 {
		t.Run(strconv.Itoa(try), func(t *testing.T) {
			l := newLoneLab(t, 6)
			require.Eventually(t, func() bool {
				return !slices.ContainsFunc([]int{0, 1, 2, 3, 4, 5}, func(i int) bool { return !l.answers(i) })
			}, 10*time.Second, 20*time.Millisecond)
			start := time.Now()
			l.converge(Bootstrap)
			took = time.Since(start)
			l.assertWell()
			load, err := os.ReadFile("/proc/loadavg")
			require.NoError(t, err)
			t.Logf("a cluster of answering servers formed in %.1f s; load average %s", took.Seconds(), load)
		})
		if took < limit {
			return
		}
	}
	assert.Less(t, took, limit)
}

func TestTwoRunsAtOnce(t *testing.T) {
	l := newLab(t, 6)
	first := l.script(Bootstrap)
	require.NoError(t, first.Start())
	l.converge(Bootstrap)
	require.NoError(t, first.Wait())
	assert.Equal(t, seedLayout(), l.layout())
	l.assertWell()
}

func TestOnlyAnAllowedRunBootstraps(t *testing.T) {
	l := newLab(t, 6)
	for _, mode := range []Mode{Converge, Repair} {
		assert.Contains(t, l.refused(mode), "FAILED: nobody owns the slots 0-16383 and all nodes are empty")
	}
	assert.Equal(t, make([]string, 6), l.layout(), "slots were given out")
}

func TestARunThatWasKilledIsRepeated(t *testing.T) {
	// A client that hangs after the n-th command of a kind, which it carries out.
	const hanging = `#!/bin/bash
words="$*"
if [[ -p /dev/stdin || -f /dev/stdin ]]; then words+=" $(cat | tee "$LOG.in$$")"; exec <"$LOG.in$$"; fi
valkey-cli "$@"; rc=$?
if [[ $words == *"$KIND"* ]]; then
  echo >>"$LOG"
  if [ "$(wc -l <"$LOG")" -ge "$N" ]; then touch "$LOG.reached"; sleep 60; fi
fi
exit $rc
`
	for i, point := range []struct {
		kind string
		n    int
	}{
		{"set-config-epoch", 1}, {"set-config-epoch", 6},
		{"addslotsrange", 1}, {"addslotsrange", 2}, {"addslotsrange", 3},
		{"cluster meet", 1}, {"cluster meet", 4}, {"cluster meet", 6},
		{"cluster replicate", 1}, {"cluster replicate", 2}, {"cluster replicate", 3},
		{"cluster-node-timeout " + nodeTimeout, 1}, {"cluster-node-timeout " + nodeTimeout, 6},
		{"cluster shards", 1},
	} {
		t.Run(point.kind+" "+strconv.Itoa(point.n), func(t *testing.T) {
			if i%3 != 0 && os.Getenv("CHAOS") == "" {
				t.Skip("one of three, but for make chaos")
			}
			l := newLab(t, 6)
			cli, log := filepath.Join(l.dir, "cli"), filepath.Join(l.dir, "log")
			require.NoError(t, os.WriteFile(cli, []byte(hanging), 0o700))
			first := l.script(Bootstrap, "CLI="+cli, "LOG="+log, "KIND="+point.kind, fmt.Sprintf("N=%d", point.n))
			first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // killed with all that it started
			var said bytes.Buffer
			first.Stdout, first.Stderr = &said, &said
			require.NoError(t, first.Start())
			ended := make(chan error, 1)
			go func() { ended <- first.Wait() }()
			reached := assert.Eventually(t, func() bool {
				_, err := os.Stat(log + ".reached")
				return err == nil || len(ended) > 0
			}, 40*time.Second, 20*time.Millisecond)
			_ = syscall.Kill(-first.Process.Pid, syscall.SIGKILL)
			err := <-ended
			require.True(t, reached)
			require.EqualError(t, err, "signal: killed", "the script ended before it was killed: %s", &said)

			l.converge(Bootstrap)
			assert.Equal(t, seedLayout(), l.layout())
			l.assertWell()
		})
	}
}

func TestANodeThatLostItsVolumeComesBack(t *testing.T) {
	for what, tc := range map[string]struct {
		lost     int
		takeOver bool // before the script runs
		want     []string
	}{
		"a replica": {4, false, seedLayout()},
		"a primary": {1, true, []string{"0-5460", "replica of 4", "10923-16383", "replica of 0", "5461-10922", "replica of 2"}},
		"a primary whose replica did not yet take over": {1, false, []string{"0-5460", "replica of 4", "10923-16383", "replica of 0", "5461-10922", "replica of 2"}},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t, 6)
			l.converge(Bootstrap)
			l.ask(1, "set", keyOfShard1, "ada")
			l.stop(tc.lost)
			if tc.takeOver {
				l.becomesPrimary(4)
			}
			l.startEmpty(tc.lost)
			out := l.converge(Repair)
			assert.Contains(t, out, "forget ")
			assert.Equal(t, tc.want, l.layout())
			l.assertWell()
			for _, i := range []int{1, 4} {
				if l.isPrimary(i) {
					assert.Equal(t, "ada", l.ask(i, "get", keyOfShard1))
				}
			}
		})
	}
}

func TestAFailoverIsKept(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	l.ask(3, "cluster", "failover")
	l.becomesPrimary(3)
	l.converge(Converge)
	assert.Equal(t, []string{"replica of 3", "5461-10922", "10923-16383", "0-5460", "replica of 1", "replica of 2"}, l.layout())
	l.assertWell()
}

// A primary comes back that was away while two others took over one after the
// other. It has no slots, is no replica, and nothing but the script ends that.
func TestAPrimaryWithoutSlotsIsAttached(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	l.stop(1)
	l.becomesPrimary(4)
	l.add(1)
	require.Eventually(t, func() bool { return l.answers(6) }, 10*time.Second, 50*time.Millisecond)
	l.ask(6, "cluster", "meet", l.hosts[4], l.port)
	id := l.ask(4, "cluster", "myid")
	require.Eventually(t, func() bool {
		return strings.Contains(l.ask(6, "cluster", "nodes"), id+" "+l.hosts[4])
	}, 10*time.Second, 50*time.Millisecond)
	require.Eventually(t, func() bool { return l.try(6, "cluster", "replicate", id) == nil }, 10*time.Second, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		return strings.Contains(l.ask(6, "info", "replication"), "master_link_status:up")
	}, 20*time.Second, 50*time.Millisecond)
	l.stop(4)
	l.becomesPrimary(6)
	l.start(1)
	l.start(4)

	l.converge(Repair, "REPLICAS=2")
	layout := l.layout()
	// Nodes 1 and 4 came back together: which of them goes where copies are fewest
	// depends on what each has found by itself.
	assert.Contains(t, []string{layout[1], layout[4]}, "replica of 6")
	for _, i := range []int{1, 4} {
		assert.Regexp(t, "^replica of [026]$", layout[i])
		layout[i] = "a replica"
	}
	assert.Equal(t, []string{"0-5460", "a replica", "10923-16383", "replica of 0", "a replica", "replica of 2", "5461-10922"}, layout)
	l.assertWell()
}

func TestAnUpdateUnderWayIsWaitedFor(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	for i := range l.hosts {
		if err := l.try(i, "config", "set", "cluster-announce-human-nodename", "old"); err != nil {
			t.Skip("needs a server that has cluster-announce-human-nodename")
		}
	}
	assert.Contains(t, l.refused(Converge, "VERSION=new", "DEADLINE_SECONDS=3"), l.hosts[0]+" is not yet updated: it is old, not new")
	l.converge(Repair, "VERSION=new")
	for i := range l.hosts {
		l.ask(i, "config", "set", "cluster-announce-human-nodename", "new")
	}
	l.converge(Converge, "VERSION=new")
}

func TestAMissingNodeIsNamed(t *testing.T) {
	l := newLab(t, 6)
	l.stop(4)
	assert.Contains(t, l.refused(Bootstrap, "DEADLINE_SECONDS=3"), "FAILED: "+l.hosts[4]+" does not answer: Could not connect")
}

func TestAWrongPasswordIsNamed(t *testing.T) {
	l := newLab(t, 3)
	file := filepath.Join(l.dir, "wrong")
	require.NoError(t, os.WriteFile(file, []byte("wrong"), 0o600))
	last := l.refused(Bootstrap, "DEADLINE_SECONDS=2", "PASSWORD_FILE="+file)
	assert.Contains(t, last, "FAILED: "+l.hosts[0]+" does not answer: ")
	assert.Regexp(t, "WRONGPASS|AUTH failed", last)
}

func TestStrangers(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	first := strings.Join(l.hosts[1:], " ")
	for _, mode := range []Mode{Repair, Converge, AcceptLoss} {
		last := l.refused(mode, "HOSTS="+first, "FAMILY="+l.network+".1[2-6]")
		assert.Contains(t, last, "FAILED: the slots 0-5460 are claimed by a stranger")
		assert.Contains(t, last, ` at "`+l.hosts[0]+":"+l.port)
		assert.NotContains(t, last, "acceptDataLoss")
		assert.NotContains(t, last, "volume")
	}
	five := strings.Join(l.hosts[:5], " ")
	assert.Contains(t, l.refused(Converge, "HOSTS="+five), l.hosts[5]+" is in the cluster, but is not wanted")
	assert.Equal(t, seedLayout(), l.layout(), "nothing was changed")

	// Without slots it is only forgotten.
	l.add(1)
	require.Eventually(t, func() bool { return l.answers(6) }, 10*time.Second, 50*time.Millisecond)
	l.ask(0, "cluster", "meet", l.hosts[6], l.port)
	id := l.ask(6, "cluster", "myid")
	for i := range 6 {
		require.Eventually(t, func() bool { return strings.Contains(l.ask(i, "cluster", "nodes"), id) }, 10*time.Second, 50*time.Millisecond)
	}
	out := l.converge(Repair, "HOSTS="+strings.Join(l.hosts[:6], " "), "FAMILY="+l.network+".1[1-6]")
	assert.Contains(t, out, "forget "+id+`, a stranger at "`+l.hosts[6]+":"+l.port)
	l.stop(6)
	l.hosts = l.hosts[:6]
	l.waitForHandshakes()
	assert.Equal(t, seedLayout(), l.layout())
	l.assertWell()
}

func TestLostDataIsNotPaperedOver(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	l.ask(0, "set", keyOfShard0, "ada")
	l.ask(2, "set", keyOfShard2, "eve")
	l.lose(1, 4) // both copies of a shard
	for _, mode := range []Mode{Repair, Converge, Bootstrap} {
		last := l.refused(mode)
		assert.Contains(t, last, "FAILED: the slots 5461-10922 are lost")
		assert.Contains(t, last, "set acceptDataLoss")
	}
	assert.Equal(t, "cluster_slots_assigned:16384", line(l.ask(0, "cluster", "info"), "cluster_slots_assigned"), "slots were given out")

	l.converge(AcceptLoss)
	assert.Equal(t, seedLayout(), l.layout())
	l.assertWell()
	assert.Equal(t, "ada", l.ask(0, "get", keyOfShard0))
	assert.Equal(t, "eve", l.ask(2, "get", keyOfShard2))
}

func TestLosingEverythingIsNotPaperedOver(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	l.lose(0, 1, 2, 3, 4, 5)
	last := l.refused(Repair)
	assert.Contains(t, last, "every volume was lost, or the cluster was never made; set acceptDataLoss")
	l.converge(AcceptLoss)
	assert.Equal(t, seedLayout(), l.layout())
	l.assertWell()
}

// line returns the line of an INFO that begins with a name.
func line(info, name string) string {
	for l := range strings.Lines(info) {
		if strings.HasPrefix(l, name+":") {
			return strings.TrimSpace(l)
		}
	}
	return ""
}

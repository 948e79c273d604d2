package spec

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newMovingLab is newLab for tests that move slots with their keys, which only
// newer servers can.
func newMovingLab(t *testing.T, nodes int) *lab {
	t.Helper()
	version, err := exec.Command("valkey-server", "--version").Output()
	if err != nil || !strings.Contains(string(version), "v=9") {
		t.Skipf("needs valkey-server 9, which make test installs; found %q", version)
	}
	return newLab(t, nodes)
}

// fill writes keys all over the slots, and check requires that they are there.
const bulk = 20000

func (l *lab) fill() {
	l.t.Helper()
	var commands strings.Builder
	for i := range bulk {
		fmt.Fprintf(&commands, "set key:%d %d\n", i, i)
	}
	load := l.client(0, "-c")
	load.Stdin = strings.NewReader(commands.String())
	out, err := load.CombinedOutput()
	require.NoError(l.t, err, "%s", out)
	require.Equal(l.t, bulk, l.count())
}

// count returns how many keys the primaries have.
func (l *lab) count() int {
	l.t.Helper()
	sum := 0
	for i := range l.hosts {
		if l.isPrimary(i) {
			n, err := strconv.Atoi(l.ask(i, "dbsize"))
			require.NoError(l.t, err)
			sum += n
		}
	}
	return sum
}

// shares returns how many slots each primary owns, by host.
func (l *lab) shares() map[int]int {
	l.t.Helper()
	shares := map[int]int{}
	for i, part := range l.layout() {
		if strings.HasPrefix(part, "replica") {
			continue
		}
		for _, r := range strings.Fields(part) {
			from, to, _ := strings.Cut(r, "-")
			if first, err := strconv.Atoi(from); err == nil {
				last, err := strconv.Atoi(to)
				if err != nil {
					last = first
				}
				shares[i] += last - first + 1
			}
		}
	}
	return shares
}

func (l *lab) assertEven(primaries int) {
	l.t.Helper()
	shares := l.shares()
	assert.Len(l.t, shares, primaries)
	for host, n := range shares {
		assert.InDelta(l.t, 16384/primaries, n, 16, "host %d of %v", host, shares)
	}
}

func TestMorePrimaries(t *testing.T) {
	l := newMovingLab(t, 6)
	l.converge(Bootstrap)
	l.fill()
	l.add(4)
	out := l.converge(Converge, "PRIMARIES=5")
	t.Log(out)
	l.assertEven(5)
	l.assertWell()
	assert.Equal(t, bulk, l.count())
	out = l.converge(Converge, "PRIMARIES=5")
	assert.NotContains(t, out, "slots", "a second run does nothing")
}

func TestMoreReplicas(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	l.add(3)
	l.converge(Converge, "REPLICAS=2")
	assert.Equal(t, append(seedLayout(), "replica of 0", "replica of 1", "replica of 2"), l.layout())
	l.assertWell()
}

// Members of a cluster with a StatefulSet for each shard, three of them: its pairs
// come one after the other.
const pairs = "SHARDS=0 0 1 1 2 2"

func TestShardsAreKept(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap, pairs)
	assert.Equal(t, []string{"0-5460", "replica of 0", "5461-10922", "replica of 2", "10923-16383", "replica of 4"}, l.layout())
	l.ask(3, "cluster", "failover")
	l.becomesPrimary(3)
	l.lose(2)
	l.converge(Repair, pairs)
	assert.Equal(t, []string{"0-5460", "replica of 0", "replica of 3", "5461-10922", "10923-16383", "replica of 4"}, l.layout())
	l.assertWell()
}

func TestShardsComeAndGo(t *testing.T) {
	l := newMovingLab(t, 6)
	l.converge(Bootstrap, pairs)
	l.fill()
	l.add(4)
	l.converge(Converge, pairs+" 3 3 4 4", "PRIMARIES=5")
	l.assertEven(5)
	l.assertWell()
	assert.Equal(t, bulk, l.count())

	six := "HOSTS=" + strings.Join(l.hosts[:6], " ")
	assert.Contains(t, l.refused(Repair, pairs, six), "waits for the next pulumi up")
	// Each pod has a loopback address of its own; here they share one.
	const another = `#!/bin/bash
if [[ $1 != -h ]]; then exec valkey-cli "$@"; fi
sed "s/bind 127.0.0.1/bind ${2%.*}.1${2##*.}/" | valkey-cli "$@"
`
	cli := filepath.Join(l.dir, "cli")
	require.NoError(t, os.WriteFile(cli, []byte(another), 0o700))
	out := l.converge(Converge, pairs, six, "CLI="+cli)
	t.Log(out)
	for i := 6; i < 10; i++ {
		assert.False(t, l.answers(i), "a client that asks who left would believe that nobody owns a slot")
		l.hosts[i] = fmt.Sprintf("%s.1%d", l.network, 11+i)
		assert.Contains(t, l.ask(i, "cluster", "info"), "cluster_known_nodes:1\r", "it is alone now")
		assert.Equal(t, "0", l.ask(i, "dbsize"), "and empty")
		l.stop(i)
	}
	l.hosts = l.hosts[:6]
	l.assertEven(3)
	l.assertWell()
	assert.Equal(t, bulk, l.count())
}

func TestShardsStayWhenTheOthersHaveNoRoom(t *testing.T) {
	l := newMovingLab(t, 8)
	four := pairs + " 3 3"
	l.converge(Bootstrap, four, "PRIMARIES=4")
	l.fill()
	for i := range 6 { // almost full
		_, used, _ := strings.Cut(line(l.ask(i, "info", "memory"), "used_memory"), ":")
		n, err := strconv.Atoi(used)
		require.NoError(t, err)
		l.ask(i, "config", "set", "maxmemory", strconv.Itoa(n*10/9))
	}
	before := l.layout()
	last := l.refused(Converge, pairs, "HOSTS="+strings.Join(l.hosts[:6], " "))
	assert.Contains(t, last, "nothing was moved")
	assert.Equal(t, before, l.layout())
	assert.Equal(t, bulk, l.count())
}

func TestAMigrationThatFailsMovesNothing(t *testing.T) {
	l := newMovingLab(t, 6)
	l.converge(Bootstrap)
	l.fill()
	l.add(4)
	broken := l.dir + "/cli"
	require.NoError(t, os.WriteFile(broken, []byte(`#!/bin/bash
case "$*" in
*getslotmigrations*) echo '[{"name":"x","state":"failed","message":"Connection lost to target"}]'; exit;;
*migrateslots*) echo OK; exit;;
esac
exec valkey-cli "$@"
`), 0o700))
	last := l.refused(Converge, "PRIMARIES=5", "CLI="+broken)
	assert.Contains(t, last, "failed: Connection lost to target; every slot is where it was")
	assert.Len(t, l.shares(), 3)
	l.converge(Converge, "PRIMARIES=5")
	l.assertEven(5)
	assert.Equal(t, bulk, l.count())
}

func TestOldServersAreNamed(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	l.add(2)
	old := l.dir + "/cli"
	require.NoError(t, os.WriteFile(old, []byte(`#!/bin/bash
case "$*" in
*getslotmigrations*|*migrateslots*) echo "ERR unknown subcommand"; exit 1;;
esac
exec valkey-cli "$@"
`), 0o700))
	assert.Contains(t, l.refused(Converge, "PRIMARIES=4", "CLI="+old), "needs Valkey 9.0 or newer")
}

func TestAServerThatDoesNotTellItsMemoryIsNamed(t *testing.T) {
	l := newLab(t, 8)
	l.converge(Bootstrap, pairs+" 3 3", "PRIMARIES=4")
	strange := l.dir + "/cli"
	require.NoError(t, os.WriteFile(strange, []byte(`#!/bin/bash
case "$*" in
*"info memory"*) printf 'used_memory_dataset:1\r\nused_memory_dataset_perc:1%%\r\nused_memory:none\r\n'; exit;;
esac
exec valkey-cli "$@"
`), 0o700))
	last := l.refused(Converge, pairs, "HOSTS="+strings.Join(l.hosts[:6], " "), "CLI="+strange)
	assert.Contains(t, last, "FAILED: "+l.hosts[0]+" does not tell its used_memory")
}

func TestTheScriptDoesNotEndWithoutAReason(t *testing.T) {
	l := newLab(t, 0)
	broken := t.TempDir()
	for _, file := range []string{ConvergeFile, "answers.sh", "observe.sh", "slots.sh"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if file == "slots.sh" {
			text = append(text, "give_out_slots() {\n  [[ a =~ b ]]\n}\n"...)
		}
		require.NoError(t, os.WriteFile(filepath.Join(broken, file), text, 0o600))
	}
	l.add(6)
	run := l.script(Bootstrap)
	run.Args[1] = filepath.Join(broken, ConvergeFile)
	out, err := run.CombinedOutput()
	assert.Error(t, err)
	assert.Regexp(t, `FAILED: line \d+ of slots.sh: \[\[ a =~ b \]\]\n$`, string(out))
}

package spec

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// evil are addresses that a stranger can give itself. A script that runs a command in one
// of them makes a file p.
func evil() []string {
	return []string{
		"\ncluster_state:x ",
		"\nuptime_in_seconds:info[$(>p)] ",
		": f - 0 0 0 c 7+ids[$(>p)] ",
		" master - 0 0 0 connected 5+ids[$(>p)] ",
		"x[$(>p)]",
		"$(>p)",
		"`>p`",
		"; >p;",
		"' || >p #",
		"\r\nmaster_link_status:up\r\n",
		"\r\nrole:slave\r\n",
		"\ncluster_known_nodes:1\r\n",
		"\nids[$(>p)]:ids[$(>p)]\n",
		strings.Repeat("A", 46),
		strings.Repeat("(", 45),
		"\x1b[2J\x1b[31mset acceptDataLoss",
		"ünïcödé-☃-\u202e",
		"a:1@2,h master,fail - 0 0 1 connected",
		"a:1@2 myself,master - 0 0 1 connected 0-9 ",
		"::1",
		"\t\v\f\x01\x7f",
		"%s%n%x\\n\\x24(>p)",
		"${IFS}~/*",
		"[93->-*",
		"\nstate\nsuccess\nslots\nonline\n",
		"\nPONG\nend-1-2-3-4\n",
		"\n\n\n\n\n",
		"+([0-9]).*",
		"-h 127.0.0.1 -p 1",
	}
}

// harmless requires in the end that no command of evil was run.
func harmless(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		assert.NoFileExists(t, "p", "a stranger's command was run")
		_ = os.Remove("p")
	})
}

// Whoever reaches the bus port can send a node's address, which every server shows.
func TestAddressesOfStrangersRunNothing(t *testing.T) {
	harmless(t)
	l := newLab(t, 6)
	l.converge(Bootstrap)
	flood := func(addresses []string) (stop func()) {
		var meets [][]byte
		for n, address := range addresses {
			meets = append(meets, busMessage(busMeet, fmt.Sprintf("%040x", n), address, ""))
		}
		stop = l.flood(meets...)
		require.Eventually(t, func() bool { return strings.Contains(l.ask(0, "cluster", "nodes"), "$(>p)") }, 5*time.Second, 20*time.Millisecond)
		for i := range l.hosts {
			l.becomesReady(i)
		}
		return stop
	}
	// Alone, so that no other attack is in their way.
	for _, addresses := range [][]string{evil()[:2], evil()[2:3], evil()[3:4]} {
		stop := flood(addresses)
		_, _ = l.run(Repair, "DEADLINE_SECONDS=2")
		stop()
	}

	stop := flood(evil())
	for _, mode := range []Mode{Repair, Converge, Bootstrap, AcceptLoss} {
		out, err := l.run(mode, "DEADLINE_SECONDS=3")
		if err != nil {
			// A server stands still while it looks up a stranger's name.
			assert.Regexp(t, `FAILED: 127\S+(: a stranger wrote .*| does not answer: .*| answered only . of 6 questions in time, .*) \(after \d+ s\)\n$`, out)
		}
		assertPrintable(t, out)
		assert.NotContains(t, out, "acceptDataLoss")
	}
	l.handover(0, "2", "")
	l.rejoin(3)

	stop()
	l.waitForHandshakes()
	assert.NotContains(t, l.converge(Repair), "forget")
	l.assertWell()
}

// becomesReady requires that node i is ready, at the latest at the second probe: a server
// that looks up a stranger's name answers nobody meanwhile.
func (l *lab) becomesReady(i int) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.ready(i) }, 4*time.Second, 100*time.Millisecond, l.hosts[i])
}

// assertPrintable requires that a text cannot move the cursor.
func assertPrintable(t *testing.T, text string) {
	t.Helper()
	assert.Regexp(t, `^[\n -~]*$`, text)
}

func TestAStrangerIsForgottenAndHearsNothing(t *testing.T) {
	harmless(t)
	l := newLab(t, 6)
	l.converge(Bootstrap)
	s := newStranger(t, l)
	s.join(l)
	require.Equal(t, "OK", s.tell("cluster", "replicate", l.ask(0, "cluster", "myid")))
	require.Eventually(t, func() bool {
		return strings.Contains(l.ask(0, "cluster", "replicas", l.ask(0, "cluster", "myid")), s.id())
	}, 20*time.Second, 50*time.Millisecond)

	l.stop(3)
	l.handover(0, "2", "")
	assert.True(t, l.isPrimary(0), "it hands nothing to a stranger")
	s.heard.assertNothing(t, "the handover")
	l.start(3)
	l.handover(0, "20", "")
	assert.False(t, l.isPrimary(0))
	assert.True(t, l.isPrimary(3), "it hands over to its own replica")
	l.ask(0, "config", "set", "cluster-replica-no-failover", "no")
	s.heard.assertNothing(t, "the handover")

	l.lose(4)
	l.rejoin(4)
	l.converge(Repair)
	s.heard.assertNothing(t, "a pod that comes back")

	s.tell("cluster", "reset", "hard")
	s.join(l)
	id := s.id()
	out := l.converge(Repair)
	assert.Contains(t, out, "forget "+id+`, a stranger at "`+s.announced+"@")
	s.stop(0)
	l.waitForHandshakes()
	l.assertWell()
	s.heard.assertNothing(t, "the repair")
}

func TestAStrangerThatTakesSlotsIsNamed(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	s := newStranger(t, l)
	s.join(l)
	s.takeSlots(l)
	for _, mode := range []Mode{Repair, Converge, AcceptLoss, Bootstrap} {
		last := l.refused(mode)
		assert.Contains(t, last, "FAILED: the slots 0-2 are claimed by a stranger")
		assert.Contains(t, last, s.id()+` at "`+s.announced+"@")
		assert.NotContains(t, last, "acceptDataLoss")
		assert.NotContains(t, last, "volume")
	}

	// What the page of HotKV says.
	id := s.id()
	s.stop(0)
	l.waitForHandshakes()
	owner := l.ask(0, "cluster", "myid")
	for i := range l.hosts {
		l.ask(i, "cluster", "forget", id)
	}
	l.ask(0, "cluster", "addslotsrange", "0", "2")
	assert.NotContains(t, l.converge(Repair), "forget")
	assert.Equal(t, owner, l.ask(0, "cluster", "myid"))
	assert.Equal(t, seedLayout(), l.layout())
	l.assertWell()
	s.heard.assertNothing(t, "somebody")
}

// A node that joined can give itself a name of any length: whole lines of the table.
func TestLinesOfStrangersAreNotBelieved(t *testing.T) {
	harmless(t)
	l := newLab(t, 6)
	l.converge(Bootstrap)
	s := newStranger(t, l)
	s.join(l)
	id := s.id()
	s.stop(0)
	line := fmt.Sprintf("%040x %s.77:%s@1 master - 0 0 9 connected 0-16383", 0xabc, l.network, l.port)
	for i := range l.hosts {
		l.send(i, busMessage(busPing, id, s.hosts[0], "x - - 0 0 0 connected\n"+line))
	}
	require.Eventually(t, func() bool { return strings.Contains(l.ask(0, "cluster", "nodes"), "\n"+line) }, 5*time.Second, 20*time.Millisecond)
	for i := range l.hosts {
		l.becomesReady(i)
	}
	for _, mode := range []Mode{Repair, AcceptLoss} {
		last := l.refused(mode, "DEADLINE_SECONDS=3")
		assert.Regexp(t, `FAILED: 127\S+: a stranger wrote "`+id+`\S*" into its table of nodes \(after \d+ s\)$`, last)
	}

	// Nor does a long one hold up a probe.
	for i := range l.hosts {
		l.send(i, busMessage(busPing, id, s.hosts[0], strings.Repeat("x\n", 600_000)))
	}
	require.Eventually(t, func() bool { return len(l.ask(0, "cluster", "nodes")) > 1_000_000 }, 5*time.Second, 20*time.Millisecond)
	for i := range l.hosts {
		l.becomesReady(i)
	}
	assert.Contains(t, l.refused(Repair, "DEADLINE_SECONDS=3"), "answered only 5 of 6 questions in time, or at too great a length")
	for i := range l.hosts {
		l.ask(i, "cluster", "forget", id)
	}
	l.waitForHandshakes()
	l.converge(Repair)
	l.assertWell()
	s.heard.assertNothing(t, "somebody")
}

// A node that joined can call itself as one of the pods.
func TestANameOfThisClusterIsNotEnough(t *testing.T) {
	l := newLab(t, 6)
	l.converge(Bootstrap)
	s := newStranger(t, l)
	s.join(l)
	id := s.id()
	for _, name := range []string{l.hosts[1], l.network + ".99"} {
		stop := l.flood(busMessage(busPing, id, name, ""))
		out, err := l.run(Repair, "DEADLINE_SECONDS=4")
		stop()
		if err != nil {
			assert.Contains(t, out, "stranger")
		}
		assert.NotContains(t, out, "acceptDataLoss")
	}
	s.stop(0)
	l.converge(Repair)
	l.waitForHandshakes()
	assert.Equal(t, seedLayout(), l.layout())
	l.assertWell()
}

// A node that can be reached under a name of this cluster, but is none of its pods.
func TestANodeUnderANameOfThisClusterIsNamed(t *testing.T) {
	t.Run("of a pod that is not there", func(t *testing.T) {
		l := newLab(t, 6)
		l.converge(Bootstrap)
		s := newStrangerAt(t, l.network+".99")
		s.join(l)
		for _, mode := range []Mode{Repair, Converge} {
			last := l.refused(mode, "DEADLINE_SECONDS=3")
			assert.Contains(t, last, "the node "+s.id()+" calls itself "+s.hosts[0]+", but no pod of this cluster has that id: it is a stranger, unless")
		}
	})
	t.Run("of a pod that is there", func(t *testing.T) {
		l := newLab(t, 6)
		l.converge(Bootstrap)
		s := newStrangerAt(t, l.hosts[1])
		s.join(l)
		s.takeSlots(l)
		for _, mode := range []Mode{Repair, AcceptLoss} {
			last := l.refused(mode, "DEADLINE_SECONDS=3")
			assert.Contains(t, last, "the slots 0-2 are claimed by the node "+s.id()+", which calls itself "+s.hosts[0]+", but no pod of this cluster has that id")
			assert.NotContains(t, last, "acceptDataLoss")
		}
	})
}

func TestOnlyWholeNumbersAreNumbers(t *testing.T) {
	harmless(t)
	number := func(text string) (string, error) {
		out, err := exec.Command("bash", "-c", `set -eu; source answers.sh; n=7; number n "$1"; echo "$n"`, "bash", text).Output()
		return strings.TrimSpace(string(out)), err
	}
	for _, text := range []string{"0", "7", "16383", "999999999999999999"} {
		n, err := number(text)
		require.NoError(t, err, text)
		assert.Equal(t, text, n)
	}
	for _, text := range append(evil(), "", "08", "-1", "+1", " 1", "1 ", "1\n", "0x1f", "1e3", "n", "a[$(>p)]", "1000000000000000000") {
		n, err := number(text)
		assert.Error(t, err, text)
		assert.Empty(t, n, text)
	}
}

// node is one of a table that a server may show.
type node struct{ id, address, flags, primary, link, slots string }

func (n node) line() string {
	line := fmt.Sprintf("%s %s %s %s 0 1764550000000 7 %s", n.id, n.address, n.flags, n.primary, n.link)
	if n.slots != "" {
		line += " " + n.slots
	}
	return line
}

// randomNodes returns a table that a server could show, with addresses of random bytes.
func randomNodes(random *rand.Rand) []node {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	nodes := make([]node, 1+random.IntN(6))
	for i := range nodes {
		n := node{
			id:      fmt.Sprintf("%08x%032x", random.Uint32(), i),
			address: fmt.Sprintf("kv-%d.kv.shop.svc:6379@16379", i),
			flags:   pick("master", "slave", "master,fail?", "slave,fail", "master,noaddr", "handshake", "noflags", "slave,nofailover"),
			primary: "-",
			link:    pick("connected", "disconnected"),
			slots:   pick("", "7", "0-5460", "0-3 5 7-16383", "1 [93->-"+fmt.Sprintf("%040x", 9)+"]"),
		}
		if i == 0 {
			n.flags = "myself," + pick("master", "slave")
		} else if random.IntN(2) == 0 {
			n.primary = nodes[0].id
		}
		if i > 0 && random.IntN(2) == 0 {
			n.address = randomAddress(random) + ":6379@16379"
		}
		nodes[i] = n
	}
	random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	return nodes
}

func randomAddress(random *rand.Rand) string {
	if random.IntN(3) == 0 {
		return evil()[random.IntN(len(evil()))]
	}
	const alphabet = "0a:-. \n\r\t$()[]`'\"\\,@+*?<>connected\x1b\x80\xff"
	b := make([]byte, random.IntN(46))
	for i := range b {
		b[i] = alphabet[random.IntN(len(alphabet))]
	}
	return string(b)
}

// TestFuzzReadNodes compares what the script reads with what was written. A table has a
// line break in no place but between nodes, or nothing of it counts.
func TestFuzzReadNodes(t *testing.T) {
	harmless(t)
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("FUZZ_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("FUZZ_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	address := regexp.MustCompile(`^([0-9A-Za-z.:-]*):[0-9]+@[0-9]+(,[0-9A-Za-z._-]*)?$`)
	dir := t.TempDir()
	const cases = 400
	var want []string
	for c := range cases {
		nodes := randomNodes(random)
		var lines, read []string
		broken := false
		for _, n := range nodes {
			lines = append(lines, n.line())
			broken = broken || strings.Contains(n.address, "\n")
			host := ""
			if m := address.FindStringSubmatch(n.address); m != nil {
				host = m[1]
			}
			slots := regexp.MustCompile(`\[.*`).ReplaceAllString(n.slots, "")
			read = append(read, strings.Join([]string{n.id, n.flags, n.primary, n.link, strings.Join(strings.Fields(slots), " "), host}, "|"))
		}
		text := strings.Join(lines, "\n")
		if random.IntN(4) == 0 { // any text at all
			b := []byte(text)
			for range 1 + random.IntN(5) {
				b[random.IntN(len(b))] = byte(1 + random.IntN(255))
			}
			if text = string(b); text != strings.Join(lines, "\n") {
				read = nil // may be anything, but runs nothing
			}
		}
		if broken && read != nil {
			read = []string{"refused"}
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d", c)), []byte(text), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.info", c)), fmt.Appendf(nil, "cluster_known_nodes:%d\r\n", len(nodes)), 0o600))
		if read != nil {
			want = append(want, fmt.Sprintf("%04d", c)+" "+strings.Join(slices.Sorted(slices.Values(read)), " "))
		} else {
			want = append(want, "")
		}
	}
	// Bash leaves line breaks at the end of a file out, which a client prints.
	const harness = `set -euo pipefail
source answers.sh
for info in "$1"/*.info; do
  file=${info%.info}
  IFS= read -r -d '' table <"$file" || true
  IFS= read -r -d '' text <"$info" || true
  printf '%s' "${file##*/}"
  if read_nodes "$text" "$table"; then
    for id in "${!node_flags[@]}"; do
      printf '%s|%s|%s|%s|%s|%s\n' "$id" "${node_flags[$id]}" "${node_primary[$id]}" "${node_link[$id]}" "${node_slots[$id]% }" "${node_host[$id]}"
    done | sort | while IFS= read -r line; do printf ' %s' "$line"; done
  else
    printf ' refused'
  fi
  echo
done
`
	out, err := exec.Command("bash", "-c", harness, "bash", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	require.Len(t, got, cases)
	accepted := 0
	for c := range got {
		assertPrintable(t, got[c])
		if want[c] != "" {
			assert.Equal(t, want[c], got[c])
			if !strings.HasSuffix(want[c], "refused") {
				accepted++
			}
		}
	}
	assert.Greater(t, accepted, cases/10, "tables that are read")
	assert.Less(t, accepted, cases*9/10, "tables that are refused")
}

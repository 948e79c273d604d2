package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/e2e/load"
)

// hotkv is a HotKV cluster of a stack.
type hotkv struct {
	stack
	name string
	cli  string // the client program that its image has
}

// newHotKV returns the cluster that is called as the published one.
func newHotKV(t *testing.T, stackName string) hotkv {
	t.Helper()
	return hotkv{stack: newStack(t, stackName), name: "hotkv", cli: "hotkv-cli"}
}

// servers selects the pods of the cluster's nodes.
func (s hotkv) servers() string {
	return "app.kubernetes.io/component=server,app.kubernetes.io/instance=" + s.name
}

// pods returns a field of each pod of the cluster's nodes.
func (s hotkv) pods(t require.TestingT, field string) map[string]string {
	return s.list(t, "pods", field, "-l", s.servers())
}

// ask returns what the node in a pod answers.
func (s hotkv) ask(t require.TestingT, pod string, words ...string) string {
	return s.kubectl(t, append([]string{"exec", pod, "--", s.cli, "-e"}, words...)...)
}

// get reads a key from the cluster as a whole.
func (s hotkv) get(t require.TestingT, key string) string {
	pod := slices.Sorted(maps.Keys(s.pods(t, ".metadata.uid")))[1]
	return s.ask(t, pod, "-c", "get", key)
}

// layout returns what a pod says of each that lives: the slots of a primary, or whom
// a replica copies.
func (s hotkv) layout(t require.TestingT, pod string) map[string]string {
	pods := map[string]string{} // by id
	lines := slices.DeleteFunc(strings.Split(s.ask(t, pod, "cluster", "nodes"), "\n"), func(line string) bool {
		flags := strings.Fields(line)[2]
		return strings.Contains(flags, "fail") || strings.Contains(flags, "noaddr")
	})
	for _, line := range lines {
		fields := strings.Fields(line)
		require.GreaterOrEqual(t, len(fields), 8, line)
		name, rest, _ := strings.Cut(fields[1], ".")
		require.Equal(t, fmt.Sprintf("%s.%s.svc:6379@16379", s.name, s.stack), rest)
		pods[fields[0]] = name
	}
	layout := map[string]string{}
	for _, line := range lines {
		fields := strings.Fields(line)
		role := "replica of " + pods[fields[3]]
		if strings.Contains(fields[2], "master") {
			role = strings.Join(append([]string{"primary"}, fields[8:]...), " ")
		}
		layout[pods[fields[0]]] = role
	}
	return layout
}

// primaryOf returns the primary that has a slot, and its replicas.
func primaryOf(t require.TestingT, layout map[string]string, slot int) (primary string, replicas []string) {
	for pod, role := range layout {
		for _, r := range ranges(t, role) {
			if r[0] <= slot && slot <= r[1] {
				primary = pod
			}
		}
	}
	require.NotEmpty(t, primary, "nobody has slot %d: %v", slot, layout)
	for pod, role := range layout {
		if role == "replica of "+primary {
			replicas = append(replicas, pod)
		}
	}
	return primary, replicas
}

// ranges returns the slots of a primary, none of a replica.
func ranges(t require.TestingT, role string) [][2]int {
	words, isPrimary := strings.CutPrefix(role, "primary")
	if !isPrimary {
		return nil
	}
	var all [][2]int
	for _, word := range strings.Fields(words) {
		from, to, isRange := strings.Cut(word, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		require.NoError(t, err, role)
		last, err := strconv.Atoi(to)
		require.NoError(t, err, role)
		all = append(all, [2]int{first, last})
	}
	return all
}

// eventuallyHealthy waits until every pod sees the same whole cluster: shards of one
// size, with all their replicas connected.
func (s hotkv) eventuallyHealthy(t *testing.T, primaries, replicas int) {
	t.Helper()
	eventually(t, 2*time.Minute, func(c *assert.CollectT) {
		pods := slices.Sorted(maps.Keys(s.pods(c, ".metadata.uid")))
		require.Len(c, pods, primaries*(1+replicas))
		layout := s.layout(c, pods[0])
		for _, pod := range pods {
			info := s.kubectl(c, "exec", pod, "--", "sh", "-c", fmt.Sprintf("%[1]s -e cluster info && %[1]s -e info replication", s.cli))
			for _, want := range []string{
				"cluster_state:ok", "cluster_slots_ok:16384",
				fmt.Sprintf("cluster_known_nodes:%d", len(pods)), fmt.Sprintf("cluster_size:%d", primaries),
			} {
				assert.Contains(c, info, want+"\r", pod)
			}
			assert.NotContains(c, info, "master_link_status:down", pod)
			assert.Equal(c, layout, s.layout(c, pod), pod)
		}
		copies, slots := shape(c, layout)
		assert.Equal(c, slices.Repeat([]int{replicas}, primaries), copies)
		const most = 16 // that shards may differ by
		assert.LessOrEqual(c, slices.Max(slots)-slices.Min(slots), most, layout)
	})
}

// shape returns how many replicas and how many slots each primary has.
func shape(t require.TestingT, layout map[string]string) (replicas, slots []int) {
	for pod, role := range layout {
		if !strings.HasPrefix(role, "primary") {
			continue
		}
		copies, owned := 0, 0
		for _, other := range layout {
			if other == "replica of "+pod {
				copies++
			}
		}
		for _, r := range ranges(t, role) {
			owned += r[1] - r[0] + 1
		}
		replicas, slots = append(replicas, copies), append(slots, owned)
	}
	return replicas, slots
}

func (s hotkv) password(t *testing.T) string {
	t.Helper()
	password, err := base64.StdEncoding.DecodeString(s.kubectl(t, "get", "secret", s.name, "-o", "jsonpath={.data.password}"))
	require.NoError(t, err)
	require.Len(t, password, 32)
	return string(password)
}

// cluster returns where clients find the nodes that are there now.
func (s hotkv) cluster(t *testing.T) load.Cluster {
	t.Helper()
	c := load.Cluster{Password: s.password(t), DNS: nameService(t)}
	for _, pod := range slices.Sorted(maps.Keys(s.pods(t, ".metadata.uid"))) {
		c.Addresses = append(c.Addresses, fmt.Sprintf("%s.%s.%s.svc:6379", pod, s.name, s.stack))
	}
	return c
}

// underLoad has clients of every kind write to that many parts of the slots while
// something happens, and prints what they noticed. No acknowledged write may be lost.
func (s hotkv) underLoad(t *testing.T, parts int, something func()) load.Report {
	t.Helper()
	cluster := s.cluster(t)
	clients, closeAll, err := cluster.Clients()
	require.NoError(t, err)
	t.Cleanup(closeAll)
	tags, err := cluster.Tags(t.Context(), parts)
	require.NoError(t, err)
	writing := load.Start(t.Context(), clients, tags)
	time.Sleep(time.Second) // every client has its connections

	before, start := loadAverage(t), time.Now()
	something()
	took := time.Since(start)
	time.Sleep(3 * time.Second) // the last handover is noticed after the rollout's end
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	report, err := writing.Stop(ctx)
	t.Logf("%.1f s, load average %s to %s\n%s", took.Seconds(), before, loadAverage(t), report)
	require.NoError(t, err)
	assert.Empty(t, report.Lost(), "acknowledged writes")
	for _, row := range report {
		assert.Greater(t, row.Operations, 10, "%s of shard %d", row.Client, row.Shard)
	}
	return report
}

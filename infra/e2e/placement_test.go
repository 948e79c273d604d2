package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlacement has Kubernetes place both systems on nine nodes in three zones, and
// take pods away as it does when nodes are drained. The nodes are fake, see fakeNodes:
// what the pods themselves do about it is another test's.
func TestPlacement(t *testing.T) {
	const all = 3*2 + 6 + 3 // of the clusters shards, together and mooncake
	f := newFakeNodes(t, "e2e-placement", "abc", 3)
	f.apply(t, stack(f.namespace).render(t))
	pods, _ := f.eventuallyReady(t, all)

	step(t, "the copies of a shard are in different zones", func(t *testing.T) {
		for shard := range 3 {
			assert.Len(t, zones(pods, fmt.Sprintf("shards-%d-", shard)), 2, "shard %d", shard)
		}
	})
	step(t, "the shards' first pods, which begin as primaries, are in different zones", func(t *testing.T) {
		firsts := maps.Clone(pods)
		maps.DeleteFunc(firsts, func(name string, _ pod) bool { return !strings.HasSuffix(name, "-0") })
		assert.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1}, zones(firsts, "shards-"))
	})
	step(t, "servers of one StatefulSet have a node each, and zones as many as the others", func(t *testing.T) {
		assert.Len(t, nodes(pods, "together-"), 6)
		assert.Equal(t, map[string]int{"a": 2, "b": 2, "c": 2}, zones(pods, "together-"))
	})
	step(t, "stores are in different zones", func(t *testing.T) {
		assert.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1}, zones(pods, "mooncake-store-"))
	})

	for _, c := range []struct{ keeps, loses, another string }{
		{"shards-0-0", "shards-0-1", "shards-1-0"},
		{"mooncake-store-0", "mooncake-store-1", "shards-1-1"},
	} {
		step(t, "with one node left, "+c.loses+" waits for another and "+c.keeps+" stays", func(t *testing.T) {
			pods, _ := f.eventuallyReady(t, all)
			f.openOnly(t, pods[c.keeps].Spec.NodeName)
			f.evict(t, c.loses)
			eventually(t, time.Minute, func(e *assert.CollectT) {
				pods, _ := f.pods(e)
				_, why := pods[c.loses].condition("PodScheduled")
				assert.Contains(e, why, "1 node(s) didn't match pod anti-affinity rules, 8 node(s) were unschedulable")
			})
			assert.ErrorContains(t, f.tryEvict(c.keeps), "Cannot evict pod as it would violate the pod's disruption budget")
			f.evict(t, c.another) // it has another budget
		})
		step(t, "with the nodes back, "+c.keeps+" may go", func(t *testing.T) {
			f.openOnly(t, f.nodes...)
			f.eventuallyReady(t, all)
			f.evict(t, c.keeps)
		})
	}
	step(t, "what only prefers a node of its own shares the last one", func(t *testing.T) {
		pods, _ := f.eventuallyReady(t, all)
		last := pods["together-0"].Spec.NodeName
		f.openOnly(t, last)
		f.evict(t, "together-1")
		eventually(t, time.Minute, func(e *assert.CollectT) {
			pods, _ := f.pods(e)
			assert.True(e, pods["together-1"].ready())
			assert.Equal(e, last, pods["together-1"].Spec.NodeName)
		})
	})
	step(t, "a zone that has all pods is drained, one pod of each StatefulSet at a time", func(t *testing.T) {
		zone := []string{"c0", "c1", "c2"}
		f.openOnly(t, zone...)
		f.kubectl(t, "delete", "pods", "--all")
		pods, from := f.eventuallyReady(t, all)
		require.Equal(t, map[string]int{"c": all}, zones(pods, ""))
		f.openOnly(t, f.nodes...)

		start := time.Now()
		f.drain(t, zone...)
		took := time.Since(start)
		pods, _ = f.eventuallyReady(t, all)
		assert.NotContains(t, zones(pods, ""), "c")
		onePodAtATime(t, f.changes(t, from), pods)
		t.Logf("%d pods moved in %.1f s, load average %s", all, took.Seconds(), loadAverage(t))
	})
}

// zones counts the pods with names that start so in each zone.
func zones(pods map[string]pod, prefix string) map[string]int {
	return places(pods, prefix, func(node string) string { return node[:1] })
}

// nodes counts them on each node.
func nodes(pods map[string]pod, prefix string) map[string]int {
	return places(pods, prefix, func(node string) string { return node })
}

func places(pods map[string]pod, prefix string, place func(node string) string) map[string]int {
	counts := map[string]int{}
	for name, p := range pods {
		if strings.HasPrefix(name, prefix) {
			counts[place(p.Spec.NodeName)]++
		}
	}
	return counts
}

// onePodAtATime checks that of no StatefulSet, whose pods were all ready, two were away
// at any time until the pods were as given.
func onePodAtATime(t *testing.T, changes []change, until map[string]pod) {
	t.Helper()
	statefulSet := func(pod string) string { return pod[:strings.LastIndex(pod, "-")] }
	version := map[string]string{}
	away := map[string]string{} // by StatefulSet
	for _, c := range changes {
		name := c.Object.Metadata.Name
		version[name] = c.Object.Metadata.ResourceVersion
		switch set := statefulSet(name); {
		case c.Type == "DELETED" || !c.Object.ready():
			assert.Contains(t, []string{"", name}, away[set], "away at the same time as %s", name)
			away[set] = name
		case away[set] == name:
			delete(away, set)
		}
	}
	for name, p := range until {
		assert.Equal(t, p.Metadata.ResourceVersion, version[name], "%s moved, and its last change is known", name)
	}
}

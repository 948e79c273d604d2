package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestChaosNeighbours has two clusters in each of two namespaces, under the same
// names: what happens to one, the others do not notice.
func TestChaosNeighbours(t *testing.T) {
	two := fmt.Sprintf(chaosCluster, "a", "128Mi") + fmt.Sprintf(chaosCluster, "b", "128Mi")
	var all []hotkv
	for _, story := range []string{"near", "far"} {
		s := chaosOf(t, story, "hotkv", two)
		all = append(all, hotkv{s, "a", "hotkv-cli"}, hotkv{s, "b", "hotkv-cli"})
	}
	near, far := all[0], all[2]
	healthy := func(t *testing.T) {
		t.Helper()
		for _, cluster := range all {
			cluster.eventuallyHealthy(t, 3, 1) // so it knows nobody else
		}
	}
	step(t, "up", func(t *testing.T) {
		near.run(t, "up")
		far.run(t, "up")
		healthy(t)
		near.unchanged(t)
		far.unchanged(t)
	})
	step(t, "what happens to the others", func(t *testing.T) {
		before := near.layout(t, near.anyPod(t))
		report := near.underLoad(t, 3, func() {
			near.kubectl(t, "delete", "pods", "-l", all[1].servers())
			far.kubectl(t, "delete", "pods", "-l", far.servers())
			healthy(t)
		})
		within(t, report, 500*time.Millisecond)
		assert.Equal(t, before, near.layout(t, near.anyPod(t)))
	})
	step(t, "the other namespace's stack is destroyed", func(t *testing.T) {
		report := near.underLoad(t, 3, func() { far.run(t, "destroy") })
		within(t, report, 500*time.Millisecond)
		near.eventuallyHealthy(t, 3, 1)
		all[1].eventuallyHealthy(t, 3, 1)
		near.unchanged(t)
	})
}

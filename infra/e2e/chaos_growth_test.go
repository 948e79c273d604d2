package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kvinfra/infra/e2e/load"
)

// TestChaosGrowth changes the number of shards and replicas of a cluster that has
// data, while clients write to all of it.
func TestChaosGrowth(t *testing.T) {
	bulk := load.Bulk{Keys: 200_000, Size: 100}
	type change struct {
		name, old, new      string
		primaries, replicas int
	}
	more := change{"3 to 5 primaries", "primaries: 3", "primaries: 5", 5, 1}
	fewer := change{"5 to 3 primaries", "primaries: 5", "primaries: 3", 3, 1}
	copies := func(primaries int) change {
		return change{"1 to 2 replicas", "replicasPerPrimary: 1", "replicasPerPrimary: 2", primaries, 2}
	}
	for _, tt := range []struct {
		story, layout string
		changes       []change
	}{
		{"growth", one, []change{more, copies(5)}},
		{"growth-shards", perShard, []change{more, fewer, copies(3)}},
	} {
		t.Run(tt.story, func(t *testing.T) {
			s := chaos(t, tt.story, tt.layout+"      primaries: 3\n      replicasPerPrimary: 1\n")
			step(t, "up", func(t *testing.T) {
				s.run(t, "up")
				s.eventuallyHealthy(t, 3, 1)
				require.NoError(t, s.cluster(t).Fill(t.Context(), bulk))
			})
			for _, change := range tt.changes {
				step(t, change.name, func(t *testing.T) {
					const parts = 5 // of the slots: with five shards, one each
					report := s.underLoad(t, parts, func() {
						s.edit(t, change.old, change.new)
						s.run(t, "up")
					})
					within(t, report, 500*time.Millisecond)
					s.eventuallyHealthy(t, change.primaries, change.replicas)
					require.NoError(t, s.cluster(t).Check(t.Context(), bulk))
					s.unchanged(t)
				})
			}
		})
	}
}

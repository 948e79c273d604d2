package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/e2e/load"
)

// TestChaosRoll restarts the pods of either layout, with little and with much data,
// while clients write.
func TestChaosRoll(t *testing.T) {
	const image, settings = "the image", "a setting"
	edits := map[string][2]string{
		image:    {"hotkv:local\n", "hotkv:local-next\n"},
		settings: {`maxclients: "4000"`, `maxclients: "5000"`},
	}
	big := load.Bulk{Keys: 3 * 270_000, Size: 1000} // 270 MB in each of three shards
	for _, tt := range []struct {
		story, layout string
		changes       []string
		bulk          load.Bulk
		memory        string
		gap, long     time.Duration
		failed        int // operations of 10,000
	}{
		{story: "roll", layout: one, changes: []string{settings, image}, memory: "128Mi", gap: 500 * time.Millisecond, long: 45 * time.Second},
		{story: "roll-shards", layout: perShard, changes: []string{settings, image}, memory: "128Mi", gap: 1500 * time.Millisecond, long: time.Minute, failed: 1},
		{story: "roll-big", layout: one, changes: []string{image}, bulk: big, memory: "1Gi", gap: 2 * time.Second},
		{story: "roll-big-shards", layout: perShard, changes: []string{image}, bulk: big, memory: "1Gi", gap: 2 * time.Second},
	} {
		t.Run(tt.story, func(t *testing.T) {
			s := hotkv{name: "hotkv", cli: "hotkv-cli"}
			s.stack = chaosOf(t, tt.story, "hotkv", fmt.Sprintf(chaosCluster, s.name, tt.memory)+tt.layout+
				"      storage: {size: 4Gi}\n      settings: {maxclients: \"4000\"}\n")
			step(t, "up", func(t *testing.T) {
				s.run(t, "up")
				s.eventuallyHealthy(t, 3, 1)
				start := time.Now()
				require.NoError(t, s.cluster(t).Fill(t.Context(), tt.bulk))
				t.Logf("%d MB written in %.1f s", tt.bulk.Keys*tt.bulk.Size/1_000_000, time.Since(start).Seconds())
			})
			for _, change := range tt.changes {
				step(t, change, func(t *testing.T) {
					before := s.pods(t, ".metadata.uid")
					report := s.underLoad(t, 3, func() {
						s.edit(t, edits[change][0], edits[change][1])
						s.run(t, "up")
					})
					for pod, uid := range s.pods(t, ".metadata.uid") {
						assert.NotEqual(t, before[pod], uid, "%s was restarted", pod)
					}
					within(t, report, tt.gap)
					if tt.bulk.Keys > 0 {
						require.NoError(t, s.cluster(t).Check(t.Context(), tt.bulk))
					} else { // also of clients with default options
						most := max(report.Excused(load.Every()...), report.Operations()*tt.failed/10_000)
						assert.LessOrEqual(t, report.Failed(), most, "failed operations of any client")
						assert.LessOrEqual(t, s.rollout(t), tt.long)
					}
					s.eventuallyHealthy(t, 3, 1)
					s.unchanged(t)
				})
			}
		})
	}
}

// rollout returns how long the restart of all pods took: from the first new one to
// the last that became ready.
func (s hotkv) rollout(t *testing.T) time.Duration {
	t.Helper()
	var first, last time.Time
	for pod, text := range s.pods(t, ".metadata.creationTimestamp") {
		at, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err, pod)
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	for pod, text := range s.pods(t, `.status.conditions[?(@.type=="Ready")].lastTransitionTime`) {
		at, err := time.Parse(time.RFC3339, text)
		require.NoError(t, err, pod)
		if at.After(last) {
			last = at
		}
	}
	t.Logf("the restart of all pods took %.0f s", last.Sub(first).Seconds())
	return last.Sub(first)
}

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestChaosSetting gives the servers a setting with which none starts: the update
// stops at the first pod, and the next one with a right setting goes through.
func TestChaosSetting(t *testing.T) {
	for _, tt := range []struct {
		story, layout, broken string
	}{
		{"setting", one, "hotkv-5"},
		{"setting-shards", perShard, "hotkv-0-1"},
	} {
		t.Run(tt.story, func(t *testing.T) {
			s := chaos(t, tt.story, tt.layout+"      settings: {maxclients: \"4000\"}\n")
			step(t, "up", func(t *testing.T) {
				s.run(t, "up")
				s.eventuallyHealthy(t, 3, 1)
			})
			others := s.pods(t, ".metadata.uid")
			delete(others, tt.broken)
			step(t, "a setting that no server takes", func(t *testing.T) {
				s.edit(t, `maxclients: "4000"`, "maxclients: many")
				s.edit(t, "timeoutSeconds: 180", "timeoutSeconds: 45")
				report := s.underLoad(t, 3, func() { assert.Contains(t, s.refused(t, "up"), tt.broken) })
				within(t, report, 500*time.Millisecond)
				ready := s.pods(t, ".status.containerStatuses[0].ready")
				assert.Equal(t, "false", ready[tt.broken])
				for pod, uid := range s.pods(t, ".metadata.uid") {
					if pod != tt.broken {
						assert.Equal(t, others[pod], uid, "%s was not restarted", pod)
						assert.Equal(t, "true", ready[pod], pod)
					}
				}
			})
			step(t, "a right one", func(t *testing.T) {
				s.edit(t, "maxclients: many", `maxclients: "5000"`)
				s.edit(t, "timeoutSeconds: 45", "timeoutSeconds: 180")
				report := s.underLoad(t, 3, func() { s.run(t, "up") })
				within(t, report, 1500*time.Millisecond)
				s.eventuallyHealthy(t, 3, 1)
				s.unchanged(t)
			})
		})
	}
}

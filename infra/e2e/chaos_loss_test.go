package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/e2e/load"
)

// TestChaosLoss loses volumes: what a replica still has comes back, what nobody has
// is given up only when somebody says so.
func TestChaosLoss(t *testing.T) {
	s := chaos(t, "loss", "      runConverge: once\n      acceptDataLoss: \"\"\n")
	bulk := load.Bulk{Keys: 20_000, Size: 100}
	whole := func(t *testing.T) {
		t.Helper()
		s.eventuallyHealthy(t, 3, 1)
		require.NoError(t, s.cluster(t).Check(t.Context(), bulk))
		s.unchanged(t)
	}
	step(t, "up", func(t *testing.T) {
		s.run(t, "up")
		s.eventuallyHealthy(t, 3, 1)
		require.NoError(t, s.cluster(t).Fill(t.Context(), bulk))
	})
	step(t, "a replica, repaired by the CronJob's Job", func(t *testing.T) {
		s.lose(t, "hotkv-4")
		words, done := s.heal(t, "replica")
		assert.True(t, done, words)
		whole(t)
	})
	step(t, "a primary, repaired by runConverge", func(t *testing.T) {
		s.lose(t, "hotkv-1")
		s.edit(t, "runConverge: once", "runConverge: twice")
		s.run(t, "up")
		whole(t)
	})
	step(t, "the first primary in a crash, repaired by the CronJob's Job", func(t *testing.T) {
		s.lose(t, s.primary(t), "--grace-period=0", "--force")
		words, done := s.heal(t, "primary")
		assert.True(t, done, words)
		whole(t)
	})

	// A key of each shard, which is told by the start of its slots.
	tags, err := s.cluster(t).Tags(t.Context(), 3)
	require.NoError(t, err)
	for _, tag := range tags {
		s.ask(t, s.anyPod(t), "-c", "set", "{"+tag+"}", tag)
	}

	step(t, "both copies of a shard: refused", func(t *testing.T) {
		primary, replicas := primaryOf(t, s.layout(t, s.anyPod(t)), 0)
		other, _ := primaryOf(t, s.layout(t, s.anyPod(t)), 16383)
		before := s.layout(t, other)
		s.lose(t, primary, append(replicas, "--grace-period=0", "--force")...)
		words, done := s.heal(t, "shard")
		assert.False(t, done, words)
		const why = "are lost: their owner"
		assert.Contains(t, words, why)
		s.edit(t, "runConverge: twice", "runConverge: thrice")
		assert.Contains(t, s.refused(t, "up"), why)

		after := s.layout(t, other)
		for pod, role := range before {
			if pod != primary && pod != replicas[0] {
				assert.Equal(t, role, after[pod], pod)
			}
		}
	})
	step(t, "both copies of a shard: accepted", func(t *testing.T) {
		s.edit(t, `acceptDataLoss: ""`, "acceptDataLoss: shard")
		s.run(t, "up")
		s.eventuallyHealthy(t, 3, 1)
		assert.Empty(t, s.get(t, "{"+tags[0]+"}"), "its shard begins empty")
		for _, tag := range tags[1:] {
			assert.Equal(t, tag, s.get(t, "{"+tag+"}"), "of another shard")
		}
		require.NoError(t, s.cluster(t).Fill(t.Context(), bulk))
		whole(t)
	})

	step(t, "every volume: refused", func(t *testing.T) {
		pods := s.pods(t, ".metadata.uid")
		var all []string
		for pod := range pods {
			all = append(all, pod)
		}
		s.lose(t, all[0], append(all[1:], "--grace-period=0", "--force")...)
		const why = "every volume was lost, or the cluster was never made"
		words, done := s.heal(t, "everything")
		assert.False(t, done, words)
		assert.Contains(t, words, why)
		s.edit(t, "runConverge: thrice", "runConverge: again")
		assert.Contains(t, s.refused(t, "up"), why)
		for pod := range pods {
			assert.Contains(t, s.ask(t, pod, "cluster", "info"), "cluster_slots_assigned:0\r", pod)
		}
	})
	step(t, "every volume: accepted", func(t *testing.T) {
		s.edit(t, "acceptDataLoss: shard", "acceptDataLoss: everything")
		s.run(t, "up")
		s.eventuallyHealthy(t, 3, 1)
		require.NoError(t, s.cluster(t).Fill(t.Context(), bulk))
		whole(t)
	})
	step(t, "the text taken away: no Job is made that may give out slots", func(t *testing.T) {
		before := s.list(t, "jobs", ".metadata.uid")
		s.edit(t, "acceptDataLoss: everything", `acceptDataLoss: ""`)
		s.run(t, "up")
		after := s.list(t, "jobs", ".metadata.uid")
		assert.Equal(t, before["hotkv-init"], after["hotkv-init"])
		for job := range after {
			assert.False(t, strings.HasPrefix(job, "hotkv-init-"), job)
		}
		whole(t)
	})
}

// lose deletes pods with their volumes, and waits until there are new ones. Words
// that are no pods are flags.
func (s hotkv) lose(t *testing.T, pod string, more ...string) {
	t.Helper()
	words := append([]string{pod}, more...)
	before := s.list(t, "persistentvolumeclaims", ".metadata.uid")
	var claims []string
	for _, word := range words {
		if !strings.HasPrefix(word, "-") {
			claims = append(claims, "data-"+word)
		}
	}
	s.kubectl(t, append([]string{"delete", "persistentvolumeclaims", "--wait=false"}, claims...)...)
	s.kubectl(t, append([]string{"delete", "pods"}, words...)...)
	eventually(t, 2*time.Minute, func(c *assert.CollectT) {
		now := s.list(c, "persistentvolumeclaims", ".metadata.uid")
		for _, claim := range claims {
			require.Contains(c, now, claim)
			assert.NotEqual(c, before[claim], now[claim], claim)
		}
	})
	s.eventuallyReady(t, "hotkv", len(before))
}

// heal runs the repair now, and returns its words and whether it says that all is
// well.
func (s hotkv) heal(t *testing.T, name string) (words string, done bool) {
	t.Helper()
	job := "now-" + name
	s.kubectl(t, "create", "job", "--from=cronjob/"+s.name+"-heal", job)
	var conditions string
	eventually(t, 5*time.Minute, func(c *assert.CollectT) {
		conditions = s.kubectl(c, "get", "job", job, "-o", "jsonpath={.status.conditions[*].type}")
		assert.Regexp(c, "Complete|Failed", conditions)
	})
	words = s.kubectl(t, "logs", "job/"+job)
	t.Logf("%s:\n%s", job, words)
	return words, strings.Contains(conditions, "Complete")
}

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChaosFormation looks from outside at servers that become a cluster.
func TestChaosFormation(t *testing.T) {
	s := chaos(t, "formation", "")
	before := loadAverage(t)
	done := make(chan error, 1)
	go func() {
		_, err := s.try(t, "up")
		done <- err
	}()
	eventually(t, 2*time.Minute, func(c *assert.CollectT) {
		assert.Contains(c, s.list(c, "secrets", ".metadata.uid"), s.name)
	})
	cluster := s.cluster(t)

	var answered, whole time.Time // since when all nodes do and are
	for whole.IsZero() {
		select {
		case err := <-done:
			require.NoError(t, err)
			require.FailNow(t, "up ended before the cluster was whole")
		case <-time.After(50 * time.Millisecond):
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		answers, wells, replicas := 0, 0, 0
		for _, address := range s.pods(t, ".status.podIP") {
			if address == "" {
				continue
			}
			words, err := cluster.Info(ctx, address+":6379")
			if err != nil {
				continue
			}
			answers++
			if strings.Contains(words, "master_link_status:up") {
				replicas++
			}
			if strings.Contains(words, "cluster_state:ok") && strings.Contains(words, "cluster_known_nodes:6\r") {
				wells++
			}
		}
		cancel()
		if answers == 6 && answered.IsZero() {
			answered = time.Now()
		}
		if wells == 6 && replicas == 3 {
			whole = time.Now()
		}
	}
	require.NoError(t, <-done)
	took := whole.Sub(answered)
	t.Logf("whole %.1f s after the last server answered, %s after the Job's start, which took %s; load average %s to %s", took.Seconds(),
		whole.Sub(s.jobTime(t, "hotkv-init", "startTime")).Round(time.Second),
		s.jobTime(t, "hotkv-init", "completionTime").Sub(s.jobTime(t, "hotkv-init", "startTime")), before, loadAverage(t))
	t.Log(s.kubectl(t, "logs", "job/hotkv-init"))
	assert.False(t, s.jobTime(t, "hotkv-init", "completionTime").Before(whole.Truncate(time.Second)), "the Job ends only then")
	assert.LessOrEqual(t, took, 4*time.Second)
	s.eventuallyHealthy(t, 3, 1)
	s.unchanged(t)
}

// jobTime returns when something happened to a Job, to the second.
func (s hotkv) jobTime(t *testing.T, job, what string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s.kubectl(t, "get", "job", job, "-o", "jsonpath={.status."+what+"}"))
	require.NoError(t, err)
	return at
}

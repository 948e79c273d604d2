package e2e

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestChaosMooncakeStops deletes stores that are empty, that have keys, and that wait
// for their master, and removes all at once.
func TestChaosMooncakeStops(t *testing.T) {
	s := chaosMooncake(t, "stops", storeOf("mooncake", newest, ""))
	step(t, "up", func(t *testing.T) { s.run(t, "up") })
	step(t, "empty", func(t *testing.T) {
		for range 3 {
			seconds, code := s.deletePod(t, "mooncake-store-1")
			assert.LessOrEqual(t, seconds, 5.0)
			assert.NotEqual(t, "137", code)
			s.eventuallyWhole(t, 3, 3*segment)
		}
	})
	step(t, "the master", func(t *testing.T) {
		for pod := range s.pods(t, "master", ".metadata.uid") {
			seconds, code := s.deletePod(t, pod)
			assert.LessOrEqual(t, seconds, 5.0)
			assert.NotEqual(t, "137", code)
		}
		s.eventuallyWhole(t, 3, 3*segment)
	})
	step(t, "with keys", func(t *testing.T) {
		keys := s.fill(t, 0.4)
		before := s.capacity(t)
		_, code := s.deletePod(t, "mooncake-store-1")
		assert.NotEqual(t, "137", code)
		assert.Less(t, s.capacity(t), before)
		s.eventuallyWhole(t, 3, 3*segment)
		lost, example := s.lost(t, keys)
		assert.Zero(t, lost, "of %d keys, for example %v", len(keys), example)
	})
	step(t, "waiting for its master", func(t *testing.T) {
		s.kubectl(t, "scale", "deployment", "mooncake-master", "--replicas=0")
		s.kubectl(t, "wait", "--for=delete", "pod", "-l", "app=mooncake-master", "--timeout=1m")
		seconds, _ := s.deletePod(t, "mooncake-store-2") // which lost its master
		assert.LessOrEqual(t, seconds, 15.0)
		eventually(t, time.Minute, func(c *assert.CollectT) {
			assert.Contains(c, s.pods(c, "store", ".status.containerStatuses[0].state.running.startedAt")["mooncake-store-2"], "T")
		})
		time.Sleep(5 * time.Second) // it waits
		seconds, _ = s.deletePod(t, "mooncake-store-2")
		assert.LessOrEqual(t, seconds, 15.0)
		s.kubectl(t, "scale", "deployment", "mooncake-master", "--replicas=1")
		s.eventuallyWhole(t, 3, 3*segment)
	})
	step(t, "all at once, with keys", func(t *testing.T) {
		s.fill(t, 0.4)
		start := time.Now()
		s.run(t, "destroy")
		t.Logf("destroyed after %.1f s, load average %s", time.Since(start).Seconds(), loadAverage(t))
		eventually(t, time.Minute, func(c *assert.CollectT) { assert.Empty(c, s.pods(c, "store", ".metadata.uid")) })
		t.Logf("all stores gone after %.1f s", time.Since(start).Seconds())
		assert.Less(t, time.Since(start), 30*time.Second)
	})
}

// TestChaosMooncakeRoll restarts all stores while the pool is used to 40 %: nothing
// that rests is lost.
func TestChaosMooncakeRoll(t *testing.T) {
	s := chaosMooncake(t, "roll", storeOf("mooncake", newest, "drainSeconds: 60, restart: at first"))
	step(t, "up", func(t *testing.T) { s.run(t, "up") })
	last := "restart: at first"
	roll := func(t *testing.T, restart string, read bool) (keys []string, lost int) {
		t.Helper()
		keys = s.fill(t, 0.4)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		var missing, samples int
		for _, master := range s.pods(t, "master", ".status.podIP") {
			running.Go(func() { missing, samples = mostMissing(ctx, master) })
		}
		if read {
			running.Go(func() { s.readAll(ctx, t, keys) })
		}
		s.edit(t, last, restart)
		last = restart
		start := time.Now()
		s.run(t, "up")
		took := time.Since(start)
		stop()
		running.Wait()
		assert.LessOrEqual(t, missing, 1, "stores missing at once")
		assert.Greater(t, samples, int(took.Seconds()/2))
		s.eventuallyWhole(t, 3, 3*segment)
		lost, example := s.lost(t, keys)
		t.Logf("rolled in %.1f s; %d of %d keys lost (%v); at most %d stores missing; load average %s",
			took.Seconds(), lost, len(keys), example, missing, loadAverage(t))
		return keys, lost
	}
	step(t, "no reader", func(t *testing.T) {
		_, lost := roll(t, "restart: alone", false)
		assert.Zero(t, lost)
	})
	step(t, "a reader of each key every 2 s", func(t *testing.T) { roll(t, "restart: read", true) })
	step(t, "fewer stores", func(t *testing.T) {
		keys := s.fill(t, 0.1)
		s.edit(t, "replicas: 3", "replicas: 2")
		s.run(t, "up")
		s.eventuallyWhole(t, 2, 2*segment)
		lost, example := s.lost(t, keys)
		assert.Zero(t, lost, "of %d keys, for example %v", len(keys), example)
		s.edit(t, "replicas: 2", "replicas: 3")
		s.run(t, "up")
		s.eventuallyWhole(t, 3, 3*segment)
	})
	step(t, "no drain", func(t *testing.T) {
		s.edit(t, "drainSeconds: 60", "drainSeconds: 0")
		s.run(t, "up")
		keys, lost := roll(t, "restart: undrained", false)
		assert.Len(t, keys, lost, "the drain makes no difference")
	})
}

// mostMissing asks the master every second, and returns how many stores it missed
// at most.
func mostMissing(ctx context.Context, master string) (most, samples int) {
	for {
		select {
		case <-ctx.Done():
			return most, samples
		case <-time.After(time.Second):
		}
		metrics, err := request(http.MethodGet, "http://"+net.JoinHostPort(master, "9003")+"/metrics", nil)
		if err != nil {
			continue // asked again; the samples are counted
		}
		if capacity, err := metricIn(string(metrics), totalCapacity); err == nil {
			most, samples = max(most, (3*segment-capacity)/segment), samples+1
		}
	}
}

// readAll reads every key again and again, each after 2 s at the earliest.
func (m mooncake) readAll(ctx context.Context, t *testing.T, keys []string) {
	rounds := 0
	for ctx.Err() == nil {
		start := time.Now()
		stores := m.readers(t)
		for n, key := range keys {
			if len(stores) == 0 || ctx.Err() != nil {
				break
			}
			_ = get(stores[n%len(stores)], key, 1<<20) // it touches; what is lost is counted later
		}
		rounds++
		time.Sleep(time.Until(start.Add(2 * time.Second)))
	}
	t.Logf("%d rounds of reading", rounds)
}

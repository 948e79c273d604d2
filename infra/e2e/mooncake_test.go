package e2e

import (
	"crypto/rand"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMooncake puts values through each store and gets them through every other
// one: what the published manifest cannot do although all its pods are ready.
func TestMooncake(t *testing.T) {
	s := mooncake{newStack(t, "e2e-mooncake"), "mooncake"}
	const capacity = 3 * 64 << 20

	step(t, "up makes the store", func(t *testing.T) {
		s.run(t, "up")
		assert.Len(t, s.pods(t, "master", ".metadata.uid"), 1)
		assert.Len(t, s.stores(t), 3)
		assert.Equal(t, slices.Sorted(maps.Values(s.stores(t))), s.segments(t))
		assert.Equal(t, capacity, s.capacity(t))
	})
	step(t, "what one store takes every other one gives", func(t *testing.T) { testPutGet(t, s, 12) })
	step(t, "up again changes nothing", func(t *testing.T) { s.run(t, "up", "--expect-no-changes") })
	step(t, "refresh finds no drift", func(t *testing.T) { s.run(t, "refresh", "--expect-no-changes") })
	step(t, "a deleted store comes back with its memory", func(t *testing.T) {
		start := time.Now()
		s.kubectl(t, "delete", "pod", "mooncake-store-1")
		t.Logf("gone after %.1f s", time.Since(start).Seconds())
		s.eventuallyWhole(t, 3, capacity)
		t.Logf("back after %.1f s", time.Since(start).Seconds())
		testPutGet(t, s, 12)
	})
	step(t, "destroy leaves the namespace", func(t *testing.T) {
		s.run(t, "destroy")
		eventually(t, time.Minute, func(c *assert.CollectT) { assert.Empty(c, s.objects(c)) })
		assert.NotContains(t, s.kubectl(t, "get", "namespace", string(s.stack), "-o", "jsonpath={.metadata.labels}"), "kvinfra")
	})
	step(t, "clean up", s.remove)
}

// testPutGet puts keys through the stores in turn, and gets each through every
// other one.
func testPutGet(t *testing.T, s mooncake, keys int) {
	t.Helper()
	const size = 1 << 20
	stores := s.readers(t)
	start, reads := time.Now(), 0
	for n := range keys { // each put chooses one store's memory at random
		key, writer := rand.Text(), stores[n%len(stores)]
		require.NoError(t, put(writer, key, size))
		for _, reader := range stores {
			if reader != writer {
				assert.NoError(t, get(reader, key, size), "put through %s", writer)
				reads++
			}
		}
	}
	t.Logf("%d values of 1 MiB put and got %d times in %.1f s", keys, reads, time.Since(start).Seconds())
}

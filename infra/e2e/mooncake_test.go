package e2e

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMooncake puts values through each store and gets them through every other
// one: what the published manifest cannot do although all its pods are ready.
func TestMooncake(t *testing.T) {
	s := newStack(t, "e2e-mooncake")
	const capacity = 3 * 64 << 20

	step(t, "up makes the store", func(t *testing.T) {
		s.run(t, "up")
		assert.Len(t, s.list(t, "pods", ".metadata.uid", "-l", "app=mooncake-master"), 1)
		assert.Len(t, s.stores(t), 3)
		assert.Equal(t, slices.Sorted(maps.Values(s.stores(t))), s.segments(t))
		assert.Equal(t, capacity, s.capacity(t))
	})
	step(t, "what one store takes every other one gives", func(t *testing.T) { testPutGet(t, s) })
	step(t, "up again changes nothing", func(t *testing.T) { s.run(t, "up", "--expect-no-changes") })
	step(t, "refresh finds no drift", func(t *testing.T) { s.run(t, "refresh", "--expect-no-changes") })
	step(t, "a deleted store comes back with its memory", func(t *testing.T) {
		start := time.Now()
		before := s.stores(t)
		s.kubectl(t, "delete", "pod", "mooncake-store-1")
		t.Logf("gone after %.1f s", time.Since(start).Seconds())
		eventually(t, 2*time.Minute, func(c *assert.CollectT) {
			assert.NotEqual(c, before["mooncake-store-1"], s.stores(c)["mooncake-store-1"])
			assert.Equal(c, slices.Sorted(maps.Values(s.stores(c))), s.segments(c))
			assert.Equal(c, capacity, s.capacity(c))
		})
		s.eventuallyReady(t, "mooncake-store", 3)
		t.Logf("back after %.1f s", time.Since(start).Seconds())
		testPutGet(t, s)
	})
	step(t, "destroy leaves the namespace", func(t *testing.T) {
		s.run(t, "destroy")
		eventually(t, time.Minute, func(c *assert.CollectT) { assert.Empty(c, s.objects(c)) })
	})
	step(t, "clean up", s.remove)
}

// testPutGet compares bytes: the store answers 200 with nothing when it knows of a
// value and cannot fetch it. The keys are new each time: a put to one that exists
// answers 200 and keeps the old value.
func testPutGet(t *testing.T, s stack) {
	stores := s.stores(t)
	start, values := time.Now(), 0
	for _, size := range []int{16, 1 << 20} {
		for from, address := range stores {
			for range 4 { // each put chooses one store's memory at random
				key, value := rand.Text(), randomText(size)
				body, err := json.Marshal(map[string]string{"key": key, "value": value})
				require.NoError(t, err)
				fetch(t, http.MethodPut, "http://"+net.JoinHostPort(address, "8088")+"/api/put", body)
				for to, address := range stores {
					got := fetch(t, http.MethodGet, "http://"+net.JoinHostPort(address, "8088")+"/api/get/"+key, nil)
					assert.True(t, string(got) == value, "%d bytes put through %s: %d bytes through %s", size, from, len(got), to)
					values++
				}
			}
		}
	}
	t.Logf("%d values read in %.1f s", values, time.Since(start).Seconds())
}

func randomText(size int) string {
	var text strings.Builder
	for text.Len() < size {
		text.WriteString(rand.Text())
	}
	return text.String()[:size]
}

// stores returns the addresses of the stores' pods.
func (s stack) stores(t require.TestingT) map[string]string {
	return s.list(t, "pods", ".status.podIP", "-l", "app=mooncake-store")
}

// segments returns the addresses under which the master knows memory.
func (s stack) segments(t require.TestingT) []string {
	var hosts []string
	for line := range strings.Lines(s.master(t, "/get_all_segments")) {
		host, _, err := net.SplitHostPort(strings.TrimSpace(line))
		require.NoError(t, err, line)
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return hosts
}

// capacity returns how many bytes the stores lend in all.
func (s stack) capacity(t require.TestingT) int {
	for line := range strings.Lines(s.master(t, "/metrics")) {
		if value, found := strings.CutPrefix(line, "master_total_capacity_bytes "); found {
			bytes, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			require.NoError(t, err)
			return int(bytes)
		}
	}
	require.Fail(t, "the master does not say its capacity")
	return 0
}

func (s stack) master(t require.TestingT, path string) string {
	address := s.kubectl(t, "get", "service", "mooncake-master", "-o", "jsonpath={.spec.clusterIP}")
	return string(fetch(t, http.MethodGet, "http://"+net.JoinHostPort(address, "9003")+path, nil))
}

func fetch(t require.TestingT, method, url string, body []byte) []byte {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	require.NoError(t, err)
	client := http.Client{Timeout: 15 * time.Second}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, fmt.Sprintf("%s %s: %.200s", method, url, answer))
	return answer
}

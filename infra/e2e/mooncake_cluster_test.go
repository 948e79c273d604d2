package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
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

// mooncake is a Mooncake Store of a stack.
type mooncake struct {
	stack
	name string
}

// pods returns a field of the pods of a part, master or store, by their names.
func (m mooncake) pods(t require.TestingT, part, field string) map[string]string {
	return m.list(t, "pods", field, "-l", "app.kubernetes.io/instance="+m.name+",app.kubernetes.io/component="+part)
}

// stores returns the addresses of the stores' pods.
func (m mooncake) stores(t require.TestingT) map[string]string {
	return m.pods(t, "store", ".status.podIP")
}

// readers returns the stores' addresses in the order of their names.
func (m mooncake) readers(t require.TestingT) []string {
	stores := m.stores(t)
	var addresses []string
	for _, pod := range slices.Sorted(maps.Keys(stores)) {
		addresses = append(addresses, stores[pod])
	}
	return addresses
}

// master returns the answer of the master that serves; of several only one does.
func (m mooncake) master(t require.TestingT, path string) string {
	var problems []string
	for pod, address := range m.pods(t, "master", ".status.podIP") {
		answer, err := request(http.MethodGet, "http://"+net.JoinHostPort(address, "9003")+path, nil)
		if err == nil {
			return string(answer)
		}
		problems = append(problems, fmt.Sprintf("%s: %v", pod, err))
	}
	require.Fail(t, "no master answers", "%s", strings.Join(problems, "\n"))
	return ""
}

// segments returns the addresses under which the master knows memory.
func (m mooncake) segments(t require.TestingT) []string {
	var hosts []string
	for line := range strings.Lines(m.master(t, "/get_all_segments")) {
		host, _, err := net.SplitHostPort(strings.TrimSpace(line))
		require.NoError(t, err, line)
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return hosts
}

// metric returns a number of the master's.
func (m mooncake) metric(t require.TestingT, name string) int {
	number, err := metricIn(m.master(t, "/metrics"), name)
	require.NoError(t, err)
	return number
}

func metricIn(metrics, name string) (int, error) {
	for line := range strings.Lines(metrics) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return int(number), err
		}
	}
	return 0, fmt.Errorf("the master does not say %s", name)
}

// totalCapacity is the master's name for what the stores lend in all, in bytes.
const totalCapacity = "master_total_capacity_bytes"

func (m mooncake) capacity(t require.TestingT) int { return m.metric(t, totalCapacity) }

// eventuallyWhole waits until that many stores are ready and lend their memory.
func (m mooncake) eventuallyWhole(t *testing.T, stores, capacity int) {
	t.Helper()
	m.eventuallyReady(t, m.name+"-store", stores)
	eventually(t, 2*time.Minute, func(c *assert.CollectT) {
		assert.Equal(c, slices.Sorted(maps.Values(m.stores(c))), m.segments(c))
		assert.Equal(c, capacity, m.capacity(c))
	})
}

// value returns text that only this key has.
func value(key string, size int) string {
	var text strings.Builder
	for n := 0; text.Len() < size; n++ {
		sum := sha256.Sum256([]byte(key + strconv.Itoa(n)))
		text.WriteString(hex.EncodeToString(sum[:]))
	}
	return text.String()[:size]
}

// put writes a key through a store. Of a key that exists the old value stays.
func put(address, key string, size int) error {
	body, err := json.Marshal(map[string]string{"key": key, "value": value(key, size)})
	if err != nil {
		return err
	}
	_, err = request(http.MethodPut, "http://"+net.JoinHostPort(address, "8088")+"/api/put", body)
	return err
}

// get reads a key through a store and compares every byte: the store answers 200
// with nothing when it knows of a value and cannot fetch it.
func get(address, key string, size int) error {
	got, err := request(http.MethodGet, "http://"+net.JoinHostPort(address, "8088")+"/api/get/"+key, nil)
	if err == nil && string(got) != value(key, size) {
		err = fmt.Errorf("%s: %d bytes that are not the %d written", key, len(got), size)
	}
	return err
}

// answers is for all requests: a store that answers a bulk of them keeps its
// connections.
var answers = http.Client{Timeout: 15 * time.Second}

// request returns the body of an answer with status 200.
func request(method, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := answers.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %.200s", method, url, response.Status, answer)
	}
	return answer, err
}

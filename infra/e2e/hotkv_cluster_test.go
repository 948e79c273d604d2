package e2e

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layout returns what a pod says of each: the slots of a primary, or whom a
// replica copies.
func (s stack) layout(t require.TestingT, pod string) map[string]string {
	pods := map[string]string{} // by id
	lines := strings.Split(s.kubectl(t, "exec", pod, "--", "hotkv-cli", "-e", "cluster", "nodes"), "\n")
	for _, line := range lines {
		fields := strings.Fields(line)
		require.GreaterOrEqual(t, len(fields), 8, line)
		name, rest, _ := strings.Cut(fields[1], ".")
		require.Equal(t, fmt.Sprintf("hotkv.%s.svc:6379@16379", s), rest)
		pods[fields[0]] = name
	}
	layout := map[string]string{}
	for _, line := range lines {
		fields := strings.Fields(line)
		role := "replica of " + pods[fields[3]]
		if strings.Contains(fields[2], "master") {
			role = strings.Join(append([]string{"primary"}, fields[8:]...), " ")
		}
		layout[pods[fields[0]]] = role
	}
	return layout
}

// eventuallyHealthy waits until every pod sees the same whole cluster, with every
// replica connected to its primary.
func (s stack) eventuallyHealthy(t *testing.T, pods int) {
	t.Helper()
	eventually(t, time.Minute, func(c *assert.CollectT) {
		for n := range pods {
			pod := fmt.Sprintf("hotkv-%d", n)
			info := s.kubectl(c, "exec", pod, "--", "sh", "-c", "hotkv-cli -e cluster info && hotkv-cli -e info replication")
			for _, want := range []string{"cluster_state:ok", "cluster_slots_ok:16384", fmt.Sprintf("cluster_known_nodes:%d", pods), "cluster_size:3"} {
				assert.Contains(c, info, want+"\r", pod)
			}
			assert.NotContains(c, info, "master_link_status:down", pod)
			assert.Equal(c, s.layout(c, "hotkv-0"), s.layout(c, pod), pod)
		}
	})
}

// get reads a key from the cluster as a whole.
func (s stack) get(t *testing.T, key string) string {
	t.Helper()
	return s.kubectl(t, "exec", "hotkv-1", "--", "hotkv-cli", "-e", "-c", "get", key)
}

func (s stack) password(t *testing.T) string {
	t.Helper()
	password, err := base64.StdEncoding.DecodeString(s.kubectl(t, "get", "secret", "hotkv", "-o", "jsonpath={.data.password}"))
	require.NoError(t, err)
	require.Len(t, password, 32)
	return string(password)
}

// hosts returns the names that the pods announce.
func (s stack) hosts(t *testing.T) []string {
	t.Helper()
	var hosts []string
	for pod := range s.list(t, "pods", ".metadata.uid", "-l", "app=hotkv") {
		hosts = append(hosts, fmt.Sprintf("%s.hotkv.%s.svc:6379", pod, s))
	}
	return hosts
}

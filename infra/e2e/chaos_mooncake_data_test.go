package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChaosMooncakeMetadata moves data between all stores with each place for the
// metadata, and with the oldest release.
func TestChaosMooncakeMetadata(t *testing.T) {
	for _, tt := range []struct{ story, version, settings string }{
		{story: "p2p", version: newest},
		{story: "http", version: newest, settings: "      metadata: {mode: http}\n"},
		{story: "etcd", version: newest, settings: "      metadata: {mode: etcd, etcd: [etcd.chaos-mc-etcd.svc:2379]}\n"},
		{story: "older", version: oldest},
	} {
		t.Run(tt.story, func(t *testing.T) {
			s := chaosMooncake(t, tt.story, storeOf("mooncake", tt.version, "")+tt.settings)
			if tt.story == "etcd" {
				s.startEtcd(t)
			}
			s.run(t, "up")
			t.Log(s.kubectl(t, "logs", "-l", "app=mooncake-verify", "--tail=-1"))
			testPutGet(t, s, 100)
			s.run(t, "up", "--expect-no-changes")
		})
	}
}

// TestChaosMooncakeFaults takes away what the published manifest lacks, and one
// port: the check of an up that changes nothing else finds each.
func TestChaosMooncakeFaults(t *testing.T) {
	s := chaosMooncake(t, "faults", storeOf("mooncake", newest, "")+"      runVerify: at first\n")
	step(t, "up", func(t *testing.T) { s.run(t, "up") })
	const container = `{"spec":{"template":{"spec":{"containers":[{"name":"mooncake-store","env":[%s]}]}}}}`
	last := "at first"
	for _, tt := range []struct {
		fault, environment, policy string
		want                       []string
	}{
		{
			fault:       "no hostname",
			environment: `{"$patch":"delete","name":"MOONCAKE_LOCAL_HOSTNAME"},{"$patch":"delete","name":"LOCAL_HOSTNAME"}`,
			want:        []string{"the master knows a store as localhost:", "MOONCAKE_LOCAL_HOSTNAME"},
		},
		{
			fault:       "no buffer",
			environment: `{"name":"MOONCAKE_LOCAL_BUFFER_SIZE","value":"0"}`,
			want:        []string{"mooncake-store-0 cannot write: status 500"},
		},
		{
			fault: "no port",
			policy: `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: fault}
spec:
  podSelector: {matchLabels: {statefulset.kubernetes.io/pod-name: mooncake-store-1}}
  ingress: [{ports: [{port: 8088}, {port: 9300}]}]
`,
			want: []string{"wrote to the segment of mooncake-store-1"},
		},
	} {
		step(t, tt.fault, func(t *testing.T) {
			if tt.policy != "" {
				s.apply(t, tt.policy)
			} else {
				s.kubectl(t, "patch", "statefulset", "mooncake-store", "-p", fmt.Sprintf(container, tt.environment))
				s.kubectl(t, "rollout", "status", "statefulset", "mooncake-store", "--timeout=3m")
			}
			s.edit(t, "runVerify: "+last, "runVerify: "+tt.fault)
			last = tt.fault
			said := s.refused(t, "up")
			for _, want := range tt.want {
				assert.Contains(t, said, want)
			}
			for line := range strings.Lines(said) {
				if strings.Contains(line, tt.want[0]) {
					t.Log(strings.TrimSpace(line))
				}
			}
			if tt.policy != "" {
				s.kubectl(t, "delete", "networkpolicy", "fault")
			} else {
				s.kubectl(t, "rollout", "undo", "statefulset", "mooncake-store")
				s.kubectl(t, "rollout", "status", "statefulset", "mooncake-store", "--timeout=3m")
			}
		})
	}
	step(t, "none", func(t *testing.T) { s.run(t, "up") })
}

// TestChaosMooncakeFull fills the pool until keys are evicted, under the memory
// limit that follows from the sizes.
func TestChaosMooncakeFull(t *testing.T) {
	for story, version := range map[string]string{"full": newest, "full-older": oldest} {
		t.Run(story, func(t *testing.T) {
			s := chaosMooncake(t, story, storeOf("mooncake", version, ""))
			s.run(t, "up")
			s.fill(t, 1.3)
			used := s.metric(t, "master_allocated_bytes")
			t.Logf("%d MiB of %d MiB used, memory limit %s", used>>20, s.capacity(t)>>20,
				s.kubectl(t, "get", "statefulset", "mooncake-store", "-o", "jsonpath={.spec.template.spec.containers[0].resources.limits.memory}"))
			assert.Greater(t, used, s.capacity(t)*80/100)
			for _, part := range []string{"master", "store"} {
				for pod, restarts := range s.pods(t, part, ".status.containerStatuses[0].restartCount") {
					assert.Equal(t, "0", restarts, pod)
				}
			}
			testPutGet(t, s, 6)
		})
	}
}

// TestChaosMooncakeNeighbours has two clusters in one namespace, and one of the same
// name in another: none sees another's keys. All of them share one etcd.
func TestChaosMooncakeNeighbours(t *testing.T) {
	const shared = `      metadata: {mode: etcd, etcd: [etcd.chaos-mc-near.svc:2379]}
      highAvailability: {etcd: [etcd.chaos-mc-near.svc:2379]}
`
	small := func(name string) string {
		return strings.Replace(storeOf(name, newest, ""), "replicas: 3", "replicas: 2", 1)
	}
	near := chaosMooncake(t, "near", small("mooncake")+shared+small("other"))
	far := chaosMooncake(t, "far", small("mooncake")+shared)
	clusters := []mooncake{near, {near.stack, "other"}, far}
	near.startEtcd(t)
	near.run(t, "up")
	far.run(t, "up")
	for n, c := range clusters {
		assert.Len(t, c.segments(t), 2)
		key := fmt.Sprint("of ", n)
		require.NoError(t, put(c.readers(t)[0], fmt.Sprint("of", n), 1<<10), key)
	}
	for reader, c := range clusters {
		for writer := range clusters {
			for _, store := range c.readers(t) {
				err := get(store, fmt.Sprint("of", writer), 1<<10)
				if reader == writer {
					assert.NoError(t, err)
				} else {
					assert.ErrorContains(t, err, "404", "cluster %d has a key of cluster %d", reader, writer)
				}
			}
		}
	}
}

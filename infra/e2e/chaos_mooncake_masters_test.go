package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const threeMasters = "      highAvailability: {etcd: [etcd.chaos-mc-%.svc:2379]}\n"

// TestChaosMooncakeMaster deletes the only master.
func TestChaosMooncakeMaster(t *testing.T) {
	s := chaosMooncake(t, "master", storeOf("mooncake", newest, ""))
	s.run(t, "up")
	for range 3 {
		for pod := range s.pods(t, "master", ".metadata.uid") {
			s.deletePod(t, pod)
		}
		gone := time.Now()
		assert.LessOrEqual(t, s.untilPut(t, gone), 8.0)
		s.eventuallyWhole(t, 3, 3*segment)
		t.Logf("all stores are back %.1f s later", time.Since(gone).Seconds())
	}
}

// TestChaosMooncakeLeader deletes the master that leads, of three.
func TestChaosMooncakeLeader(t *testing.T) {
	s := chaosMooncake(t, "leader", storeOf("mooncake", newest, "")+strings.Replace(threeMasters, "%", "leader", 1))
	s.startEtcd(t)
	s.run(t, "up")
	testPutGet(t, s, 12)

	var clients map[string]string
	require.NoError(t, json.Unmarshal([]byte(s.kubectl(t, "get", "configmap", "mooncake-client", "-o", "jsonpath={.data}")), &clients))
	assert.Equal(t, "etcd://etcd.chaos-mc-leader.svc:2379", clients["MOONCAKE_MASTER"])
	for service := range s.list(t, "services", ".metadata.uid", "-l", "app.kubernetes.io/part-of=kvinfra") {
		for variable, value := range clients {
			assert.NotContains(t, value, service+".", variable)
		}
	}

	for range 3 {
		s.deletePod(t, s.leader(t))
		gone := time.Now()
		assert.LessOrEqual(t, s.untilPut(t, gone), 12.0)
		s.eventuallyReady(t, "mooncake-masters", 3)
		s.eventuallyWhole(t, 3, 3*segment)
		t.Logf("all stores are back %.1f s later", time.Since(gone).Seconds())
	}
}

// leader returns the pod of the master that leads.
func (m mooncake) leader(t *testing.T) string {
	t.Helper()
	for pod, address := range m.pods(t, "master", ".status.podIP") {
		if role, err := request("GET", "http://"+address+":9003/role", nil); err == nil && strings.TrimSpace(string(role)) == "leader" {
			return pod
		}
	}
	require.Fail(t, "no master leads")
	return ""
}

// TestChaosMooncakeSwitch turns high availability on and off again while the cluster
// runs.
func TestChaosMooncakeSwitch(t *testing.T) {
	s := chaosMooncake(t, "switch", storeOf("mooncake", newest, "")+"      highAvailability: {}\n")
	s.startEtcd(t)
	const strategies = `{.spec.strategy.type}{.spec.strategy.rollingUpdate}`
	check := func(t *testing.T, strategy map[string]string) {
		t.Helper()
		assert.Equal(t, strategy, s.list(t, "deployments", strategies[1:len(strategies)-1]))
		s.eventuallyWhole(t, 3, 3*segment)
		testPutGet(t, s, 12)
		s.run(t, "up", "--expect-no-changes")
	}
	one := map[string]string{"mooncake-master": "Recreate"}
	three := map[string]string{"mooncake-masters": `RollingUpdate{"maxSurge":1,"maxUnavailable":0}`}
	step(t, "one master", func(t *testing.T) { s.run(t, "up"); check(t, one) })
	step(t, "three masters", func(t *testing.T) {
		s.edit(t, "highAvailability: {}", "highAvailability: {etcd: [etcd.chaos-mc-switch.svc:2379]}")
		s.run(t, "up")
		check(t, three)
	})
	step(t, "one master again", func(t *testing.T) {
		s.edit(t, "highAvailability: {etcd: [etcd.chaos-mc-switch.svc:2379]}", "highAvailability: {}")
		s.run(t, "up")
		check(t, one)
	})
}

// TestChaosMooncakeVersion changes the release of a cluster that runs, there and
// back: masters, stores and clients of two releases need not understand each other.
func TestChaosMooncakeVersion(t *testing.T) {
	s := chaosMooncake(t, "version", storeOf("mooncake", oldest, ""))
	edit := func(t *testing.T, from, to, fromImage, toImage string) {
		t.Helper()
		s.edit(t, "image: "+fromImage, "image: "+toImage)
		s.edit(t, "version: "+from, "version: "+to)
		s.run(t, "up")
		s.eventuallyWhole(t, 3, 3*segment)
		testPutGet(t, s, 12)
	}
	step(t, "the oldest", func(t *testing.T) { s.run(t, "up"); testPutGet(t, s, 12) })
	step(t, "the newest", func(t *testing.T) { edit(t, oldest, newest, "mooncake-older:local", "mooncake:local") })
	step(t, "the oldest again", func(t *testing.T) { edit(t, newest, oldest, "mooncake:local", "mooncake-older:local") })
}

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestChaosMooncakeRDMA has a node that offers RDMA devices, as a device plugin does,
// and has none: stores are scheduled with one each and say aloud that there is none.
func TestChaosMooncakeRDMA(t *testing.T) {
	const resource = "kvinfra.test/hca"
	s := chaosMooncake(t, "rdma", storeOf("mooncake", newest, "")+
		"      fabric: {mode: rdma-device-plugin, devicePlugin: {resource: "+resource+"}}\n")
	s.edit(t, "timeoutSeconds: 180", "timeoutSeconds: 40")
	patch := func(t *testing.T, kind, patch string) {
		t.Helper()
		_, err := kubectl("patch", "node", "local", "--subresource=status", "--type="+kind, "-p", patch)
		require.NoError(t, err)
	}
	step(t, "no node offers a device", func(t *testing.T) {
		s.refused(t, "up")
		assert.Contains(t, s.pods(t, "store", `.status.conditions[?(@.type=="PodScheduled")].message`)["mooncake-store-0"], "Insufficient "+resource)
	})
	step(t, "a node offers what it has not", func(t *testing.T) {
		patch(t, "merge", `{"status":{"capacity":{"`+resource+`":"3"}}}`)
		t.Cleanup(func() { patch(t, "json", `[{"op":"remove","path":"/status/capacity/kvinfra.test~1hca"}]`) })
		s.refused(t, "up")
		assert.Equal(t, "local", s.pods(t, "store", ".spec.nodeName")["mooncake-store-0"])
		assert.Equal(t, "1", s.pods(t, "store", `.spec.containers[0].resources.limits.kvinfra\.test/hca`)["mooncake-store-0"])
		// A machine may have no SYS_RESOURCE to give; that is not what this is about.
		s.kubectl(t, "patch", "statefulset", "mooncake-store", "--type=json", "-p",
			`[{"op":"remove","path":"/spec/template/spec/containers/0/securityContext/capabilities/add"}]`)
		s.kubectl(t, "delete", "pod", "mooncake-store-0")
		eventually(t, time.Minute, func(c *assert.CollectT) {
			log := s.kubectl(c, "logs", "mooncake-store-0")
			assert.Contains(c, log, "Failed to install transport, type=rdma")
			assert.NotContains(c, log, "TcpTransport: listen on port")
		})
		assert.Equal(t, "false", s.pods(t, "store", ".status.containerStatuses[0].ready")["mooncake-store-0"])
	})
	step(t, "destroy", s.remove)
}

package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/e2e/load"
)

// testNetworkPolicy looks at the ports of the servers from pods that are none, and has
// the policy put on a cluster that ran without it.
func testNetworkPolicy(t *testing.T, s hotkv) {
	elsewhere := stack("default")
	s.startStranger(t)
	elsewhere.startStranger(t)
	const client, both = "6379", "6379 16379"
	reach := func(t *testing.T, strangers string) {
		t.Helper()
		// The plugin may take seconds to see a policy.
		eventually(t, time.Minute, func(c *assert.CollectT) {
			servers := s.pods(c, ".status.podIP")
			assert.Equal(c, reached(servers, strangers), s.reaches(c, "stranger", servers), "from the cluster's namespace")
			assert.Equal(c, reached(servers, strangers), elsewhere.reaches(c, "stranger", servers), "from another namespace")
			assert.Equal(c, reached(servers, both), s.reaches(c, "hotkv-0", servers), "from a server")
		})
	}

	step(t, "it closes the bus", func(t *testing.T) { reach(t, client) })
	const storage, off = "storage: {size: 1Gi}\n", "      networkPolicy: {off: true}\n"
	step(t, "without it the bus is open", func(t *testing.T) {
		s.edit(t, storage, storage+off)
		s.run(t, "up")
		reach(t, both)
	})
	step(t, "it comes to a cluster under load", func(t *testing.T) {
		before := s.pods(t, ".status.containerStatuses[0].containerID")
		report := s.underLoad(t, 3, func() {
			s.edit(t, off, "")
			s.run(t, "up")
			reach(t, client)
		})
		assert.LessOrEqual(t, report.Failed(), report.Excused(load.Every()...), "operations, also with the libraries' default options")
		assert.LessOrEqual(t, report.Own(load.Every()...), time.Second)
		assert.Equal(t, before, s.pods(t, ".status.containerStatuses[0].containerID"), "no server was restarted")
		s.eventuallyHealthy(t, 3, 1)
	})
}

// startStranger starts a pod that is no part of any cluster, until the end of the test.
func (s stack) startStranger(t *testing.T) {
	t.Helper()
	s.apply(t, `
apiVersion: v1
kind: Pod
metadata: {name: stranger}
spec:
  terminationGracePeriodSeconds: 0
  securityContext: {runAsNonRoot: true, runAsUser: 999, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: shell
    image: hotkv:local
    command: [sleep, "3600"]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`)
	t.Cleanup(func() { s.kubectl(t, "delete", "pod", "stranger") })
	s.kubectl(t, "wait", "--for=condition=Ready", "pod/stranger", "--timeout=1m")
}

// reaches returns the ports of each server to which a pod can connect.
func (s stack) reaches(t require.TestingT, pod string, servers map[string]string) map[string]string {
	const probe = `for address; do
  echo -n "$address"
  for port in 6379 16379; do ! timeout 3 bash -c "</dev/tcp/$address/$port" 2>/dev/null || echo -n " $port"; done
  echo
done`
	names := map[string]string{}
	for name, address := range servers {
		names[address] = name
	}
	ports := map[string]string{}
	addresses := slices.Sorted(maps.Values(servers))
	for line := range strings.Lines(s.kubectl(t, append([]string{"exec", pod, "--", "bash", "-c", probe, "-"}, addresses...)...)) {
		address, open, _ := strings.Cut(strings.TrimSpace(line), " ")
		ports[names[address]] = open
	}
	return ports
}

// reached returns the same ports for each server.
func reached(servers map[string]string, ports string) map[string]string {
	all := map[string]string{}
	for name := range servers {
		all[name] = ports
	}
	return all
}

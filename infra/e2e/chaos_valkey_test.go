package e2e

import "testing"

// TestChaosValkey walks through the published guide with an image that has only the
// names of the Valkey project's own.
func TestChaosValkey(t *testing.T) {
	s := chaosOf(t, "valkey", "hotkv", `    hotkv:
      image: valkey:local
      server: valkey
      primaries: 3
      replicasPerPrimary: 1
      storage: {size: 1Gi}
      resources: {requests: {cpu: 20m}, limits: {memory: 128Mi}}
      timeoutSeconds: 180
`)
	walk(t, hotkv{stack: s, name: "hotkv", cli: "valkey-cli"})
}

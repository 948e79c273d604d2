package e2e

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/e2e/load"
)

// TestPlatformTeam brings up the example of another team's program, and uses its
// clusters by what the stack exports.
func TestPlatformTeam(t *testing.T) {
	const namespace = "e2e-team"
	s := newStack(t, namespace)
	team := newTeam(t, work+"/examples/platform-team")
	_, err := kubectl("delete", "namespace", namespace, "--ignore-not-found", "--timeout=2m")
	require.NoError(t, err)

	step(t, "preview needs no cluster", func(t *testing.T) {
		team.pulumi(t, "stack", "init", "dev")
		team.pulumi(t, "config", "set", "namespace", namespace)
		assert.Regexp(t, `\+ \d+ to create`, team.pulumi(t, "preview"))
	})
	step(t, "up waits for both clusters and for the team's own pods", func(t *testing.T) {
		team.pulumi(t, "config", "set", "kubeconfig", "../../cluster.kubeconfig")
		team.pulumi(t, "up", "--yes", "--skip-preview")
		assert.Contains(t, s.kubectl(t, "logs", "deployment/visits"), "visit 1")
		assert.Contains(t, s.kubectl(t, "logs", "deployment/engine"), "1 MiB put and got")
	})
	step(t, "the outputs are enough to connect", func(t *testing.T) { testOutputs(t, s, team) })
	step(t, "up again changes nothing", func(t *testing.T) {
		team.pulumi(t, "up", "--yes", "--skip-preview", "--expect-no-changes")
	})
	step(t, "destroy removes everything", func(t *testing.T) {
		team.pulumi(t, "destroy", "--yes", "--skip-preview")
		found, err := kubectl("get", "namespace", namespace, "--ignore-not-found")
		require.NoError(t, err)
		assert.Empty(t, found)
	})
}

// testOutputs connects to both clusters with nothing but what the stack exports.
func testOutputs(t *testing.T, s stack, team team) {
	assert.Contains(t, team.pulumi(t, "stack", "output", "--json"), `"password": "[secret]"`)

	var sessions struct {
		Addresses []string
		Password  string
	}
	output(t, team, "sessions", &sessions)
	clients, closeAll, err := load.Cluster{Addresses: sessions.Addresses, Password: sessions.Password, DNS: nameService(t)}.Clients()
	require.NoError(t, err)
	defer closeAll()
	for _, client := range clients {
		require.NoError(t, client.Store.Set(t.Context(), "user:1000", client.Name), client.Name)
		got, err := client.Store.Get(t.Context(), "user:1000")
		require.NoError(t, err, client.Name)
		assert.Equal(t, client.Name, got)
	}

	var prefixes struct{ MasterAddress, MetadataServer, Protocol string }
	output(t, team, "prefixes", &prefixes)
	// A client of Mooncake needs its library and a pod's address; the engine's pod has both.
	const client = `
import os, sys
from mooncake.store import MooncakeDistributedStore
master, metadata, protocol = sys.argv[1:]
store = MooncakeDistributedStore()
assert store.setup(os.environ["LOCAL_HOSTNAME"], metadata, 0, 16 << 20, protocol, "", master) == 0
assert store.put("user:1000", b"ada") == 0
print("got", store.get("user:1000"))
`
	words := s.kubectl(t, "exec", "deployment/engine", "--", "python3", "-c", client,
		prefixes.MasterAddress, prefixes.MetadataServer, prefixes.Protocol)
	assert.Contains(t, words, "got b'ada'")
}

// output reads an output of the team's stack, with its secrets.
func output(t *testing.T, team team, name string, into any) {
	t.Helper()
	text := team.pulumi(t, "stack", "output", name, "--json", "--show-secrets")
	require.NoError(t, json.Unmarshal([]byte(text), into), text)
}

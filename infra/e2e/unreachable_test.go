package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUnreachable brings a stack up on clusters that cannot be used: that is told
// soon, and nothing was made, not even a password.
func TestUnreachable(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	require.NoError(t, err)
	defer silent.Close()

	const s = stack("e2e-unreachable")
	writeFile(t, filepath.Join(work, "Pulumi.e2e-unreachable.yaml"), `
config:
  pulumi:disable-default-providers: [kubernetes]
  kvinfra:cluster: {kubeconfig: unreachable.kubeconfig, context: here, namespace: e2e-unreachable}
  kvinfra:hotkv: {hotkv: {image: hotkv:local}}
`)
	s.run(t, "preview") // compiles, which takes long
	up := func(t *testing.T, context, server, why string) time.Duration {
		writeFile(t, filepath.Join(work, "unreachable.kubeconfig"), fmt.Sprintf(`
contexts: [{name: %s, context: {cluster: it}}]
clusters: [{name: it, cluster: {server: %q}}]
`, context, server))
		start := time.Now()
		out := s.refused(t, "up")
		took := time.Since(start)
		assert.Contains(t, out, "Pulumi.e2e-unreachable.yaml: kvinfra:cluster.context: "+why)
		for _, kind := range s.made(t) {
			assert.Equal(t, "pulumi:pulumi:Stack", kind)
		}
		return took
	}
	var asksNobody time.Duration // seconds, and more on a busy machine
	step(t, "a context that is not there", func(t *testing.T) {
		asksNobody = up(t, "there", "https://127.0.0.1:1", filepath.Join(absolute(t, work), "unreachable.kubeconfig")+` has no context "here"; it has there`)
	})
	for what, server := range map[string]string{
		"a port that is closed": "https://127.0.0.1:1",
		"a server that hangs":   "https://" + silent.Addr().String(),
	} {
		t.Run(what, func(t *testing.T) {
			assert.Less(t, up(t, "here", server, "the API server does not answer"), asksNobody+10*time.Second)
		})
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

// made returns the types of what is in the stack's state.
func (s stack) made(t *testing.T) []string {
	t.Helper()
	var state struct {
		Checkpoint struct {
			Latest struct {
				Resources []struct{ Type string }
			}
		}
	}
	file := filepath.Join(work, ".local/state/.pulumi/stacks/kvinfra", string(s)+".json")
	require.NoError(t, json.Unmarshal([]byte(readFile(t, file)), &state))
	var types []string
	for _, r := range state.Checkpoint.Latest.Resources {
		types = append(types, r.Type)
	}
	return types
}

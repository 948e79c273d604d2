package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestABadStackFileIsRefusedByTheEngine previews some of the stack files that the
// program's own tests have, with the engine's own reader.
func TestABadStackFileIsRefusedByTheEngine(t *testing.T) {
	const cluster = "config:\n  kvinfra:cluster: {kubeconfig: cluster.kubeconfig, context: local, namespace: e2e-bad}\n"
	for name, tc := range map[string]struct {
		file string
		want []string
	}{
		"bad-faults": {
			cluster + "  kvinfra:hotkv:\n" +
				"    a: {imag: hotkv:local, primaries: six}\n" +
				"    b: {image: hotkv:local, storage: {size: 1G1}}\n" +
				"  kvinfra:redis: {}\n",
			[]string{
				"kvinfra:redis: unknown key; known are kvinfra:cluster, kvinfra:hotkv, kvinfra:mooncake",
				"kvinfra:hotkv.a.imag: unknown key; did you mean image?",
				`kvinfra:hotkv.a.primaries: is the text "six", but must be a whole number`,
				`kvinfra:hotkv.b.storage.size: Invalid value: "1G1": is not a quantity; write it like 512Mi or 10Gi`,
			},
		},
		"bad-quotes": {
			cluster + "  kvinfra:hotkv: {cache: {image: hotkv:local, restart: 1.10, settings: {hz: 010}, labels: {fast: ~}}}\n",
			[]string{
				"kvinfra:hotkv.cache.labels[fast]: has no value, but must be a text: write one, or remove the key",
				"kvinfra:hotkv.cache.restart: is read as 1.1, which is no text: put what you mean in quotes",
				"kvinfra:hotkv.cache.settings[hz]: is read as 8, which is no text: put what you mean in quotes",
			},
		},
		"bad-indent": {
			cluster + "kvinfra:hotkv: {cache: {image: hotkv:local}}\n",
			[]string{"kvinfra:hotkv: stands beside config, where Pulumi passes over it; indent it, so that it is in config"},
		},
		"bad-nothing": {
			cluster + "  kvinfra:hotkv:\n",
			[]string{"kvinfra:hotkv: has no value: write {} for a map without settings, or remove the key"},
		},
		"bad-names": {
			cluster + "  kvinfra:hotkv: {a: {image: x, layout: StatefulSetPerShard}, a-0: {image: x}}\n",
			[]string{"kvinfra:hotkv.a-0: Forbidden: and kvinfra:hotkv.a would both have something called a-0 in the namespace e2e-bad; rename one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := "Pulumi." + name + ".yaml"
			path := filepath.Join(work, file)
			require.NoError(t, os.WriteFile(path, []byte(tc.file), 0o600))
			t.Cleanup(func() { require.NoError(t, os.Remove(path)) })
			out := stack(name).refused(t, "preview")
			for _, want := range tc.want {
				assert.Contains(t, out, file+": "+want+"\n")
			}
			assert.Contains(t, out, "Resources:\n    + 1 to create\n    1 errored\n", "nothing but the stack itself")
			assert.Empty(t, stateOf(t, name))
		})
	}
}

// stateOf returns the resources in a stack's state.
func stateOf(t *testing.T, name string) []any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(work, ".local/state/.pulumi/stacks/kvinfra", name+".json"))
	require.NoError(t, err)
	var state struct {
		Checkpoint struct {
			Latest struct {
				Resources []any `json:"resources"`
			} `json:"latest"`
		} `json:"checkpoint"`
	}
	require.NoError(t, json.Unmarshal(text, &state))
	return state.Checkpoint.Latest.Resources
}

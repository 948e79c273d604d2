package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMooncakeManifests has an API server check the objects of every fabric and of
// every place for metadata, and the examples for clients.
func TestMooncakeManifests(t *testing.T) {
	const namespace = "e2e-manifests"
	goldens, err := filepath.Glob(root + "/components/mooncake/testdata/*.golden.yaml")
	require.NoError(t, err)
	examples, err := filepath.Glob(root + "/components/mooncake/examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, goldens)
	require.NotEmpty(t, examples)
	s := newStack(t, namespace)
	_, err = kubectl("create", "namespace", namespace)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := kubectl("delete", "namespace", namespace, "--timeout=1m")
		require.NoError(t, err)
	})
	for _, file := range append(goldens, examples...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			manifests := regexp.MustCompile(`(?m)^  namespace: .*$`).ReplaceAllString(readFile(t, file), "  namespace: "+namespace)
			here := filepath.Join(t.TempDir(), "manifests.yaml")
			require.NoError(t, os.WriteFile(here, []byte(manifests), 0o600))
			out := s.kubectl(t, "apply", "--server-side", "--dry-run=server", "-f", here)
			accepted := strings.Count(out, "serverside-applied (server dry run)")
			assert.Equal(t, strings.Count("\n"+manifests, "\nkind: "), accepted, out)
			t.Logf("%d objects accepted", accepted)
		})
	}
}

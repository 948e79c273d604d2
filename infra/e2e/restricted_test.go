package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRestricted has an API server judge the pods of every golden file, those of Jobs
// and CronJobs too, by the strictest of the Pod Security Standards.
func TestRestricted(t *testing.T) {
	const namespace = "e2e-restricted"
	_, err := kubectl("create", "namespace", namespace)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := kubectl("delete", "namespace", namespace, "--timeout=1m")
		require.NoError(t, err)
	})
	// Of a workload it only warns; what it enforces, it enforces on pods.
	_, err = kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/warn=restricted", "pod-security.kubernetes.io/enforce=restricted")
	require.NoError(t, err)

	files, err := filepath.Glob(root + "/components/*/testdata/*.golden.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(filepath.Dir(filepath.Dir(file))) + " " + filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			objects := regexp.MustCompile(`(?m)^  namespace: .*$`).ReplaceAllString(readFile(t, file), "  namespace: "+namespace)
			here := filepath.Join(t.TempDir(), "objects.yaml")
			writeFile(t, here, objects)
			_, err := kubectl("apply", "--server-side", "--dry-run=server", "--warnings-as-errors", "-f", here)
			if strings.HasPrefix(filepath.Base(file), "rdma-") {
				assert.ErrorContains(t, err, "would violate PodSecurity")
				return
			}
			assert.NoError(t, err)
		})
	}
}

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPreview previews the repository's stacks as a pull request does: no cluster,
// and no kubeconfig, since the copy has none.
func TestPreview(t *testing.T) {
	before := tree(t)
	for _, name := range []string{"dev", "prod"} {
		t.Run(name, func(t *testing.T) {
			out := stack(name).run(t, "preview")
			assert.Regexp(t, `\+ \d+ to create`, out)
			assert.Contains(t, out, "this preview cannot ask a cluster")
		})
	}
	assert.Equal(t, before, tree(t))
}

// tree returns the files of the copy that a run must not change.
func tree(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(work, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".local":
			return filepath.SkipDir
		case d.Type().IsRegular():
			files[path] = readFile(t, path)
		}
		return nil
	}))
	return files
}

// TestRender has the manifests that a pull request shows checked by an API server.
func TestRender(t *testing.T) {
	manifests := stack("prod").render(t)
	assert.True(t, manifests == stack("prod").render(t), "twice the same bytes")

	for _, namespace := range []string{"kv-prod", "kv-prod-rdma"} {
		found, err := kubectl("get", "namespace", namespace, "--ignore-not-found", "-o", "name")
		require.NoError(t, err)
		if found == "" { // a dry run makes none, and needs it
			_, err := kubectl("create", "namespace", namespace)
			require.NoError(t, err)
			t.Cleanup(func() {
				_, err := kubectl("delete", "namespace", namespace, "--timeout=1m")
				require.NoError(t, err)
			})
		}
	}
	file := filepath.Join(t.TempDir(), "prod.yaml")
	require.NoError(t, os.WriteFile(file, []byte(manifests), 0o600))
	out, err := kubectl("apply", "--server-side", "--dry-run=server", "-f", file)
	require.NoError(t, err)
	accepted := strings.Count(out, "serverside-applied (server dry run)")
	assert.Equal(t, strings.Count(manifests, "\nkind: "), accepted, out)
	t.Logf("%d objects accepted", accepted)
}

// render returns the stack's objects as YAML.
func (s stack) render(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "run", "./infra", "render", string(s))
	cmd.Dir = work
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}

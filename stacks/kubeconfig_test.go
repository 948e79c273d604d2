package stacks

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const kubeconfig = `
apiVersion: v1
kind: Config
contexts:
- {name: one, context: {}}
- {name: two, context: {}}
`

func TestCheckKubeconfig(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	absolute := write("good", kubeconfig)
	write("broken", "contexts: [")
	require.NoError(t, os.Mkdir(filepath.Join(root, "folder"), 0o700))

	cases := map[string]struct {
		cluster Cluster
		want    string
	}{
		"a file beside the stack file": {Cluster{Kubeconfig: "good", Context: "two"}, ""},
		"an absolute path":             {Cluster{Kubeconfig: absolute, Context: "one"}, ""},
		"the text itself":              {Cluster{Kubeconfig: kubeconfig, Context: "one"}, ""},
		"a context that it lacks":      {Cluster{Kubeconfig: "good", Context: "three"}, `has no context "three"; it has one, two`},
		"the text as JSON":             {Cluster{Kubeconfig: `{"contexts": [{"name": "one"}]}`, Context: "one"}, ""},
		"no YAML":                      {Cluster{Kubeconfig: "broken", Context: "one"}, "is no kubeconfig"},
		"a folder":                     {Cluster{Kubeconfig: "folder", Context: "one"}, "is a directory"},
		"text without contexts":        {Cluster{Kubeconfig: "a: 1\n", Context: "one"}, "has no contexts"},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			err := tc.cluster.CheckKubeconfig(root)
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.want)
			assert.NotErrorIs(t, err, fs.ErrNotExist)
		})
	}
	err := Cluster{Kubeconfig: "gone", Context: "one"}.CheckKubeconfig(root)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "gone")
}

func TestTheProviderGetsNoPathOfThisMachine(t *testing.T) {
	path, err := Cluster{Kubeconfig: ".local/kubeconfig"}.KubeconfigFor("/home/me/kvinfra", "/home/me/kvinfra/infra")
	require.NoError(t, err)
	assert.Equal(t, "../.local/kubeconfig", path)

	for _, asItIs := range []string{"/etc/kube/config", kubeconfig} {
		given, err := Cluster{Kubeconfig: asItIs}.KubeconfigFor("/home/me/kvinfra", "/home/me/kvinfra/infra")
		require.NoError(t, err)
		assert.Equal(t, asItIs, given)
	}
}

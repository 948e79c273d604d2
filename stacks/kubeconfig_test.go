package stacks

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const text = `
apiVersion: v1
kind: Config
contexts:
- {name: one, context: {cluster: near}}
- {name: two, context: {cluster: far}}
- {name: nowhere, context: {cluster: gone}}
clusters:
- {name: near, cluster: {server: "https://near:6443"}}
- {name: far, cluster: {server: "https://far:6443", proxy-url: "http://proxy:3128"}}
`

func TestEndpoint(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(root, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	absolute := write("good", text)
	write("broken", "contexts: [")
	require.NoError(t, os.Mkdir(filepath.Join(root, "folder"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))

	cases := map[string]struct {
		cluster Cluster
		want    string // the server, or what is wrong
	}{
		"a file beside the stack file": {Cluster{Kubeconfig: "good", Context: "two"}, "https://far:6443"},
		"an absolute path":             {Cluster{Kubeconfig: absolute, Context: "one"}, "https://near:6443"},
		"the text itself":              {Cluster{Kubeconfig: text, Context: "one"}, "https://near:6443"},
		"a context that it lacks":      {Cluster{Kubeconfig: "good", Context: "three"}, `has no context "three"; it has one, two, nowhere`},
		"the text as JSON":             {Cluster{Kubeconfig: `{"contexts": [{"name": "one", "context": {"cluster": "near"}}], "clusters": [{"name": "near", "cluster": {"server": "https://near:6443"}}]}`, Context: "one"}, "https://near:6443"},
		"a context without a server":   {Cluster{Kubeconfig: "good", Context: "nowhere"}, `context "nowhere" of ` + absolute + ` leads nowhere: its cluster "gone" has no server there`},
		"no YAML":                      {Cluster{Kubeconfig: "broken", Context: "one"}, "is no kubeconfig"},
		"a pipe":                       {Cluster{Kubeconfig: "pipe", Context: "one"}, "pipe is no file"},
		"a folder":                     {Cluster{Kubeconfig: "folder", Context: "one"}, "is a directory"},
		"text without contexts":        {Cluster{Kubeconfig: "a: 1\n", Context: "one"}, "has no contexts"},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			endpoint, err := tc.cluster.Endpoint(root)
			if strings.HasPrefix(tc.want, "https:") {
				require.NoError(t, err)
				assert.Equal(t, tc.want, endpoint.Server)
				return
			}
			assert.ErrorContains(t, err, tc.want)
			assert.NotErrorIs(t, err, fs.ErrNotExist)
		})
	}
	endpoint, err := Cluster{Kubeconfig: "good", Context: "two"}.Endpoint(root)
	require.NoError(t, err)
	assert.Equal(t, "http://proxy:3128", endpoint.ProxyURL)

	_, err = Cluster{Kubeconfig: "gone", Context: "one"}.Endpoint(root)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "gone")
}

func TestTheProviderGetsNoPathOfThisMachine(t *testing.T) {
	path, err := Cluster{Kubeconfig: ".local/kubeconfig"}.KubeconfigFor("/home/me/kvinfra", "/home/me/kvinfra/infra")
	require.NoError(t, err)
	assert.Equal(t, "../.local/kubeconfig", path)

	for _, asItIs := range []string{"/etc/kube/config", text} {
		given, err := Cluster{Kubeconfig: asItIs}.KubeconfigFor("/home/me/kvinfra", "/home/me/kvinfra/infra")
		require.NoError(t, err)
		assert.Equal(t, asItIs, given)
	}
}

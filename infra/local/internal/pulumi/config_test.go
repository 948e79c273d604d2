package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfigSaysWhereTheStackRunsAndHowToLook(t *testing.T) {
	tests := map[string]struct {
		file    string
		local   bool
		kubectl []string
	}{
		"the local cluster": {
			file: `config:
  kvinfra:cluster: {kubeconfig: .local/kubeconfig, context: local, namespace: kv}
  kvinfra:hotkv: {hotkv: {image: hotkv:local}}
`,
			local: true,
			kubectl: []string{
				".local/bin/kubectl --kubeconfig .local/kubeconfig --context local -n kv get pods",
				".local/bin/kubectl --kubeconfig .local/kubeconfig --context local -n kv exec svc/hotkv -- hotkv-cli cluster info",
			},
		},
		"a cluster of one's own": {
			file: `config:
  kvinfra:cluster: {kubeconfig: mine.yaml, context: mine}
  kvinfra:hotkv: {b: {server: valkey, namespace: other}}
`,
			kubectl: []string{
				"kubectl --kubeconfig mine.yaml --context mine -n default get pods",
				"kubectl --kubeconfig mine.yaml --context mine -n other exec svc/b -- valkey-cli cluster info",
			},
		},
		"a kubeconfig that is encrypted": {
			file: "config:\n  kvinfra:cluster: {context: mine, kubeconfig: {secure: v1:abc}}\n",
		},
		"a kubeconfig as text": {
			file: "config:\n  kvinfra:cluster:\n    context: mine\n    kubeconfig: |\n      apiVersion: v1\n      users: []\n",
		},
		"a kubeconfig as one line of text": {
			file: "config:\n  kvinfra:cluster: {context: mine, kubeconfig: '{\"users\": []}'}\n",
		},
		"clusters of a form that the program refuses": {
			file:    "config:\n  kvinfra:hotkv: [hotkv]\n  kvinfra:cluster: {kubeconfig: mine.yaml, context: mine}\n",
			kubectl: []string{"kubectl --kubeconfig mine.yaml --context mine -n default get pods"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := newStack(t)
			require.NoError(t, os.WriteFile(filepath.Join(c.Root, "Pulumi.dev.yaml"), []byte(tt.file), 0o644))
			config, err := s.Config()
			require.NoError(t, err)
			assert.Equal(t, tt.local, config.OnLocalCluster())
			assert.Equal(t, tt.kubectl, config.Kubectl())
		})
	}
}

package stacks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPodSecurity(t *testing.T) {
	const (
		hotkv        = `"image": "x"`
		store        = `"image": "x", "version": "0.3.13"`
		hostNetwork  = store + `, "fabric": {"mode": "rdma-host-network", "nics": ["mlx5_0"]}`
		devicePlugin = store + `, "fabric": {"mode": "rdma-device-plugin"}`
	)
	cases := map[string]struct{ cluster, hotkv, mooncake, want string }{
		"HotKV":                              {cluster, `{"a": {` + hotkv + `}}`, `{}`, "restricted"},
		"stores over TCP":                    {cluster, `{}`, `{"m": {` + store + `}}`, "restricted"},
		"stores with the node's devices":     {cluster, `{}`, `{"m": {` + hostNetwork + `}}`, "privileged"},
		"stores with devices of a plugin":    {cluster, `{}`, `{"m": {` + devicePlugin + `}}`, "privileged"},
		"clusters with different needs":      {cluster, `{"a": {` + hotkv + `}, "z": {` + hotkv + `}}`, `{"b": {` + store + `}, "m": {` + hostNetwork + `}}`, "privileged"},
		"the other one in another namespace": {cluster, `{"a": {` + hotkv + `}}`, `{"m": {` + hostNetwork + `, "namespace": "other"}}`, "restricted"},
		"a shared namespace":                 {`{"kubeconfig": "k", "context": "c", "namespace": "kv", "sharedNamespaces": true}`, `{"a": {` + hotkv + `}}`, `{}`, ""},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			s, err := load(map[string]string{"cluster": tc.cluster, "hotkv": tc.hotkv, "mooncake": tc.mooncake})
			require.NoError(t, err)
			assert.Equal(t, tc.want, s.PodSecurity("kv"))
		})
	}

	s, err := load(map[string]string{"cluster": `{"kubeconfig": "k", "context": "c"}`, "hotkv": `{"a": {"image": "x"}}`})
	require.NoError(t, err)
	assert.Equal(t, []string{"default"}, s.Namespaces())
	assert.Empty(t, s.PodSecurity("default"))
}

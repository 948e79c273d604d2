package stacks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const cluster = `{"kubeconfig": "kubeconfig", "context": "local", "namespace": "kv"}`

func load(config map[string]string) (Stack, error) {
	all := map[string]string{"kvinfra:cluster": cluster, "pulumi:disable-default-providers": `["kubernetes"]`}
	for key, value := range config {
		all["kvinfra:"+key] = value
	}
	return Load("kvinfra", "dev", all)
}

func TestLoad(t *testing.T) {
	s, err := load(map[string]string{
		"hotkv":    `{"a": {"image": "hotkv:1"}, "b": {"image": "hotkv:1", "namespace": "other", "primaries": 5}}`,
		"mooncake": `{"m": {"image": "mooncake:1", "version": "0.3.13", "fabric": {"mode": "rdma-host-network", "nics": ["mlx5_0"]}}}`,
	})
	require.NoError(t, err)
	assert.Equal(t, "kv", s.HotKV["a"].Namespace, "the stack's namespace is the default")
	assert.Equal(t, 3, s.HotKV["a"].Primaries)
	assert.Equal(t, "other", s.HotKV["b"].Namespace)
	assert.Equal(t, 5, s.HotKV["b"].Primaries)
	assert.Equal(t, []string{"mlx5_0"}, s.Mooncake["m"].Fabric.NICs)
	assert.Equal(t, []string{"kv", "other"}, s.Namespaces())
}

func TestAnEmptyStackIsAStack(t *testing.T) {
	s, err := load(nil)
	require.NoError(t, err)
	assert.Empty(t, s.Namespaces())
}

func TestEveryMistakeNamesFileAndKey(t *testing.T) {
	cases := map[string]struct {
		key, value, want string
	}{
		"an unknown key":             {"hotkvs", `{}`, `kvinfra:hotkvs: unknown key; known are kvinfra:cluster, kvinfra:hotkv and kvinfra:mooncake`},
		"text in place of settings":  {"hotkv", `six`, `kvinfra:hotkv: is plain text, but must be a map`},
		"a list in place of a map":   {"hotkv", `[]`, `kvinfra:hotkv: is of type array, but must be a map`},
		"an unknown field":           {"hotkv", `{"a": {"image": "x", "replicaz": 3}}`, `kvinfra:hotkv.a: unknown field "replicaz"`},
		"an unknown nested field":    {"hotkv", `{"a": {"image": "x", "storage": {"siz": "1Gi"}}}`, `kvinfra:hotkv.a: unknown field "storage.siz"`},
		"a field in other letters":   {"hotkv", `{"a": {"Image": "x"}}`, `kvinfra:hotkv.a: unknown field "Image"`},
		"a field twice":              {"hotkv", `{"a": {"image": "x", "image": "y"}}`, `kvinfra:hotkv.a: duplicate field "image"`},
		"a text for a number":        {"hotkv", `{"a": {"image": "x", "primaries": "three"}}`, `kvinfra:hotkv.a: primaries: is of type string, but must be a number`},
		"a number for a text":        {"hotkv", `{"a": {"image": 1.5}}`, `kvinfra:hotkv.a: image: is of type number, but must be a text`},
		"text for a map":             {"mooncake", `{"m": {"image": "x", "fabric": "tcp"}}`, `kvinfra:mooncake.m: fabric: is of type string, but must be a map of settings`},
		"text for a list":            {"mooncake", `{"m": {"image": "x", "fabric": {"nics": "mlx5_0"}}}`, `kvinfra:mooncake.m: fabric.nics: is of type string, but must be a list`},
		"an entry of nothing":        {"hotkv", `{"a": null}`, `kvinfra:hotkv.a.image: Required value`},
		"fewer than no primaries":    {"hotkv", `{"a": {"image": "x", "primaries": -1}}`, `kvinfra:hotkv.a.primaries: Invalid value: -1`},
		"too many primaries":         {"hotkv", `{"a": {"image": "x", "primaries": 1000000000}}`, `kvinfra:hotkv.a.primaries: Invalid value: 1000000000`},
		"a missing image":            {"hotkv", `{"a": {}}`, `kvinfra:hotkv.a.image: Required value`},
		"a bad quantity":             {"hotkv", `{"a": {"image": "x", "storage": {"size": "1G1"}}}`, `kvinfra:hotkv.a.storage.size: Invalid value: "1G1"`},
		"a bad name":                 {"hotkv", `{"A": {"image": "x"}}`, `kvinfra:hotkv.A.name: Invalid value: "A"`},
		"RDMA without NICs":          {"mooncake", `{"m": {"image": "x", "fabric": {"mode": "rdma-host-network"}}}`, `kvinfra:mooncake.m.fabric.nics: Required value`},
		"no kubeconfig":              {"cluster", `{"context": "c"}`, `kvinfra:cluster.kubeconfig: Required value`},
		"no context":                 {"cluster", `{"kubeconfig": "k"}`, `kvinfra:cluster.context: Required value`},
		"a bad namespace":            {"cluster", `{"kubeconfig": "k", "context": "c", "namespace": "K"}`, `kvinfra:cluster.namespace: Invalid value: "K"`},
		"an unknown cluster setting": {"cluster", `{"kubeconfig": "k", "context": "c", "server": "s"}`, `unknown field "server"`},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) {
			_, err := load(map[string]string{tc.key: tc.value})
			require.Error(t, err)
			for line := range strings.Lines(err.Error()) {
				assert.True(t, strings.HasPrefix(line, "Pulumi.dev.yaml: kvinfra:"), line)
			}
			assert.Contains(t, err.Error(), tc.want)
		})
	}
}

func TestAMisspeltProjectIsNoEmptyStack(t *testing.T) {
	_, err := Load("kvinfra", "dev", map[string]string{"kvinfra:cluster": cluster, "kvinfr:hotkv": "{}"})
	assert.EqualError(t, err, "Pulumi.dev.yaml: kvinfr:hotkv: unknown key; known are kvinfra:cluster, kvinfra:hotkv and kvinfra:mooncake")
}

func TestAllMistakesAreReportedTogether(t *testing.T) {
	_, err := load(map[string]string{
		"hotkv":    `{"a": {"image": "x", "replicaz": 3, "sise": 1}}`,
		"mooncake": `{"m": {"imag": "x"}}`,
	})
	assert.Len(t, strings.Split(err.Error(), "\n"), 3, "structure: %v", err)

	_, err = load(map[string]string{
		"hotkv":    `{"a": {"image": "x", "primaries": 1, "storage": {"size": "x"}}, "b": {}}`,
		"mooncake": `{"m": {"store": {"segmentSize": "10gb"}}}`,
	})
	assert.Len(t, strings.Split(err.Error(), "\n"), 6, "meaning: %v", err)
}

func TestNamesThatCollide(t *testing.T) {
	const shards = `"layout": "StatefulSetPerShard"`
	_, err := load(map[string]string{"hotkv": `{"a": {"image": "x", ` + shards + `}, "a-0": {"image": "x"}}`})
	assert.EqualError(t, err, `Pulumi.dev.yaml: kvinfra:hotkv.a-0: Forbidden: and kvinfra:hotkv.a would both have something called a-0 in the namespace kv; rename one`)

	_, err = load(map[string]string{"hotkv": `{"m-store": {"image": "x"}}`, "mooncake": `{"m": {"image": "x", "version": "0.3.13"}}`})
	assert.EqualError(t, err, `Pulumi.dev.yaml: kvinfra:mooncake.m: Forbidden: and kvinfra:hotkv.m-store would both have something called m-store in the namespace kv; rename one`)

	for what, fine := range map[string]string{
		"in one namespace with other names": `{"a": {"image": "x", ` + shards + `}, "b-0": {"image": "x"}}`,
		"in two namespaces":                 `{"a": {"image": "x", ` + shards + `}, "a-0": {"image": "x", "namespace": "other"}}`,
	} {
		_, err := load(map[string]string{"hotkv": fine})
		assert.NoError(t, err, what)
	}
}

func TestConfigOf(t *testing.T) {
	config, err := ConfigOf([]byte(`
encryptionsalt: v1:abc
config:
  kvinfra:cluster: {kubeconfig: k, context: c}
  kvinfra:retries: 3
  kvinfra:text: plain
  kvinfra:words: {spread: Off, size: 1e3, list: [1, "2"]}
  kvinfra:hidden: {kubeconfig: {secure: v1:abc}}
`))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"kvinfra:cluster": `{"context":"c","kubeconfig":"k"}`,
		"kvinfra:retries": "3",
		"kvinfra:text":    "plain",
		"kvinfra:words":   `{"list":[1,"2"],"size":1000,"spread":"Off"}`,
		"kvinfra:hidden":  `{"kubeconfig":"[secret]"}`,
	}, config)

	_, err = ConfigOf([]byte("config: ["))
	assert.Error(t, err)
}

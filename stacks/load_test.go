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
		"an unknown key":             {"hotkvs", `{}`, `kvinfra:hotkvs: unknown key; did you mean kvinfra:hotkv?`},
		"text in place of settings":  {"hotkv", `six`, `kvinfra:hotkv: is the text "six", but must be a map of settings`},
		"a list in place of a map":   {"hotkv", `[]`, `kvinfra:hotkv: is a list, but must be a map of settings`},
		"an unknown field":           {"hotkv", `{"a": {"image": "x", "replicaz": 3}}`, `kvinfra:hotkv.a.replicaz: unknown key; did you mean replicasPerPrimary?`},
		"an unknown nested field":    {"hotkv", `{"a": {"image": "x", "storage": {"siz": "1Gi"}}}`, `kvinfra:hotkv.a.storage.siz: unknown key; did you mean size?`},
		"a field in other letters":   {"hotkv", `{"a": {"Image": "x"}}`, `kvinfra:hotkv.a.Image: unknown key; did you mean image?`},
		"a field of another place":   {"hotkv", `{"a": {"image": "x", "size": "1Gi"}}`, `kvinfra:hotkv.a.size: unknown key; did you mean kvinfra:hotkv.a.storage.size?`},
		"a field of two others":      {"mooncake", `{"m": {"image": "x", "replicas": 2}}`, `kvinfra:mooncake.m.replicas: unknown key; did you mean kvinfra:mooncake.m.master.replicas or kvinfra:mooncake.m.store.replicas?`},
		"a text for a number":        {"hotkv", `{"a": {"image": "x", "primaries": "three"}}`, `kvinfra:hotkv.a.primaries: is the text "three", but must be a whole number`},
		"a number for a text":        {"hotkv", `{"a": {"image": 1.5}}`, `kvinfra:hotkv.a.image: is read as 1.5, which is no text: put what you mean in quotes`},
		"text for a map":             {"mooncake", `{"m": {"image": "x", "fabric": "tcp"}}`, `kvinfra:mooncake.m.fabric: is the text "tcp", but must be a map of settings`},
		"text for a list":            {"mooncake", `{"m": {"image": "x", "fabric": {"nics": "mlx5_0"}}}`, `kvinfra:mooncake.m.fabric.nics: is the text "mlx5_0", but must be a list`},
		"an entry of nothing":        {"hotkv", `{"a": null}`, `kvinfra:hotkv.a: has no value: write {} for a map without settings, or remove the key`},
		"a zero":                     {"hotkv", `{"a": {"image": "x", "primaries": 0}}`, `kvinfra:hotkv.a.primaries: Invalid value: 0: must be larger; leave the key out for the default`},
		"fewer than no primaries":    {"hotkv", `{"a": {"image": "x", "primaries": -1}}`, `kvinfra:hotkv.a.primaries: Invalid value: -1`},
		"too many primaries":         {"hotkv", `{"a": {"image": "x", "primaries": 1000000000}}`, `kvinfra:hotkv.a.primaries: Invalid value: 1000000000`},
		"a missing image":            {"hotkv", `{"a": {}}`, `kvinfra:hotkv.a.image: Required value`},
		"a bad quantity":             {"hotkv", `{"a": {"image": "x", "storage": {"size": "1G1"}}}`, `kvinfra:hotkv.a.storage.size: Invalid value: "1G1"`},
		"a bad name":                 {"hotkv", `{"A": {"image": "x"}}`, `kvinfra:hotkv.A.name: Invalid value: "A"`},
		"RDMA without NICs":          {"mooncake", `{"m": {"image": "x", "fabric": {"mode": "rdma-host-network"}}}`, `kvinfra:mooncake.m.fabric.nics: Required value`},
		"a kubeconfig in base64":     {"cluster", `{"kubeconfig": "` + strings.Repeat("c2VjcmV0", 100) + `", "context": "c"}`, `kvinfra:cluster.kubeconfig: Invalid value: "[secret]": is neither a path nor the text`},
		"a kubeconfig's folded text": {"cluster", `{"kubeconfig": "apiVersion: v1 kind: Config current-context: a", "context": "c"}`, `kvinfra:cluster.kubeconfig: Invalid value: "[secret]"`},
		"no kubeconfig":              {"cluster", `{"context": "c"}`, `kvinfra:cluster.kubeconfig: Required value`},
		"no context":                 {"cluster", `{"kubeconfig": "k"}`, `kvinfra:cluster.context: Required value`},
		"a bad namespace":            {"cluster", `{"kubeconfig": "k", "context": "c", "namespace": "K"}`, `kvinfra:cluster.namespace: Invalid value: "K"`},
		"an unknown cluster setting": {"cluster", `{"kubeconfig": "k", "context": "c", "server": "s"}`, `kvinfra:cluster.server: unknown key; known are context, kubeconfig, namespace`},
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
	assert.EqualError(t, err, "Pulumi.dev.yaml: kvinfr:hotkv: unknown key; did you mean kvinfra:hotkv?")
}

func TestAllMistakesAreReportedTogether(t *testing.T) {
	_, err := load(map[string]string{
		"cluster":  `{"kubeconfig": "k", "contxt": "c"}`,
		"hotkv":    `{"a": {"image": "x", "replicaz": 3, "primaries": "six", "storage": {"size": 5}}, "b": {"image": "x", "primaries": 1, "storage": {"size": "x"}}}`,
		"mooncake": `{"m": {"imag": "x", "fabric": {"mode": "tpc"}}, "n": {"image": "x"}}`,
		"cache":    `{}`,
	})
	assert.Equal(t, `Pulumi.dev.yaml: kvinfra:cache: unknown key; known are kvinfra:cluster, kvinfra:hotkv, kvinfra:mooncake
Pulumi.dev.yaml: kvinfra:cluster.contxt: unknown key; did you mean context?
Pulumi.dev.yaml: kvinfra:hotkv.a.primaries: is the text "six", but must be a whole number
Pulumi.dev.yaml: kvinfra:hotkv.a.replicaz: unknown key; did you mean replicasPerPrimary?
Pulumi.dev.yaml: kvinfra:hotkv.a.storage.size: is read as 5, which is no text: put what you mean in quotes
Pulumi.dev.yaml: kvinfra:mooncake.m.fabric.mode: Unsupported value: "tpc": supported values: "tcp", "rdma-host-network", "rdma-device-plugin"
Pulumi.dev.yaml: kvinfra:mooncake.m.imag: unknown key; did you mean image?
Pulumi.dev.yaml: kvinfra:hotkv.b.primaries: Invalid value: 1: must be at least 3: fewer cannot vote out a dead primary
Pulumi.dev.yaml: kvinfra:hotkv.b.storage.size: Invalid value: "x": is not a quantity; write it like 512Mi or 10Gi
Pulumi.dev.yaml: kvinfra:mooncake.n.version: Required value: say which Mooncake is in image "x"; it is only known of kvcacheai/mooncake:VERSION and lmsysorg/sglang:v0.5.5`,
		err.Error(), "form in a, m and the cluster, and meaning in what has the right form")

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

func TestADateIsTheTextThatAUserWrote(t *testing.T) {
	for given, want := range map[string]string{
		"2026-11-30 00:00:00 +0000 UTC": "2026-11-30",
		"2026-11-30 10:00:00 +0000 UTC": "2026-11-30 10:00:00 +0000 UTC", // there are many ways to write it
		"2026-11-30":                    "2026-11-30",
		"at 00:00:00 +0000 UTC":         "at 00:00:00 +0000 UTC",
	} {
		s, err := load(map[string]string{"hotkv": `{"a": {"image": "x", "restart": "` + given + `"}}`})
		require.NoError(t, err)
		assert.Equal(t, want, s.HotKV["a"].Restart)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"image", "memory", "primaries", "replicasPerPrimary", "storage"}
	for word, want := range map[string]string{
		"Image": "image", "imag": "image", "primarys": "primaries", "replicas": "replicasPerPrimary", "replicaz": "replicasPerPrimary",
		"mode": "", "port": "", "x": "", "persistence": "",
	} {
		assert.Equal(t, want, nearest(word, known), word)
	}
}

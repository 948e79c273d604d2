package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/render"
)

// runFile runs the program for a stack file, as the engine does: once as a preview,
// once as an up. Beside it stands a kubeconfig.
func runFile(t *testing.T, dir, stack string, preview bool) ([]render.Resource, error) {
	t.Helper()
	config, err := configurationOf(project, dir, stack)
	if err != nil {
		return nil, err
	}
	return render.Program(func(ctx *pulumi.Context) error { return deploy(ctx, config, reachable) },
		render.Options{Project: project, Stack: stack, Root: dir, Preview: preview})
}

// checkout returns a directory with a kubeconfig and these stack files, by the name
// of the stack.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("kubeconfig", kubeconfig(t))
	for stack, text := range files {
		write("Pulumi."+stack+".yaml", text)
	}
	return dir
}

const here = "config:\n  kvinfra:cluster: {kubeconfig: kubeconfig, context: local, namespace: kv}\n"

// withHotKV is a stack file with one HotKV cluster, and settings of it.
func withHotKV(settings string) string {
	return here + "  kvinfra:hotkv:\n    cache: {image: hotkv:1, " + settings + "}\n"
}

// withMooncake is a stack file with one Mooncake Store, and settings of it.
func withMooncake(settings string) string {
	return here + "  kvinfra:mooncake:\n    pool: {image: mooncake:1, version: 0.3.13, " + settings + "}\n"
}

// badStacks are files with something wrong, and what is said of each problem.
func badStacks() map[string]struct {
	file string
	want []string
} {
	type stack = struct {
		file string
		want []string
	}
	is := func(file string, want ...string) stack { return stack{file, want} }
	return map[string]stack{
		// What Pulumi itself cannot read, or reads as something else.
		"no YAML":                             is("config:\n\tkvinfra:cluster: {}\n", "found character that cannot start any token"),
		"configuration that is a list":        is("config: [kvinfra:cluster]\n", "cannot unmarshal !!seq"),
		"a key twice":                         is(here+"  kvinfra:cluster: {}\n", `mapping key "kvinfra:cluster" already defined`),
		"a setting twice":                     is(withHotKV("primaries: 3, primaries: 5"), `mapping key "primaries" already defined`),
		"a key that is no key":                is(here+"  a:b:c: 1\n", "could not parse a:b:c as a configuration key"),
		"an infinite number":                  is(withMooncake("master: {evictionRatio: .inf}"), "unsupported value: +Inf"),
		"a key that is not indented":          is(here+"kvinfra:hotkv: {cache: {image: hotkv:1}}\n", "kvinfra:hotkv: stands beside config, where Pulumi passes over it"),
		"a misspelt top":                      is("confg: {}\n"+here, "confg: unknown key; did you mean config?"),
		"keys without the project":            is(here+"  hotkv: {cache: {image: hotkv:1}}\n", "hotkv: has no project's name; write kvinfra:hotkv"),
		"a second document":                   is(here+"---\nconfig: {kvinfra:hotkv: {}}\n", "---: Pulumi reads one document"),
		"an empty file":                       is("", "kvinfra:cluster.kubeconfig: Required value", "kvinfra:cluster.context: Required value"),
		"a cluster encrypted as a whole":      is("config:\n  kvinfra:cluster: {secure: v1:abc}\n", "kvinfra:cluster: is encrypted as a whole"),
		"an encrypted setting":                is(withHotKV("annotations: {a: {secure: v1:abc}}"), "kvinfra:hotkv: has an encrypted value, and settings are kept in clear"),
		"a version that YAML takes for 1.1":   is(withHotKV("restart: 1.10"), "kvinfra:hotkv.cache.restart: is read as 1.1, which is no text: put what you mean in quotes"),
		"a setting that YAML takes for 8":     is(withHotKV("settings: {hz: 010}"), "kvinfra:hotkv.cache.settings[hz]: is read as 8, which is no text: put what you mean in quotes"),
		"a label that YAML takes for true":    is(withHotKV("labels: {fast: true}"), "kvinfra:hotkv.cache.labels[fast]: is read as true, which is no text"),
		"a variable that YAML takes for none": is(withMooncake("store: {extraEnv: {MC_LOG_LEVEL: ~}}"), "kvinfra:mooncake.pool.store.extraEnv[MC_LOG_LEVEL]: has no value, but must be a text: write one, or remove the key"),
		"a number in quotes":                  is(withHotKV(`primaries: "3"`), `kvinfra:hotkv.cache.primaries: is the text "3", but must be a whole number: remove the quotes`),
		"a truth value in quotes":             is(withHotKV(`noHeal: "true"`), `kvinfra:hotkv.cache.noHeal: is the text "true", but must be true or false: remove the quotes`),
		"yes for true":                        is(withHotKV(`noHeal: yes`), `kvinfra:hotkv.cache.noHeal: is the text "yes", but must be true or false`),
		"part of a primary":                   is(withHotKV("primaries: 3.5"), "kvinfra:hotkv.cache.primaries: is 3.5, but must be a whole number"),
		"a number beyond all":                 is(withHotKV("primaries: 1e30"), "kvinfra:hotkv.cache.primaries: number 1e+30 does not fit"),
		"a clock time for a number":           is(withHotKV("timeoutSeconds: 10:00"), `kvinfra:hotkv.cache.timeoutSeconds: is the text "10:00", but must be a whole number`),

		// Form: unknown keys, wrong types, choices.
		"a key without a value":              is(here+"  kvinfra:hotkv:\n", "kvinfra:hotkv: has no value: write {} for a map without settings, or remove the key"),
		"an entry without a value":           is(here+"  kvinfra:hotkv:\n    cache:\n", "kvinfra:hotkv.cache: has no value"),
		"a text for all clusters":            is(here+"  kvinfra:hotkv: cache\n", `kvinfra:hotkv: is the text "cache", but must be a map of settings`),
		"a list of clusters":                 is(here+"  kvinfra:hotkv: [{image: hotkv:1}]\n", "kvinfra:hotkv: is a list, but must be a map of settings"),
		"a map for a text":                   is(withHotKV("restart: {at: once}"), "kvinfra:hotkv.cache.restart: is a map, but must be a text"),
		"a text for a list":                  is(withMooncake("fabric: {mode: rdma-host-network, nics: mlx5_0}"), `kvinfra:mooncake.pool.fabric.nics: is the text "mlx5_0", but must be a list, as in [a, b]`),
		"a number in a list of texts":        is(withMooncake("fabric: {mode: rdma-host-network, nics: [mlx5_0, 1]}"), "kvinfra:mooncake.pool.fabric.nics[1]: is read as 1, which is no text"),
		"a text for a map":                   is(withMooncake("fabric: tcp"), `kvinfra:mooncake.pool.fabric: is the text "tcp", but must be a map of settings`),
		"an unknown program's key":           is(here+"  kubernetes:context: local\n", "kubernetes:context: unknown key; known are kvinfra:cluster, kvinfra:hotkv, kvinfra:mooncake"),
		"a misspelt kind":                    is(here+"  kvinfra:hotvk: {cache: {image: hotkv:1}}\n", "kvinfra:hotvk: unknown key; did you mean kvinfra:hotkv?"),
		"a misspelt setting":                 is(withHotKV("replicasPerPrimery: 1"), "kvinfra:hotkv.cache.replicasPerPrimery: unknown key; did you mean replicasPerPrimary?"),
		"a misspelt setting three maps deep": is(withMooncake("store: {resources: {limits: {memroy: 11Gi}}}"), "kvinfra:mooncake.pool.store.resources.limits.memroy: unknown key; did you mean memory?"),
		"a setting in a list of maps":        is(withHotKV("placement: {tolerations: [{keys: gpu}]}"), "kvinfra:hotkv.cache.placement.tolerations[0].keys: unknown key; did you mean key?"),
		"a setting in the wrong map":         is(withHotKV("storage: {percent: 50}"), "kvinfra:hotkv.cache.storage.percent: unknown key; did you mean kvinfra:hotkv.cache.memory.percent?"),
		"a setting that exists nowhere":      is(withHotKV("persistence: rdb"), "kvinfra:hotkv.cache.persistence: unknown key; known are acceptDataLoss, annotations"),
		"a setting of the other system":      is(withHotKV("fabric: {mode: tcp}"), "kvinfra:hotkv.cache.fabric: unknown key"),
		"a layout that does not exist":       is(withHotKV("layout: statefulSetPerShard"), `kvinfra:hotkv.cache.layout: Unsupported value: "statefulSetPerShard": supported values: "OneStatefulSet", "StatefulSetPerShard"; did you mean "StatefulSetPerShard"?`),
		"a fabric that does not exist":       is(withMooncake("fabric: {mode: rdma}"), `kvinfra:mooncake.pool.fabric.mode: Unsupported value: "rdma": supported values: "tcp", "rdma-host-network", "rdma-device-plugin"`),
		"a place that does not exist":        is(withMooncake("metadata: {mode: redis}"), `kvinfra:mooncake.pool.metadata.mode: Unsupported value: "redis"`),

		// Meaning.
		"no image":                        is(here+"  kvinfra:hotkv: {cache: {}}\n", "kvinfra:hotkv.cache.image: Required value"),
		"a quantity that is none":         is(withHotKV("storage: {size: 1G1}"), `kvinfra:hotkv.cache.storage.size: Invalid value: "1G1": is not a quantity; write it like 512Mi or 10Gi`),
		"a volume too small":              is(withHotKV("storage: {size: 100Mi}"), `kvinfra:hotkv.cache.storage.size: Invalid value: "100Mi": must be at least`),
		"two primaries":                   is(withHotKV("primaries: 2"), "kvinfra:hotkv.cache.primaries: Invalid value: 2: must be at least 3"),
		"a name that no object can have":  is(here+"  kvinfra:hotkv: {Cache_1: {image: hotkv:1}}\n", `kvinfra:hotkv.Cache_1.name: Invalid value: "Cache_1"`),
		"a setting that the cluster owns": is(withHotKV("settings: {appendonly: \"no\"}"), "kvinfra:hotkv.cache.settings[appendonly]: Forbidden"),
		"RDMA without NICs":               is(withMooncake("fabric: {mode: rdma-host-network}"), "kvinfra:mooncake.pool.fabric.nics: Required value: name the RDMA devices"),
		"NICs without RDMA":               is(withMooncake("fabric: {nics: [mlx5_0]}"), "kvinfra:mooncake.pool.fabric.nics: Forbidden: is only for RDMA"),
		"several masters alone":           is(withMooncake("master: {replicas: 3}"), "kvinfra:mooncake.pool.master.replicas: Invalid value: 3: must be 1 without highAvailability.etcd"),
		"less memory than is lent":        is(withMooncake("store: {segmentSize: 10Gi, resources: {limits: {memory: 10Gi}}}"), `kvinfra:mooncake.pool.store.resources.limits.memory: Invalid value: "10Gi": must be at least`),
		"an unknown context":              is(strings.Replace(here, "local", "elsewhere", 1), `kubeconfig has no context "elsewhere"; it has local`),
		"a namespace that cannot exist":   is(strings.Replace(here, "namespace: kv", "namespace: KV", 1), `kvinfra:cluster.namespace: Invalid value: "KV"`),
		"half a second":                   is(withMooncake("runVerify: 2026-11-30, timeoutSeconds: 0.5"), "kvinfra:mooncake.pool.timeoutSeconds: is 0.5, but must be a whole number"),

		"production with an image that may change": is("config:\n  kvinfra:cluster: {kubeconfig: kubeconfig, context: local, production: true}\n  kvinfra:hotkv: {cache: {image: hotkv:1}}\n",
			`kvinfra:hotkv.cache.image: Invalid value: "hotkv:1": has no digest, and this stack is for production`),

		// Entries that do not go together.
		"clusters with the same names": is(here+"  kvinfra:hotkv: {a: {image: x, layout: StatefulSetPerShard}, a-0: {image: x}}\n",
			"kvinfra:hotkv.a-0: Forbidden: and kvinfra:hotkv.a would both have something called a-0 in the namespace kv"),
		"clusters with the same ports of nodes": is(here+"  kvinfra:mooncake:\n    a: &rdma {image: x, version: 0.3.13, fabric: {mode: rdma-host-network, nics: [mlx5_0]}}\n    b: *rdma\n",
			"kvinfra:mooncake.b.store.placement.nodeSelector: Forbidden: its stores and those of kvinfra:mooncake.a need the same ports"),

		"several faults": is(strings.Replace(here, "context: local", "contxt: local", 1)+`
  kvinfra:hotkv:
    a: {imag: hotkv:1, primaries: six, storage: {size: 5, siz: 1Gi}}
    b: {image: hotkv:1, primaries: 1, nodeTimeoutSeconds: 99}
  kvinfra:mooncake:
    pool: {image: mooncake:1, store: {replicas: -1}}
  kvinfra:redis: {}
hotkv: {}
`,
			"hotkv: unknown key; known are config",
			"kvinfra:redis: unknown key",
			"kvinfra:cluster.contxt: unknown key; did you mean context?",
			"kvinfra:hotkv.a.imag: unknown key; did you mean image?",
			"kvinfra:hotkv.a.primaries: is the text",
			"kvinfra:hotkv.a.storage.siz: unknown key; did you mean size?",
			"kvinfra:hotkv.a.storage.size: is read as 5",
			"kvinfra:hotkv.b.primaries: Invalid value: 1",
			"kvinfra:hotkv.b.nodeTimeoutSeconds: Invalid value: 99",
			"kvinfra:mooncake.pool.version: Required value",
			"kvinfra:mooncake.pool.store.replicas: Invalid value: -1"),
	}
}

// problemsOf returns the problems in an error: what starts with the file's name.
func problemsOf(err error) []string {
	return strings.Split(err.Error(), "Pulumi.bad.yaml: ")[1:]
}

func TestABadStackFileMakesNothingAndSaysWhereAndWhy(t *testing.T) {
	for what, tc := range badStacks() {
		t.Run(what, func(t *testing.T) {
			dir := checkout(t, map[string]string{"bad": tc.file})
			for _, preview := range []bool{true, false} {
				resources, err := runFile(t, dir, "bad", preview)
				require.Error(t, err)
				assert.Empty(t, resources)
				problems := problemsOf(err)
				require.Len(t, problems, len(tc.want), err)
				for i, want := range tc.want {
					assert.Contains(t, problems[i], want)
				}
			}
		})
	}
}

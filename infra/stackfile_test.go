package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/render"
)

func TestTheConfigurationIsWhatTheEngineHandsOver(t *testing.T) {
	dir := checkout(t, map[string]string{"dev": `
encryptionsalt: v1:abc
config:
  kvinfra:cluster: {kubeconfig: {secure: v1:abc}, context: c}
  kvinfra:retries: 3
  kvinfra:text: plain
  kvinfra:nothing:
  short: {a: 1}
  kvinfra:words: {spread: Off, size: 1e3, octal: 010, on: 2026-11-30, list: [1, "2", ~], <<: {merged: yes}}
`, "empty": ""})
	config, err := configurationOf(project, dir, "dev")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{ // recorded from a program that the engine ran
		"kvinfra:cluster": `{"context":"c","kubeconfig":"[secret]"}`,
		"kvinfra:retries": "3",
		"kvinfra:text":    "plain",
		"kvinfra:nothing": "",
		"kvinfra:short":   `{"a":1}`,
		"kvinfra:words":   `{"list":[1,"2",null],"merged":"yes","octal":8,"on":"2026-11-30 00:00:00 +0000 UTC","size":1000,"spread":"Off"}`,
	}, config)

	config, err = configurationOf(project, dir, "empty")
	require.NoError(t, err)
	assert.Empty(t, config)
}

// TestANewEnvironment follows the README's words: one file copied, five lines changed.
func TestANewEnvironment(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Pulumi.prod.yaml"))
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	start := map[string]int{}
	for i, line := range lines {
		if key := regexp.MustCompile(`^  (kvinfra:\w+):`).FindStringSubmatch(line); key != nil {
			start[key[1]] = i
		}
	}
	changed := 0
	change := func(under, key, value string) {
		from, known := start[under]
		require.True(t, known, "Pulumi.prod.yaml has no %s", under)
		for i := from + 1; i < len(lines) && !strings.HasPrefix(lines[i], "  kvinfra:"); i++ {
			if before, _, is := strings.Cut(lines[i], key+": "); is && strings.TrimSpace(before) == "" {
				lines[i] = before + key + ": " + value
				changed++
				return
			}
		}
		t.Fatalf("Pulumi.prod.yaml has no line for %s in %s", key, under)
	}
	change("kvinfra:cluster", "kubeconfig", "mine.kubeconfig")
	change("kvinfra:cluster", "context", "mine")
	change("kvinfra:cluster", "namespace", "kv-mine")
	change("kvinfra:mooncake", "namespace", "kv-mine-rdma")
	change("kvinfra:mooncake", "nics", "[mlx5_2, mlx5_3, mlx5_bond_0]")
	require.Equal(t, 5, changed)

	dir := checkout(t, map[string]string{"mine": strings.Join(lines, "\n")})
	var rendered bytes.Buffer
	require.NoError(t, renderStack(&rendered, dir, "mine"))
	stores := document(t, rendered.String(), "kind: StatefulSet", "MOONCAKE_DEVICE")
	assert.Contains(t, stores, "value: mlx5_2,mlx5_3,mlx5_bond_0\n")
	assert.Contains(t, stores, "namespace: kv-mine-rdma\n")
	assert.NotContains(t, rendered.String(), "kv-prod")
}

// document returns the one YAML document that has all the words.
func document(t *testing.T, stream string, words ...string) string {
	t.Helper()
	var found []string
next:
	for _, d := range strings.Split(stream, "---\n") {
		for _, word := range words {
			if !strings.Contains(d, word) {
				continue next
			}
		}
		found = append(found, d)
	}
	require.Len(t, found, 1, words)
	return found[0]
}

func TestTwoStacksShareNoPortsOfNodes(t *testing.T) {
	stack := func(cluster, nodes string) string {
		return "config:\n  kvinfra:cluster: {" + cluster + "}\n" +
			"  kvinfra:mooncake:\n    pool: {image: x, version: 0.3.13, fabric: {mode: rdma-host-network, nics: [mlx5_0]}, store: {placement: {nodeSelector: {" + nodes + "}}}}\n"
	}
	const one = "kubeconfig: ./kubeconfig, context: local, namespace: one"
	mine := stack("kubeconfig: kubeconfig, context: local, namespace: two", "pool: a")
	for what, tc := range map[string]struct {
		other string
		clash bool
	}{
		"the same nodes":                   {stack(one, "pool: a"), true},
		"all nodes":                        {stack(one, ""), true},
		"some of the nodes":                {stack(one, "pool: a, zone: z"), true},
		"other nodes":                      {stack(one, "pool: b"), false},
		"nodes of which nothing is known":  {stack(one, "zone: z"), false},
		"another context":                  {stack("kubeconfig: kubeconfig, context: other", "pool: a"), false},
		"another kubeconfig":               {stack("kubeconfig: other, context: local", "pool: a"), false},
		"a hidden kubeconfig":              {stack("kubeconfig: {secure: v1:abc}, context: local", "pool: a"), false},
		"a stack that is wrong":            {strings.Replace(stack(one, "pool: a"), "nics: [mlx5_0]", "nics: []", 1), false},
		"a file that is no YAML":           {"config: [", false},
		"a Mooncake Store without ports":   {strings.Replace(stack(one, "pool: a"), "mode: rdma-host-network", "mode: rdma-device-plugin", 1), false},
		"a stack without a Mooncake Store": {here, false},
	} {
		t.Run(what, func(t *testing.T) {
			dir := checkout(t, map[string]string{"mine": mine, "other": tc.other})
			resources, err := runFile(t, dir, "mine", false)
			if !tc.clash {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, "Pulumi.mine.yaml: kvinfra:mooncake.pool.store.placement.nodeSelector: Forbidden: "+
				"its stores and those of kvinfra:mooncake.pool of Pulumi.other.yaml need the same ports (9300, 15000 to 15031) of the same nodes")
			assert.Empty(t, resources)
		})
	}
}

func TestAStackMayHaveSeveralClustersOrNone(t *testing.T) {
	for what, tc := range map[string]struct {
		settings string
		want     []string // of the objects, sorted
	}{
		"two HotKV clusters and one Mooncake Store": {
			"  kvinfra:hotkv: {cache: {image: x}, carts: {image: x, namespace: web, layout: StatefulSetPerShard}}\n" +
				"  kvinfra:mooncake: {pool: {image: x, version: 0.3.13}}\n",
			[]string{
				"Deployment kv/pool-master", "NamespacePatch kv", "NamespacePatch web", "Secret kv/cache", "Secret web/carts",
				"StatefulSet kv/cache", "StatefulSet kv/pool-store",
				"StatefulSet web/carts-0", "StatefulSet web/carts-1", "StatefulSet web/carts-2",
			},
		},
		"HotKV alone":    {"  kvinfra:hotkv: {cache: {image: x}}\n", []string{"NamespacePatch kv", "Secret kv/cache", "StatefulSet kv/cache"}},
		"Mooncake alone": {"  kvinfra:mooncake: {pool: {image: x, version: 0.3.13}}\n", []string{"Deployment kv/pool-master", "NamespacePatch kv", "StatefulSet kv/pool-store"}},
		"none":           {"  kvinfra:hotkv: {}\n  kvinfra:mooncake: {}\n", nil},
		"no keys":        {"", nil},
	} {
		t.Run(what, func(t *testing.T) {
			resources, err := runFile(t, checkout(t, map[string]string{"many": here + tc.settings}), "many", false)
			require.NoError(t, err)
			assert.Equal(t, tc.want, objectsOf(t, resources))
		})
	}
}

// objectsOf returns where the objects are that pods come from, and the namespaces and
// Secrets. That no two objects are one is checked for every kind.
func objectsOf(t *testing.T, resources []render.Resource) []string {
	t.Helper()
	all := map[string]bool{}
	var shown []string
	for _, r := range resources {
		meta, isObject := r.Inputs["metadata"]
		if !isObject {
			continue
		}
		kind, object := r.Type[strings.LastIndex(r.Type, ":")+1:], meta.ObjectValue()
		name := object["name"].StringValue()
		if namespace, ok := object["namespace"]; ok {
			name = namespace.StringValue() + "/" + name
		}
		assert.False(t, all[kind+" "+name], "two are %s %s", kind, name)
		all[kind+" "+name] = true
		if slices.Contains([]string{"NamespacePatch", "Secret", "Deployment", "StatefulSet"}, kind) {
			shown = append(shown, kind+" "+name)
		}
	}
	slices.Sort(shown)
	return shown
}

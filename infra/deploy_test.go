package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gotest.tools/v3/golden"

	"kvinfra/components/render"
)

const root = ".."

func TestStacks(t *testing.T) {
	// By name: a user's own stack file beside them has no golden file.
	for _, stack := range []string{"dev", "prod"} {
		t.Run(stack, func(t *testing.T) {
			var first, second bytes.Buffer
			require.NoError(t, renderStack(&first, root, stack))
			golden.Assert(t, first.String(), stack+".golden.yaml")
			require.NoError(t, renderStack(&second, root, stack))
			assert.Equal(t, first.String(), second.String())
		})
	}
}

func TestRenderOfAStackThatDoesNotExist(t *testing.T) {
	var out bytes.Buffer
	err := renderStack(&out, root, "nowhere")
	assert.ErrorContains(t, err, `there is no stack "nowhere"`)
	assert.Empty(t, out.String())
}

func run(t *testing.T, config map[string]string, preview bool) ([]render.Resource, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kubeconfig"), []byte(kubeconfig(t)), 0o600))
	return render.Program(func(ctx *pulumi.Context) error { return deploy(ctx, config, reachable) },
		render.Options{Project: project, Stack: "test", Root: dir, Preview: preview})
}

// kubeconfig leads to a server that answers, and in the context dead to none.
func kubeconfig(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return `contexts: [{name: local, context: {cluster: it}}, {name: dead, context: {cluster: gone}}]
clusters: [{name: it, cluster: {server: "` + server.URL + `"}}, {name: gone, cluster: {server: "https://127.0.0.1:1"}}]
`
}

func config(kubeconfig, context, hotkv string) map[string]string {
	return map[string]string{
		"kvinfra:cluster": `{"kubeconfig": "` + kubeconfig + `", "context": "` + context + `"}`,
		"kvinfra:hotkv":   hotkv,
	}
}

const good = `{"hotkv": {"image": "hotkv:1"}}`

func TestABadStackMakesNothing(t *testing.T) {
	for what, tc := range map[string]struct {
		config map[string]string
		want   string
	}{
		"a bad setting":         {config("kubeconfig", "local", `{"hotkv": {"image": "hotkv:1", "primaries": 2}}`), "Pulumi.test.yaml: kvinfra:hotkv.hotkv.primaries"},
		"an unknown context":    {config("kubeconfig", "other", good), `no context "other"; it has local, dead`},
		"a dead cluster":        {config("kubeconfig", "dead", good), "Pulumi.test.yaml: kvinfra:cluster.context: the API server does not answer"},
		"a missing kubeconfig":  {config("nowhere", "local", good), "Pulumi.test.yaml: kvinfra:cluster.kubeconfig: nowhere: file does not exist"},
		"no configuration":      {nil, "kvinfra:cluster.kubeconfig: Required value"},
		"an unknown stack key":  {map[string]string{"kvinfra:redis": "{}"}, "kvinfra:redis: unknown key"},
		"a bad second cluster":  {config("kubeconfig", "local", `{"a": {"image": "x"}, "b": {"image": ""}}`), "kvinfra:hotkv.b.image: Required value"},
		"a bad name of cluster": {config("kubeconfig", "local", `{"a_b": {"image": "x"}}`), "kvinfra:hotkv.a_b.name"},
	} {
		t.Run(what, func(t *testing.T) {
			resources, err := run(t, tc.config, false)
			assert.ErrorContains(t, err, tc.want)
			assert.Empty(t, resources)
		})
	}
}

func TestAPreviewNeedsNoKubeconfig(t *testing.T) {
	resources, err := run(t, config("nowhere", "local", good), true)
	require.NoError(t, err)
	created, err := run(t, config("kubeconfig", "local", good), false)
	require.NoError(t, err)
	assert.Len(t, resources, len(created))

	unreached, err := run(t, config("kubeconfig", "dead", good), true)
	require.NoError(t, err)
	assert.Len(t, unreached, len(created), "nor one that leads to a cluster that runs")

	_, err = run(t, config("kubeconfig", "other", good), true)
	assert.ErrorContains(t, err, `no context "other"`, "but one that is there must fit")
}

func TestEveryObjectIsInTheStacksNamespaceAndAfterIt(t *testing.T) {
	resources, err := run(t, map[string]string{
		"kvinfra:cluster":  `{"kubeconfig": "kubeconfig", "context": "local", "namespace": "here"}`,
		"kvinfra:hotkv":    `{"a": {"image": "x"}, "b": {"image": "x", "namespace": "there"}}`,
		"kvinfra:mooncake": `{"m": {"image": "x", "version": "0.3.13"}}`,
	}, false)
	require.NoError(t, err)
	namespaces, components := map[string]string{"a": "here", "b": "there", "m": "here"}, map[string][]string{}
	for _, r := range resources {
		if strings.HasPrefix(r.Type, "kvinfra:") {
			components[r.Name] = r.DependsOn // its objects are made after it
		} else if meta, ok := r.Inputs["metadata"]; ok && r.Parent != "" {
			assert.Equal(t, namespaces[r.Parent], meta.ObjectValue()["namespace"].StringValue(), "%s %s", r.Type, r.Name)
		}
	}
	assert.Equal(t, map[string][]string{
		"a": {"NamespacePatch here"}, "b": {"NamespacePatch there"}, "m": {"NamespacePatch here"},
	}, components)
}

func TestAnInlineKubeconfigIsASecret(t *testing.T) {
	resources, err := run(t, map[string]string{
		"kvinfra:cluster": `{"kubeconfig": ` + strconv.Quote(kubeconfig(t)+"users: [{name: token-of-mine}]\n") + `, "context": "local"}`,
	}, false)
	require.NoError(t, err)
	require.Len(t, resources, 1)
	assert.True(t, resources[0].Inputs["kubeconfig"].IsSecret())
	text, err := render.YAML(resources)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "token-of-mine")
}

func TestANamespaceIsLabelledAsItsPodsNeed(t *testing.T) {
	resources, err := run(t, map[string]string{
		"kvinfra:cluster":  `{"kubeconfig": "kubeconfig", "context": "local"}`,
		"kvinfra:hotkv":    `{"a": {"image": "x"}, "b": {"image": "x", "namespace": "strict"}, "c": {"image": "x", "namespace": "loose"}, "d": {"image": "x", "namespace": "kube-system"}}`,
		"kvinfra:mooncake": `{"m": {"image": "x", "version": "0.3.13", "namespace": "loose", "fabric": {"mode": "rdma-host-network", "nics": ["mlx5_0"]}}}`,
	}, false)
	require.NoError(t, err)
	labels := map[string]map[string]any{}
	for _, r := range resources {
		if strings.HasSuffix(r.Type, ":NamespacePatch") {
			labels[r.Name] = r.Inputs["metadata"].ObjectValue()["labels"].ObjectValue().Mappable()
		}
	}
	const partOf, enforce = "app.kubernetes.io/part-of", "pod-security.kubernetes.io/enforce"
	assert.Equal(t, map[string]map[string]any{
		"default":     {partOf: "kvinfra"},
		"kube-system": {partOf: "kvinfra"},
		"strict":      {partOf: "kvinfra", enforce: "restricted"},
		"loose":       {partOf: "kvinfra", enforce: "privileged"},
	}, labels)
}

func TestProductionProtectsWhatHoldsDataAndNothingElse(t *testing.T) {
	image := `"image": "x@sha256:` + strings.Repeat("0", 64) + `"`
	stack := func(production string) map[string]string {
		return map[string]string{
			"kvinfra:cluster":  `{"kubeconfig": "kubeconfig", "context": "local", "production": ` + production + `}`,
			"kvinfra:hotkv":    `{"a": {` + image + `, "layout": "StatefulSetPerShard"}}`,
			"kvinfra:mooncake": `{"m": {` + image + `, "version": "0.3.13"}}`,
		}
	}
	resources, err := run(t, stack("true"), false)
	require.NoError(t, err)
	protected := map[string]int{}
	for _, r := range resources {
		kind := r.Type[strings.LastIndex(r.Type, ":")+1:]
		if r.Protect {
			protected[kind]++
		}
	}
	assert.Equal(t, map[string]int{"StatefulSet": 4, "Secret": 1, "RandomPassword": 1}, protected)

	resources, err = run(t, stack("false"), false)
	require.NoError(t, err)
	for _, r := range resources {
		assert.False(t, r.Protect, "%s %s", r.Type, r.Name)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	pulumiSDK     = "github.com/pulumi/pulumi/"
	kubernetesSDK = "github.com/pulumi/pulumi-kubernetes/"
)

// rules say what a package and everything that it imports may not import. (That
// nobody imports infra, infra/local and infra/e2e is the compiler's rule: a main
// package and other modules.) A package is named below the module.
func rules(module string) []rule {
	return []rule{
		{module + "/components/*/spec", pulumiSDK, "a spec is computed from plain values; its tests run in milliseconds"},
		{module + "/components/*/spec", kubernetesSDK, "the Kubernetes SDK takes minutes to compile"},
		{module + "/components/internal/kube", pulumiSDK, "plain values only"},
		{module + "/stacks", pulumiSDK, "a stack's configuration is plain text"},
		{module + "/stacks", kubernetesSDK, "the Kubernetes SDK takes minutes to compile"},
		{module + "/infra/internal/manifestdiff", pulumiSDK, "it compares texts"},
		{module + "/components/*", module + "/stacks", "a component reads no configuration"},
		{module + "/components/*", "github.com/pulumi/pulumi/sdk/v3/go/pulumi/config", "a component reads no configuration"},
		{module + "/*", "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/yaml", "it compiles 58 more API packages"},
		{module + "/*", "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/helm/v3", "it compiles 58 more API packages"},
		{module + "/*", "github.com/invopop/jsonschema", "only a test writes the schema of stack files"},
		{module + "/*", "k8s.io/client-go", "heavy tools live in modules of their own"},
	}
}

type rule struct{ packages, forbidden, why string }

type goPackage struct {
	ImportPath string
	Deps       []string
	GoFiles    []string
	Dir        string
}

func modulePath(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Deps,GoFiles,Dir", "./...")
	list.Dir = root
	list.Stderr = os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	var all []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		all = append(all, p)
	}
	require.Greater(t, len(all), 8)
	return all
}

func TestImports(t *testing.T) {
	all := packages(t)
	for _, rule := range rules(modulePath(t)) {
		applies := 0
		for _, p := range all {
			prefix, _, anyBelow := strings.Cut(rule.packages, "*")
			suffix := rule.packages[strings.LastIndex(rule.packages, "*")+1:]
			if p.ImportPath != rule.packages && !(anyBelow && strings.HasPrefix(p.ImportPath, prefix) && strings.HasSuffix(p.ImportPath, suffix)) {
				continue
			}
			applies++
			for _, imported := range p.Deps {
				assert.False(t, imported == strings.TrimSuffix(rule.forbidden, "/") || strings.HasPrefix(imported, rule.forbidden) && strings.HasSuffix(rule.forbidden, "/") ||
					strings.HasPrefix(imported, rule.forbidden+"/"),
					"%s imports %s: %s", p.ImportPath, imported, rule.why)
			}
		}
		assert.Positive(t, applies, "the rule for %s is about no package", rule.packages)
	}
}

// A component takes everything as arguments: no configuration, no environment, no
// provider, no namespace. infra defines no object but the namespace.
func TestWords(t *testing.T) {
	module := modulePath(t)
	forbidden := []struct{ packages, word, why string }{
		{module + "/components/", "os.Getenv", "a component reads no environment"},
		{module + "/components/", "kubernetes.NewProvider", "a component makes no provider"},
		{module + "/components/", "NewNamespace", "a component makes no namespace"},
		{module + "/infra", "SpecArgs{", "infra defines no Kubernetes object but the namespace"},
		{module + "/infra", "os.Getenv(\"", "the kubeconfig comes from the stack file alone"},
	}
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			require.NoError(t, err)
			for _, f := range forbidden {
				if strings.HasPrefix(p.ImportPath, f.packages) {
					assert.NotContains(t, string(text), f.word, "%s/%s: %s", p.ImportPath, name, f.why)
				}
			}
		}
	}
}

// The example of another team is a module of its own. With other versions it would
// compile the Kubernetes SDK anew, which takes minutes.
func TestTheExampleUsesTheVersionsOfTheComponents(t *testing.T) {
	ours, example := requirements(t, root), requirements(t, filepath.Join(root, "examples", "platform-team"))
	assert.Contains(t, example, strings.TrimSuffix(kubernetesSDK, "/")+"/sdk/v4")
	for module, version := range example {
		if same, shared := ours[module]; shared {
			assert.Equal(t, same, version, module)
		}
	}
}

// requirements returns the versions that the go.mod in a directory requires.
func requirements(t *testing.T, dir string) map[string]string {
	t.Helper()
	edit := exec.Command("go", "mod", "edit", "-json")
	edit.Dir = dir
	out, err := edit.Output()
	require.NoError(t, err)
	var module struct {
		Require []struct{ Path, Version string }
	}
	require.NoError(t, json.Unmarshal(out, &module))
	versions := map[string]string{}
	for _, r := range module.Require {
		versions[r.Path] = r.Version
	}
	return versions
}

// The SDK asks the engine for what an older one may not know.
func TestTheWorkflowsInstallTheEngineOfTheSDK(t *testing.T) {
	action, err := os.ReadFile(filepath.Join(root, ".github", "actions", "pulumi", "action.yml"))
	require.NoError(t, err)
	assert.Contains(t, string(action), "pulumi-version: "+strings.TrimPrefix(requirements(t, root)[pulumiSDK+"sdk/v3"], "v")+" ")
}

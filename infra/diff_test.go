package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stackFile is small, and its rendering is not.
const stackFile = `config:
  kvinfra:cluster: {kubeconfig: mine.kubeconfig, context: mine, namespace: kv}
  kvinfra:hotkv: {hotkv: {image: 'hotkv:1'}}
`

// repository returns a directory with one commit, whose program is a small one: it
// prints the file rendering as the rendering of any stack.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module base\n\ngo 1.26\n"
	files["infra/main.go"] = `package main

import (
	"fmt"
	"os"
)

func main() {
	text, err := os.ReadFile("rendering")
	if err != nil || len(os.Args) != 3 || os.Args[1] != "render" {
		fmt.Fprintln(os.Stderr, "out of cheese")
		os.Exit(1)
	}
	fmt.Print(string(text))
}
`
	for name, text := range files {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "a"}} {
		git := exec.Command("git", args...)
		git.Dir = dir
		out, err := git.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return dir
}

// rendered is the rendering of the stack file in a directory.
func rendered(t *testing.T, dir string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, renderStack(&out, dir, "mine"))
	return out.String()
}

func TestDiffWithACommit(t *testing.T) {
	const name = "Pulumi.mine.yaml"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(stackFile), 0o644))
	same := rendered(t, dir)

	diff := func(dir, commit string) (string, error) {
		var out bytes.Buffer
		err := diffStack(t.Context(), &out, dir, "mine", commit)
		return out.String(), err
	}

	t.Run("nothing changed", func(t *testing.T) {
		report, err := diff(repository(t, map[string]string{name: stackFile, "rendering": same}), "HEAD")
		require.NoError(t, err)
		assert.Regexp(t, "^### Stack `mine`: the manifests are those of [0-9a-f]{7,}\n$", report)
	})
	t.Run("the base's program says what was", func(t *testing.T) {
		was := strings.ReplaceAll(same, "image: hotkv:1\n", "image: hotkv:0\n")
		report, err := diff(repository(t, map[string]string{name: stackFile, "rendering": was}), "HEAD")
		require.NoError(t, err)
		assert.Contains(t, report, "**Restart**\n\n- StatefulSet `kv/hotkv`: 6 pods, one after the other\n  - `spec.template.spec.containers[hotkv].image`: `hotkv:0` → `hotkv:1`\n")
		assert.Contains(t, report, "```diff\n--- base/mine.yaml\n+++ head/mine.yaml\n@@ ")
		assert.Contains(t, report, "-        image: hotkv:0\n+        image: hotkv:1\n")
		assert.Contains(t, report, " @@ StatefulSet hotkv\n", "a hunk names its object")
	})
	t.Run("a new stack", func(t *testing.T) {
		dir := repository(t, map[string]string{})
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(stackFile), 0o644))
		report, err := diff(dir, "HEAD")
		require.NoError(t, err)
		assert.Contains(t, report, ", which does not have it\n\n**Created**\n\n")
		assert.Equal(t, strings.Count(same, "---\n"), strings.Count(report, "\n- "))
	})
	t.Run("a stack that is gone", func(t *testing.T) {
		dir := repository(t, map[string]string{name: stackFile, "rendering": same})
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		report, err := diff(dir, "HEAD")
		require.NoError(t, err)
		assert.Contains(t, report, "its file is removed\n\nThat removes nothing from a cluster")
	})
	t.Run("a stack that never was", func(t *testing.T) {
		_, err := diff(repository(t, map[string]string{}), "HEAD")
		assert.ErrorContains(t, err, `there is no stack "mine"`)
	})
	t.Run("a commit that does not exist", func(t *testing.T) {
		_, err := diff(repository(t, map[string]string{name: stackFile}), "nowhere")
		assert.ErrorContains(t, err, "nowhere")
	})
	t.Run("a base that cannot render", func(t *testing.T) {
		_, err := diff(repository(t, map[string]string{name: stackFile}), "HEAD")
		assert.ErrorContains(t, err, "out of cheese")
	})
}

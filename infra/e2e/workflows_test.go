package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// workflow is what these tests need of a workflow of GitHub's.
type workflow struct {
	Jobs map[string]struct {
		Steps []struct{ Uses, Run string }
	}
}

func readWorkflow(t *testing.T, name string) workflow {
	t.Helper()
	var w workflow
	require.NoError(t, yaml.Unmarshal([]byte(readFile(t, root+"/.github/workflows/"+name)), &w))
	require.NotEmpty(t, w.Jobs)
	return w
}

// command returns the one command of a workflow that has these words in it.
func (w workflow) command(t *testing.T, words string) string {
	t.Helper()
	var found []string
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if strings.Contains(step.Run, words) {
				found = append(found, step.Run)
			}
		}
	}
	require.Len(t, found, 1, "commands with %q", words)
	return found[0]
}

// sh runs a command of a workflow as GitHub does.
func (p team) sh(t *testing.T, command string, environment ...string) (string, error) {
	t.Helper()
	p.environment = append(p.environment[:len(p.environment):len(p.environment)], environment...)
	return p.run(t, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command)
}

// TestPullRequest runs the commands of the preview in a pull request, as they
// stand, for a change of both stacks' images.
func TestPullRequest(t *testing.T) {
	w := readWorkflow(t, "preview.yml")
	dir := t.TempDir()
	require.NoError(t, copyCheckout(dir))
	team := newTeam(t, dir)
	run := func(t *testing.T, command string, environment ...string) {
		t.Helper()
		out, err := team.sh(t, command, environment...)
		require.NoError(t, err, "%s", out)
	}
	comment := func(t *testing.T) string { t.Helper(); return readFile(t, filepath.Join(dir, "comment.md")) }

	// The team owns prod, and has committed the salt that its passphrase has.
	team.pulumi(t, "stack", "init", "prod")
	const commit = "git add . && git -c user.name=a -c user.email=a@example.com commit -qm change"
	run(t, "git init -q && "+commit)
	for _, file := range []string{"Pulumi.prod.yaml", "Pulumi.dev.yaml"} {
		text := readFile(t, filepath.Join(dir, file))
		changed := strings.NewReplacer("image: valkey/valkey:", "image: valkey/valkey:next-", "image: hotkv:local", "image: hotkv:next").Replace(text)
		require.NotEqual(t, text, changed)
		writeFile(t, filepath.Join(dir, file), changed)
	}
	run(t, commit)

	step(t, "the stacks are those that have files", func(t *testing.T) {
		run(t, w.command(t, "make stacks"), "GITHUB_OUTPUT=output")
		assert.Equal(t, "names=[\"dev\",\"prod\"]\n", readFile(t, filepath.Join(dir, "output")))
		require.NoError(t, os.Remove(filepath.Join(dir, "output")))
	})
	step(t, "without secrets, the manifests' difference", func(t *testing.T) {
		run(t, w.command(t, "make diff"), "STACK=dev")
		assert.Contains(t, comment(t), "### Stack `dev` against ")
		assert.Contains(t, comment(t), "**Restart**\n\n- StatefulSet `kv/hotkv`: 6 pods, one after the other\n")
		assert.Contains(t, comment(t), "`hotkv:local` → `hotkv:next`")
	})
	step(t, "a stack that is new to the state", func(t *testing.T) {
		run(t, w.command(t, ".github/preview"), "STACK=dev")
		assert.Contains(t, comment(t), "The state has no stack dev: ")
	})
	step(t, "with secrets, the engine's preview too", func(t *testing.T) {
		before := team.state(t)
		run(t, w.command(t, "make diff"), "STACK=prod")
		run(t, w.command(t, ".github/preview"), "STACK=prod")
		assert.Contains(t, comment(t), "### Stack `prod` against ")
		assert.Regexp(t, "(?s)<details><summary>`pulumi preview`</summary>\n\n    Previewing update.*</details>\n$", comment(t))
		assert.Equal(t, before, team.state(t), "a preview only reads")
		assert.Empty(t, team.changed(t))
	})
	step(t, "a preview that fails fails the run, and the comment says why", func(t *testing.T) {
		run(t, "sed -i 's/primaries: 3/primaries: 2/' Pulumi.prod.yaml")
		out, err := team.sh(t, w.command(t, ".github/preview"), "STACK=prod")
		require.Error(t, err, "%s", out)
		assert.Contains(t, comment(t), "<details open><summary>`pulumi preview` fails</summary>")
		assert.Contains(t, comment(t), "Pulumi.prod.yaml: kvinfra:hotkv.hotkv.primaries")
		run(t, "git checkout -q Pulumi.prod.yaml")
	})
	step(t, "the summary", func(t *testing.T) {
		run(t, w.command(t, "GITHUB_STEP_SUMMARY"), "GITHUB_STEP_SUMMARY=comment.md.copy")
		assert.Equal(t, comment(t), readFile(t, filepath.Join(dir, "comment.md.copy")))
	})
}

// state returns the files of the team's backend.
func (p team) state(t *testing.T) map[string]string {
	t.Helper()
	for _, pair := range p.environment {
		if dir, found := strings.CutPrefix(pair, "PULUMI_BACKEND_URL=file://"); found {
			files := map[string]string{}
			require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					files[path] = readFile(t, path)
				}
				return err
			}))
			require.NotEmpty(t, files)
			return files
		}
	}
	require.Fail(t, "no backend")
	return nil
}

// changed returns what of the checkout's own files is not as it was committed.
func (p team) changed(t *testing.T) string {
	t.Helper()
	out, err := p.run(t, "git", "status", "--porcelain", "--untracked-files=no")
	require.NoError(t, err)
	return out
}

// TestWorkflowOfAStack runs the commands of an up on main and of the search for
// drift, as they stand.
func TestWorkflowOfAStack(t *testing.T) {
	w := readWorkflow(t, "stack.yml")
	const name = "e2e-workflow"
	s := newStack(t, name)
	dir := t.TempDir()
	require.NoError(t, copyCheckout(dir))
	require.NoError(t, copyFile(filepath.Join(work, "Pulumi."+name+".yaml"), filepath.Join(dir, "Pulumi."+name+".yaml")))
	team := newTeam(t, dir)
	team.environment = append(team.environment, "STACK="+name)
	team.pulumi(t, "stack", "init", name)

	run := func(t *testing.T, words string, environment ...string) {
		t.Helper()
		out, err := team.sh(t, w.command(t, words), environment...)
		require.NoError(t, err, "%s", out)
	}
	step(t, "the kubeconfig goes where the stack's file names it", func(t *testing.T) {
		run(t, "KUBECONFIG_TEXT", "KUBECONFIG_TEXT="+readFile(t, kubeconfig))
		file := filepath.Join(dir, "keys", "cluster.kubeconfig")
		assert.Equal(t, strings.TrimSpace(readFile(t, kubeconfig)), strings.TrimSpace(readFile(t, file)))
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
	step(t, "up", func(t *testing.T) { run(t, "pulumi up") })
	step(t, "no drift", func(t *testing.T) { run(t, "--expect-no-changes") })
	step(t, "drift fails with the difference", func(t *testing.T) {
		s.kubectl(t, "scale", "statefulset/mooncake-store", "--replicas=3")
		out, err := team.sh(t, w.command(t, "--expect-no-changes"))
		require.Error(t, err)
		assert.Regexp(t, `replicas *: 3 => 2`, out)
	})
	step(t, "what kubectl set is overwritten only when that is asked for", func(t *testing.T) {
		out, err := team.sh(t, `pulumi up --stack "$STACK" --refresh --yes --non-interactive`)
		require.Error(t, err)
		assert.Contains(t, out, `conflict with "kubectl"`)
		out, err = team.sh(t, `pulumi up --stack "$STACK" --refresh --yes --non-interactive`, "PULUMI_K8S_ENABLE_PATCH_FORCE=true")
		require.NoError(t, err, "%s", out)
		run(t, "pulumi up")
		run(t, "--expect-no-changes")
	})
	step(t, "clean up", func(t *testing.T) {
		team.pulumi(t, "destroy", "--yes", "--skip-preview", "--stack", name)
		s.kubectl(t, "delete", "namespace", name, "--timeout=2m")
	})
}

// TestEveryCommandOfAWorkflowIsTested holds the list of those that are, by a test
// above or, as the tests themselves, by every run of them.
func TestEveryCommandOfAWorkflowIsTested(t *testing.T) {
	tested := map[string][]string{
		"test.yml":    {"apt-get update && ", "safe.directory", "make test", ".ci/run"},
		"preview.yml": {"make stacks", "make diff", ".github/preview", "GITHUB_STEP_SUMMARY"},
		"stack.yml":   {"KUBECONFIG_TEXT", "pulumi up", "--expect-no-changes"},
		"up.yml":      nil,
		"drift.yml":   nil,
	}
	files, err := filepath.Glob(root + "/.github/workflows/*")
	require.NoError(t, err)
	assert.Len(t, files, len(tested))
	for name, commands := range tested {
		w, all := readWorkflow(t, name), 0
		for _, job := range w.Jobs {
			for _, step := range job.Steps {
				if step.Run != "" {
					all++
				}
			}
		}
		assert.Len(t, commands, all, name)
		for _, words := range commands {
			w.command(t, words)
		}
	}
}

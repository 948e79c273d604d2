package pulumi

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/local/internal/checkout"
)

// script is a pulumi for tests: it notes its arguments, its environment and its
// directory in the file $CALLS, and then does what $BEHAVIOUR says.
const script = `#!/bin/bash
echo "$*" >>"$CALLS"
env >"$CALLS.env"
pwd >"$CALLS.dir"
if [ "$1" != -C ]; then eval "$BEHAVIOUR"; fi
`

// newStack makes a checkout with two stacks and opens dev with the script.
func newStack(t *testing.T) (Stack, checkout.Checkout) {
	t.Helper()
	c := checkout.Checkout{Root: filepath.Join(t.TempDir(), "with space")}
	require.NoError(t, os.MkdirAll(c.Local(), 0o700))
	for _, file := range []string{"Pulumi.yaml", "Pulumi.dev.yaml", "Pulumi.prod.yaml"} {
		require.NoError(t, os.WriteFile(filepath.Join(c.Root, file), []byte("name: "+file), 0o644))
	}
	bin := filepath.Join(c.Root, "pulumi")
	require.NoError(t, os.WriteFile(bin, []byte(script), 0o755))
	t.Setenv("CALLS", filepath.Join(c.Root, "calls"))
	s, err := Find(c, "dev")
	require.NoError(t, err)
	s, err = s.Open(t.Context(), Toolchain{bin: bin}, io.Discard)
	require.NoError(t, err)
	return s, c
}

// newLog makes a file for the words of pulumi.
func newLog(t *testing.T) *os.File {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(func() { log.Close() })
	return log
}

func noted(t *testing.T, suffix string) string {
	t.Helper()
	content, err := os.ReadFile(os.Getenv("CALLS") + suffix)
	require.NoError(t, err)
	return string(content)
}

func TestFindNamesTheStacksThatExist(t *testing.T) {
	_, c := newStack(t)
	_, err := Find(c, "test")
	assert.EqualError(t, err, `there is no stack "test" (no file Pulumi.test.yaml); there is: dev, prod`)
	for _, name := range []string{"", "-x", "a b", "ü", "../dev", strings.Repeat("a", 101)} {
		_, err := Find(c, name)
		assert.ErrorContains(t, err, "cannot be the name of a stack", name)
	}
}

func TestOpenMakesPrivateStateAndNoNewPassphrase(t *testing.T) {
	s, c := newStack(t)
	for path, mode := range map[string]os.FileMode{"state": 0o700, "passphrase": 0o600, "Pulumi.dev.yaml": 0o600} {
		info, err := os.Stat(c.Local(path))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm(), path)
	}
	before, err := os.ReadFile(c.Local("passphrase"))
	require.NoError(t, err)
	assert.Len(t, string(before), 26)
	_, err = s.Open(t.Context(), s.tools, io.Discard)
	require.NoError(t, err)
	after, err := os.ReadFile(c.Local("passphrase"))
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestOpenWorksOnACopyOfTheStackFile(t *testing.T) {
	s, c := newStack(t)
	require.NoError(t, os.WriteFile(c.Local("Pulumi.dev.yaml"), []byte("encryptionsalt: v1:x"), 0o600))
	_, err := s.Open(t.Context(), s.tools, io.Discard)
	require.NoError(t, err)
	copied, err := os.ReadFile(c.Local("Pulumi.dev.yaml"))
	require.NoError(t, err)
	assert.Equal(t, "name: Pulumi.dev.yaml", string(copied))
	tracked, err := os.ReadFile(filepath.Join(c.Root, "Pulumi.dev.yaml"))
	require.NoError(t, err)
	assert.Equal(t, copied, tracked)
}

func TestRunUsesTheCheckoutAndNothingFromTheShell(t *testing.T) {
	s, c := newStack(t)
	t.Setenv("KUBECONFIG", "/elsewhere")
	t.Setenv("PULUMI_BACKEND_URL", "https://elsewhere")
	t.Setenv("PULUMI_CONFIG_PASSPHRASE", "other")
	t.Setenv("PULUMI_STACK", "prod")
	require.NoError(t, s.Run(t.Context(), newLog(t), newLog(t), "preview", "--diff"))

	assert.Contains(t, noted(t, ""), "preview --config-file "+c.Local("Pulumi.dev.yaml")+" --diff --stack dev --non-interactive\n")
	assert.Equal(t, c.Root+"\n", noted(t, ".dir"))
	env := strings.Split(noted(t, ".env"), "\n")
	assert.Contains(t, env, "PULUMI_CONFIG_PASSPHRASE_FILE="+c.Local("passphrase"))
	assert.Contains(t, env, "PULUMI_BACKEND_URL=file://"+strings.ReplaceAll(c.Local("state"), " ", "%20"))
	for _, pair := range env {
		for _, name := range []string{"KUBECONFIG=", "PULUMI_CONFIG_PASSPHRASE=", "PULUMI_STACK="} {
			assert.False(t, strings.HasPrefix(pair, name), pair)
		}
	}
}

func TestUpFailsWithTheReasonOfPulumi(t *testing.T) {
	s, _ := newStack(t)
	t.Setenv("BEHAVIOUR", `printf 'Diagnostics:\n  Secret (x):\n    error: refused\n\nResources:\n    1 errored\n'; exit 1`)
	log := newLog(t)
	_, err := log.WriteString("Diagnostics:\n  of an earlier command\n")
	require.NoError(t, err)
	_, err = s.Up(t.Context(), log)
	assert.EqualError(t, err, "pulumi up: exit status 1\n  Secret (x):\n    error: refused")
	words, err := os.ReadFile(log.Name())
	require.NoError(t, err)
	assert.Contains(t, string(words), "1 errored")
}

func TestLockedStackSaysWhatToDo(t *testing.T) {
	const killed = "a run that was killed left the stack locked: make unlock STACK=dev"
	s, c := newStack(t)
	t.Setenv("BEHAVIOUR", "exit 255")
	locks := c.Local("state", ".pulumi", "locks", "organization", "kvinfra")
	lock := func(t *testing.T, stack string) {
		t.Helper()
		file := filepath.Join(locks, stack, "1.json")
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, nil, 0o644))
		t.Cleanup(func() { os.RemoveAll(locks) })
	}
	run := func(t *testing.T, command string) error {
		t.Helper()
		return s.Run(t.Context(), newLog(t), newLog(t), command)
	}

	t.Run("locked by a run that was killed", func(t *testing.T) {
		lock(t, "dev")
		assert.EqualError(t, run(t, "up"), "pulumi up: "+killed)
	})
	t.Run("locked by a run that works", func(t *testing.T) {
		lock(t, "dev")
		other := startMarked(t, s, "pulumi")
		want := fmt.Sprintf("process %d works on stack dev: wait for it or interrupt it", other)
		assert.EqualError(t, run(t, "up"), "pulumi up: "+want)
		_, err := s.Unlock(t.Context(), newLog(t))
		assert.EqualError(t, err, want)
		assert.Len(t, running(t, s), 1)
	})
	t.Run("another stack is locked", func(t *testing.T) {
		lock(t, "prod")
		assert.EqualError(t, run(t, "up"), "pulumi up: exit status 255")
	})
	t.Run("a preview does not ask for the lock", func(t *testing.T) {
		lock(t, "dev")
		assert.EqualError(t, run(t, "preview"), "pulumi preview: exit status 255")
	})
}

func TestKilledRunLeavesNoPlugin(t *testing.T) {
	s, _ := newStack(t)
	t.Setenv("BEHAVIOUR", "setsid sleep 1000 & kill -9 $$")
	err := s.Run(t.Context(), newLog(t), newLog(t), "up")
	require.EqualError(t, err, "pulumi up: signal: killed")
	assert.Empty(t, running(t, s))
}

func TestUnlock(t *testing.T) {
	tests := map[string]struct {
		pending string // in the state
		ran     []string
		did     string
	}{
		"nothing was under way":    {did: "nothing to unlock", ran: []string{"-C"}},
		"an up was killed":         {pending: "creating", did: "the up that was killed is finished", ran: []string{"-C", "up", "refresh"}},
		"a destroy was not undone": {pending: "deleting", did: "nothing to unlock", ran: []string{"-C", "refresh"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, c := newStack(t)
			other, err := Find(c, "prod")
			require.NoError(t, err)
			startMarked(t, s, "plugin")
			startMarked(t, other, "plugin")
			if test.pending != "" {
				state := c.Local("state", ".pulumi", "stacks", "kvinfra", "dev.json")
				require.NoError(t, os.MkdirAll(filepath.Dir(state), 0o700))
				content := fmt.Sprintf(`{"checkpoint": {"latest": {"pending_operations": [{"type": %q}]}}}`, test.pending)
				require.NoError(t, os.WriteFile(state, []byte(content), 0o600))
			}
			did, err := s.Unlock(t.Context(), newLog(t))
			require.NoError(t, err)

			assert.Contains(t, did, test.did)
			assert.Empty(t, running(t, s), "plugins that the killed run left")
			assert.Len(t, running(t, other), 1)
			var verbs []string
			for line := range strings.Lines(noted(t, "")) {
				verbs = append(verbs, strings.Fields(line)[0])
			}
			assert.Equal(t, test.ran, verbs)
			if test.pending == "creating" {
				assert.Contains(t, noted(t, ".env"), "PULUMI_K8S_ENABLE_PATCH_FORCE=true\n")
			}
		})
	}
}

// startMarked starts a process of that name as a run on the stack would.
func startMarked(t *testing.T, s Stack, name string) int {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.Symlink(sleep, link))
	cmd := exec.Command(link, "1000")
	cmd.Env = []string{mark + s.runs() + "1:"}
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return cmd.Process.Pid
}

// running returns the processes of the stack's runs.
func running(t *testing.T, s Stack) []process {
	t.Helper()
	found, err := processes(s.runs())
	require.NoError(t, err)
	return found
}

func TestCheckTellsWhatTheProgramSaysOfTheStackFile(t *testing.T) {
	s, c := newStack(t)
	program := c.Local("bin", "infra")
	require.NoError(t, os.MkdirAll(filepath.Dir(program), 0o755))
	says := func(code int) {
		text := fmt.Sprintf("#!/bin/bash\necho objects\necho \"$*: no such key\" >&2\nexit %d\n", code)
		require.NoError(t, os.WriteFile(program, []byte(text), 0o755))
	}
	says(1)
	assert.EqualError(t, s.Check(t.Context()), "stack dev: exit status 1\nrender dev: no such key\n")
	says(0)
	assert.NoError(t, s.Check(t.Context()))
}

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// team is what a team has beside a checkout: a pulumi on PATH, and a backend and a
// passphrase in the environment.
type team struct {
	dir         string // where it works
	environment []string
}

// newTeam returns a team with an empty backend.
func newTeam(t *testing.T, dir string) team {
	t.Helper()
	local, err := filepath.Abs(root + "/.local")
	require.NoError(t, err)
	environment := []string{
		"PULUMI_BACKEND_URL=file://" + t.TempDir(),
		"PULUMI_CONFIG_PASSPHRASE=the team's",
		"PULUMI_SKIP_UPDATE_CHECK=true",
		"KUBECONFIG=/nowhere",      // which must change nothing
		"CGO_ENABLED=0",            // as in other builds, which then share the compiled packages
		"MAKEFLAGS=", "MAKELEVEL=", // make runs these tests, and prints more below itself
	}
	if _, err := os.Stat(local + "/bin/pulumi"); err == nil { // the one that we built
		environment = append(environment,
			"PATH="+local+"/bin:"+os.Getenv("PATH"),
			"PULUMI_HOME="+local+"/home/built",
			"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true",
			"PULUMI_IGNORE_AMBIENT_PLUGINS=true",
			"PULUMI_DEV=true",
		)
	}
	return team{dir, environment}
}

// pulumi runs a command and returns what it prints.
func (p team) pulumi(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.run(t, "pulumi", append(args, "--non-interactive")...)
	require.NoError(t, err, "%s", out)
	return out
}

// run runs a program in the team's directory and returns what it prints, with its
// complaints.
func (p team) run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	// By a shell, which looks for the program on the team's PATH and not on ours.
	cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", `exec "$0" "$@"`, name}, args...)...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), p.environment...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	err := cmd.Run()
	t.Logf("%s %s: %.1f s", name, strings.Join(args, " "), time.Since(start).Seconds())
	return out.String(), err
}

package pulumi

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/local/internal/checkout"
)

const (
	onLocal   = "config:\n  kvinfra:cluster: {kubeconfig: .local/kubeconfig}\n"
	elsewhere = "config:\n  kvinfra:cluster: {kubeconfig: mine.kubeconfig}\n"
	full      = `{"version": 3, "checkpoint": {"latest": {"resources": [{}, {}]}}}`
	destroyed = `{"version": 3, "checkpoint": {"latest": {"manifest": {}}}}`
)

// newStates makes a checkout with a stack file (unless it is empty) and a state.
func newStates(t *testing.T, stack, state string) (c checkout.Checkout, file string) {
	t.Helper()
	c = checkout.Checkout{Root: t.TempDir()}
	if stack != "" {
		require.NoError(t, os.WriteFile(filepath.Join(c.Root, "Pulumi.mine.yaml"), []byte(stack), 0o644))
	}
	file = c.Local("state", ".pulumi", "stacks", "kvinfra", "mine.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(state), 0o644))
	return c, file
}

func TestStatesOfTheLocalClusterGoWithIt(t *testing.T) {
	tests := map[string]struct {
		stack string
		stays bool
	}{
		"on the local cluster":       {onLocal, false},
		"elsewhere":                  {elsewhere, true},
		"its stack file was removed": {"", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, file := newStates(t, tt.stack, full)
			require.NoError(t, Forget(c))
			if tt.stays {
				assert.FileExists(t, file)
			} else {
				assert.NoFileExists(t, file)
			}
		})
	}
}

func TestResourcesElsewhereAreNotForgotten(t *testing.T) {
	const refused = "stack mine has 2 resources on a cluster that is not the local one: make destroy STACK=mine first, or remove %s to forget them"
	tests := map[string]struct{ stack, state, want string }{
		"on the local cluster":       {onLocal, full, ""},
		"elsewhere":                  {elsewhere, full, refused},
		"elsewhere, destroyed":       {elsewhere, destroyed, ""},
		"its stack file was removed": {"", full, refused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, file := newStates(t, tt.stack, tt.state)
			err := CheckNothingElsewhere(c)
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, fmt.Sprintf(tt.want, file))
		})
	}
}

package pulumi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/semver"

	"kvinfra/infra/local/internal/build"
	"kvinfra/infra/local/internal/checkout"
)

func TestFindInstalled(t *testing.T) {
	tests := map[string]struct {
		version string
		host    bool
		built   bool // it is ours
		want    string
	}{
		"recent enough":         {version: "v3.276.0", host: true},
		"newer":                 {version: "v3.300.1", host: true},
		"older":                 {version: "v3.275.9", host: true, want: "is v3.275.9, and go.mod needs v3.276.0"},
		"without language host": {version: "v3.276.0", want: "comes without pulumi-language-go"},
		"our own":               {version: "v3.276.0", host: true, built: true, want: "none is installed on PATH"},
		"none":                  {want: "none is installed on PATH"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			c, path := checkout.Checkout{Root: t.TempDir()}, t.TempDir()
			t.Setenv("PATH", path)
			dir := path
			if tt.built {
				var err error
				dir, err = checkout.Cache("programs", "pulumi", "0123456789ab")
				require.NoError(t, err)
				require.NoError(t, os.MkdirAll(dir, 0o755))
				require.NoError(t, build.LinkAt(filepath.Join(path, "pulumi"), filepath.Join(dir, "pulumi")))
			}
			if tt.version != "" {
				program(t, filepath.Join(dir, "pulumi"), "echo "+tt.version)
			}
			if tt.host {
				program(t, filepath.Join(dir, "pulumi-language-go"), "")
			}
			found, err := findInstalled(t.Context(), c, "v3.276.0")
			if tt.want != "" {
				assert.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			assert.True(t, found.Official)
			assert.Equal(t, tt.version, found.Version)
			assert.Contains(t, found.environment, "PATH="+path)
		})
	}
}

func program(t *testing.T, file, does string) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+does+"\n"), 0o755))
}

// An installed pulumi must not take plugins of ours from PATH.
func TestForeignPathLeavesOutWhatWeBuild(t *testing.T) {
	c := checkout.Checkout{Root: t.TempDir()}
	t.Setenv("PATH", "/usr/bin:"+c.Local("bin")+":/bin")
	assert.Equal(t, []string{"/usr/bin", "/bin"}, foreignPath(c))
}

// What we build must satisfy the program, too.
func TestBuiltPulumiIsAsRecentAsTheSDK(t *testing.T) {
	c, err := checkout.Find()
	require.NoError(t, err)
	needed, err := requiredVersion(filepath.Join(c.Root, "go.mod"), sdk)
	require.NoError(t, err)
	built, err := requiredVersion(c.Source("modules", "pulumi", "go.mod"), sdk)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, semver.Compare(built, needed), 0,
		"go.mod uses the SDK %s and modules/pulumi builds %s: raise the latter", needed, built)
}

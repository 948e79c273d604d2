//go:build linux

package cluster

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAllowed(t *testing.T) {
	const all = 1<<41 - 1
	tests := map[string]struct {
		uid          int
		capabilities uint64
		want         string
	}{
		"root may":                              {0, all, ""},
		"root without CAP_SYS_RESOURCE may":     {0, all &^ (1 << 24), ""},
		"an ordinary user may not":              {1000, all, "needs root"},
		"root of an ordinary container may not": {0, 0xa80425fb, "CAP_SYS_ADMIN"},
		"root without CAP_NET_ADMIN may not":    {0, all &^ (1 << 12), "CAP_NET_ADMIN"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := allowed(test.uid, test.capabilities)
			if test.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func TestInsteadNamesTheReasonAndAWayOut(t *testing.T) {
	reason := errors.New("this machine is a teapot")
	err := instead(reason)
	assert.ErrorIs(t, err, reason)
	assert.ErrorContains(t, err, "kind")
	assert.ErrorContains(t, err, "make up STACK=mine")
}

func TestPortsFree(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := taken.Addr().(*net.TCPAddr).Port
	assert.ErrorContains(t, portsFree(port), "another program has")
	require.NoError(t, taken.Close())
	assert.NoError(t, portsFree(port))
}

func TestLackingNamesPackagesWithoutTheirProgram(t *testing.T) {
	bin, sbin := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(sbin, "runc"), nil, 0o700))
	packages := map[string]string{"runc": "runc", "nftables": "nft", "ipset": "ipset"}
	assert.Equal(t, []string{"ipset", "nftables"}, lacking(packages, bin, sbin))
}

//go:build linux && e2e

package image

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/local/internal/checkout"
)

// product returns the images with that name, which it builds when the cache has
// them not.
func product(t *testing.T, name string) []Archive {
	t.Helper()
	c, err := checkout.Find()
	require.NoError(t, err)
	all, err := Product(t.Context(), c, t.Output())
	require.NoError(t, err)
	var archives []Archive
	for _, a := range all {
		if strings.HasPrefix(a.Ref, name+":") {
			archives = append(archives, a)
		}
	}
	require.NotEmpty(t, archives)
	return archives
}

// anyone is a user that the image does not know.
const anyone = 12345

func TestHotKV(t *testing.T) {
	for _, archive := range product(t, "hotkv") {
		t.Run(archive.Ref, func(t *testing.T) {
			c := unpack(t, archive, anyone)
			assert.Contains(t, c.output(t, "hotkv-server", "--version"), "v=9.")
			assert.Contains(t, c.output(t, "bash", "-c", "getent hosts 127.0.0.1; hotkv-cli --version"), "valkey-cli 9.")

			s := c.start(t, "--cluster-enabled", "yes", "--requirepass", "secret", "--masterauth", "secret",
				"--appendonly", "yes", "--shutdown-on-sigterm", "failover")
			waitUntil(t, s, "the server is ready", func() bool { return strings.Contains(s.log.String(), "Ready to accept connections") })
			assert.Equal(t, "PONG", s.exec(t, []string{"HOTKVCLI_AUTH=secret"}, "hotkv-cli", "ping"))
			assert.Contains(t, s.exec(t, nil, "hotkv-cli", "ping"), "NOAUTH")
			assert.Contains(t, s.exec(t, nil, "ls", "/data"), "nodes.conf")
			assert.Zero(t, s.terminate(t, 20*time.Second))
		})
	}
}

func TestMooncake(t *testing.T) {
	c := unpack(t, product(t, "mooncake")[0], 65532)
	assert.Contains(t, c.output(t, "mooncake_master", "--version"), "0.3.13.post1")
	assert.Equal(t, "65532\n", c.output(t, "python3", "-c", "import os, mooncake.store; print(os.getuid())"))
	benches, err := filepath.Glob(filepath.Join(c.root, "usr/local/lib/python3*/dist-packages/mooncake/transfer_engine_bench"))
	require.NoError(t, err)
	assert.Empty(t, benches)

	t.Run("the master ends on SIGTERM", func(t *testing.T) {
		s := c.start(t, "mooncake_master", "--rpc_port=50051", "--metrics_port=9003")
		const health = `import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:9003/health").status)`
		waitUntil(t, s, "the master is healthy", func() bool { return s.exec(t, nil, "python3", "-c", health) == "200" })
		assert.Zero(t, s.terminate(t, 10*time.Second))
	})
	t.Run("a master without a handler for SIGTERM ends on it", func(t *testing.T) {
		s := c.start(t, "mooncake_master", "--enable_ha=true", "--ha_backend_type=etcd",
			"--ha_backend_connstring=127.0.0.1:2379", "--rpc_address=127.0.0.1", "--cluster_id=test")
		waitUntil(t, s, "the master looks for a leader", func() bool { return strings.Contains(s.log.String(), "-> candidate") })
		assert.Equal(t, 128+15, s.terminate(t, 5*time.Second))
	})
}

func TestImagesDoNotTellWhereTheyWereMade(t *testing.T) {
	for _, name := range []string{"hotkv", "mooncake"} {
		c := unpack(t, product(t, name)[0], anyone)
		for _, file := range []string{"sources.list", "apt.conf.d/99mmdebstrap", "../hostname", "../resolv.conf"} {
			assert.NoFileExists(t, filepath.Join(c.root, "etc/apt", file), name)
		}
	}
}

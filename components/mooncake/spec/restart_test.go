package spec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRestartNotices(t *testing.T) {
	c := Cluster{Image: "mooncake:1", Version: "0.3.13"}.WithDefaults()
	assert.Contains(t, c.MasterRestartNotice("kv"), "restarts the master kv-master: every key is forgotten, and nobody is served")
	assert.Contains(t, c.StoreRestartNotice("kv"), "restarts all 3 stores, one after the other, kv-store-2 to kv-store-0: each has up to 60 s to move its keys")

	*c.Store.DrainSeconds = 0
	assert.Contains(t, c.StoreRestartNotice("kv"), "each loses its keys, stops within 15 s")

	c.HighAvailability.Etcd = []string{"etcd:2379"}
	c.Master.Replicas = 3
	assert.Contains(t, c.MasterRestartNotice("kv"), "restarts the 3 masters kv-masters, one after the other: every key is forgotten when another one leads")
}

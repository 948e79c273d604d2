package spec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRestartNotice(t *testing.T) {
	for want, change := range map[string]func(*Cluster){
		"restarts all 6 pods, one after the other, kv-5 to kv-0: usually":                                   func(*Cluster) {},
		"at worst 34m0s in all, as each may take to hand over its slots and stop (115 s) and to load its":   func(*Cluster) {},
		"an up waits 900 s for each StatefulSet, the restart goes on without it":                            func(c *Cluster) { c.TimeoutSeconds = 900 },
		"restarts all 6 pods, one after the other, kv-0-1 to kv-0-0 first and kv-2-1 to kv-2-0 last: usual": func(c *Cluster) { c.Layout = StatefulSetPerShard },
		"at worst 58m0s in all, as each may take to hand over its slots and stop (115 s) and to start (222": func(c *Cluster) { c.Storage = Storage{None: true} },
	} {
		c := valid()
		change(&c)
		assert.Contains(t, c.RestartNotice("kv"), want)
	}
}

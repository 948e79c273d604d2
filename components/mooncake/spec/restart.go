package spec

import "fmt"

// MasterRestartNotice says what a change does that restarts the masters of the
// cluster called name.
func (c Cluster) MasterRestartNotice(name string) string {
	if c.HighAvailability.Enabled() {
		return fmt.Sprintf("restarts the %d masters %s, one after the other: every key is forgotten when another one leads; an up waits %d s for them",
			c.Master.Replicas, c.MasterName(name), c.TimeoutSeconds)
	}
	return fmt.Sprintf("restarts the master %s: every key is forgotten, and nobody is served until it is back, some seconds later; an up waits %d s for it",
		c.MasterName(name), c.TimeoutSeconds)
}

// StoreRestartNotice says the same for the stores.
func (c Cluster) StoreRestartNotice(name string) string {
	keys := fmt.Sprintf("has up to %d s to move its keys to the others", *c.Store.DrainSeconds)
	if *c.Store.DrainSeconds == 0 {
		keys = "loses its keys"
	}
	store := StoreName(name)
	return fmt.Sprintf("restarts all %d stores, one after the other, %s-%d to %s-0: each %s, stops within %d s, and comes back empty when its memory is ready; "+
		"an up waits %d s for all, the restart goes on without it", c.Store.Replicas, store, c.Store.Replicas-1, store, keys, c.StoreGraceSeconds(), c.TimeoutSeconds)
}

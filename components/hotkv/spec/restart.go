package spec

import (
	"fmt"
	"time"
)

// RestartNotice says what a change does that restarts the pods of the cluster called
// name.
func (c Cluster) RestartNotice(name string) string {
	sets := c.StatefulSets(name)
	which := fmt.Sprintf("%s-%d to %s-0", name, c.Pods()-1, name)
	if c.Layout == StatefulSetPerShard {
		last := sets[len(sets)-1]
		which = fmt.Sprintf("%s-%d to %s-0 first and %s-%d to %s-0 last", sets[0].Name, sets[0].Pods-1, sets[0].Name, last.Name, last.Pods-1, last.Name)
	}
	each := time.Duration(c.GraceSeconds()+c.StartSeconds()) * time.Second
	comesBack := fmt.Sprintf("load its data (%d s)", c.StartSeconds())
	if c.Storage.None {
		each += RepairSeconds * time.Second
		comesBack = fmt.Sprintf("start (%d s) and be filled by its primary (%d s)", c.StartSeconds(), RepairSeconds)
	}
	return fmt.Sprintf("restarts all %d pods, one after the other, %s: usually some seconds for each, at worst %s in all, "+
		"as each may take to hand over its slots and stop (%d s) and to %s; an up waits %d s for each StatefulSet, the restart goes on without it",
		c.Pods(), which, (time.Duration(c.Pods()) * each).Round(time.Minute), c.GraceSeconds(), comesBack, c.TimeoutSeconds)
}

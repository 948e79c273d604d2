package spec

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// goodbyeSeconds is what a store needs to end: 3 s, or 9 s when its master is gone.
const goodbyeSeconds = 15

// StoreGraceSeconds is how long a store that is stopped may take.
func (c Cluster) StoreGraceSeconds() int { return *c.Store.DrainSeconds + goodbyeSeconds }

// StoreStopCommand is what a store runs before it ends, nil for nothing.
func (c Cluster) StoreStopCommand(name string) []string {
	if *c.Store.DrainSeconds == 0 {
		return nil
	}
	return []string{
		"python3", "/scripts/drain.py",
		c.AdminAddress(name), strconv.Itoa(c.Store.RESTPort), strconv.Itoa(*c.Store.DrainSeconds),
		number(float64(c.Master.LeaseMilliseconds) / 1000),
	}
}

func (c Cluster) validateDrain(at *field.Path) field.ErrorList {
	seconds := *c.Store.DrainSeconds
	errs := kube.ValidateRange(seconds, 0, kube.MaxSeconds, at)
	if len(errs) == 0 && seconds > 0 && !c.Version.has("drain_jobs") {
		errs = append(errs, c.Version.tooOld(at, "drain_jobs"))
	}
	return errs
}

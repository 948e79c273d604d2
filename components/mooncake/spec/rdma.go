package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// parameter is a number that RDMA is given in a variable; nil leaves it out.
type parameter struct {
	field       string
	variable    string
	value       *int
	least, most int
}

// parameters lists them all, in the order of the fields.
func (f Fabric) parameters() []parameter {
	set := func(n int) *int {
		if n == 0 {
			return nil
		}
		return &n
	}
	return []parameter{
		{"gidIndex", "MC_GID_INDEX", f.GIDIndex, 0, 255},
		{"ibPort", "MC_IB_PORT", set(f.IBPort), 1, 255},
		{"trafficClass", "MC_IB_TC", f.TrafficClass, 0, 255},
		{"serviceLevel", "MC_IB_SL", f.ServiceLevel, 0, 15},
		{"partitionKeyIndex", "MC_PKEY_INDEX", set(f.PartitionKeyIndex), 0, 65535},
		{"mtu", "MC_MTU", set(f.MTU), 0, 4096},
		{"tuning.queuePairs", "MC_NUM_QP_PER_EP", set(f.Tuning.QueuePairs), 1, 256},
		{"tuning.completionQueues", "MC_NUM_CQ_PER_CTX", set(f.Tuning.CompletionQueues), 1, 256},
		{"tuning.workRequests", "MC_MAX_WR", set(f.Tuning.WorkRequests), 1, 65535},
		{"tuning.workers", "MC_WORKERS_PER_CTX", set(f.Tuning.Workers), 1, 8},
		{"tuning.retries", "MC_RETRY_CNT", set(f.Tuning.Retries), 1, 127},
	}
}

// sizes are the quantities among the parameters.
func (t Tuning) sizes() []struct{ field, variable, value string } {
	return []struct{ field, variable, value string }{
		{"sliceSize", "MC_SLICE_SIZE", t.SliceSize},
		{"maxRegionSize", "MC_MAX_MR_SIZE", t.MaxRegionSize},
	}
}

func (f Fabric) validateParameters(v Version, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	usable := func(at *field.Path, variable string) bool {
		if !f.RDMA() {
			errs = append(errs, field.Forbidden(at, "is only for RDMA: remove it, or set mode"))
		} else if !v.has(variable) {
			errs = append(errs, v.tooOld(at, variable))
		} else {
			return true
		}
		return false
	}
	for _, p := range f.parameters() {
		path := at
		for _, child := range strings.Split(p.field, ".") {
			path = path.Child(child)
		}
		if p.value != nil && usable(path, p.variable) && (*p.value < p.least || *p.value > p.most) {
			errs = append(errs, field.Invalid(path, *p.value, fmt.Sprintf("must be between %d and %d", p.least, p.most)))
		}
	}
	if mtus := []int{0, 512, 1024, 2048, 4096}; f.RDMA() && !slices.Contains(mtus, f.MTU) {
		errs = append(errs, field.Invalid(at.Child("mtu"), f.MTU, "must be 512, 1024, 2048 or 4096"))
	}
	for _, s := range f.Tuning.sizes() {
		path := at.Child("tuning", s.field)
		if s.value != "" && usable(path, s.variable) {
			_, problems := kube.Bytes(s.value, path)
			errs = append(errs, problems...)
		}
	}
	if f.Tuning.SameRail {
		usable(at.Child("tuning", "sameRail"), "MC_ENABLE_DEST_DEVICE_AFFINITY")
	}
	return errs
}

// variables tell a store about its fabric.
func (f Fabric) variables() []Variable {
	variables := []Variable{{Name: "MOONCAKE_PROTOCOL", Value: f.Protocol()}}
	if !f.RDMA() {
		return variables
	}
	if f.discovers() {
		variables = append(variables,
			Variable{Name: "MC_MS_AUTO_DISC", Value: "1"},
			Variable{Name: "MC_FORCE_HCA", Value: "1"}, // or a store that finds none takes TCP and says nothing
		)
	} else {
		variables = append(variables, Variable{Name: "MOONCAKE_DEVICE", Value: strings.Join(f.NICs, ",")})
	}
	if len(f.NICFilters) > 0 {
		variables = append(variables, Variable{Name: "MC_MS_FILTERS", Value: strings.Join(f.NICFilters, ",")})
	}
	for _, p := range f.parameters() {
		if p.value != nil {
			variables = append(variables, Variable{Name: p.variable, Value: strconv.Itoa(*p.value)})
		}
	}
	for _, s := range f.Tuning.sizes() {
		if s.value != "" {
			variables = append(variables, Variable{Name: s.variable, Value: bytes(s.value)})
		}
	}
	if f.Tuning.SameRail { // whatever its value
		variables = append(variables, Variable{Name: "MC_ENABLE_DEST_DEVICE_AFFINITY", Value: "1"})
	}
	return variables
}

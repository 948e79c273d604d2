package spec

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Fabric says over what the data moves. A change of it restarts the stores one
// after the other; until the last one is back, stores of the old and the new
// fabric do not reach each other.
type Fabric struct {
	// Mode is "tcp" (default), "rdma-host-network" (the pods use the node's network
	// and /dev/infiniband) or "rdma-device-plugin" (a device plugin gives each pod its
	// devices).
	Mode FabricMode `json:"mode,omitempty"`

	// NICs are the RDMA devices to use, as ibv_devices lists them, for example
	// mlx5_0. Required with RDMA: with no name Mooncake looks for devices itself and
	// silently uses TCP when it finds none.
	NICs []string `json:"nics,omitempty"`

	// GIDIndex is the index in the NICs' GID table, which says which address and which
	// RoCE version they use. Default: Mooncake's own choice. Only with RDMA.
	GIDIndex *int `json:"gidIndex,omitempty"`

	// Privileged runs the stores as privileged containers. Default false. A container
	// runtime gives the device files of a mounted directory to privileged containers
	// only, unless it is configured otherwise; a device plugin needs no such thing.
	// Only with rdma-host-network.
	Privileged bool `json:"privileged,omitempty"`

	// DevicePlugin says what to ask the device plugin for. Only in that mode.
	DevicePlugin DevicePlugin `json:"devicePlugin,omitzero"`
}

// DevicePlugin is a share of what a device plugin offers.
type DevicePlugin struct {
	// Resource is the name under which the plugin offers its devices. Default
	// "rdma/hca".
	Resource string `json:"resource,omitempty"`

	// Count of devices for each store. Default 1.
	Count int `json:"count,omitempty"`
}

// FabricMode is a way to reach a fabric.
type FabricMode string

// The fabrics that a cluster can use.
const (
	TCP              FabricMode = "tcp"
	RDMAHostNetwork  FabricMode = "rdma-host-network"
	RDMADevicePlugin FabricMode = "rdma-device-plugin"
)

// RDMA says whether the fabric is one of the RDMA modes.
func (f Fabric) RDMA() bool { return f.Mode != TCP }

// Protocol is what Mooncake calls the fabric.
func (f Fabric) Protocol() string {
	if f.RDMA() {
		return "rdma"
	}
	return "tcp"
}

func (f Fabric) withDefaults() Fabric {
	fill(&f.Mode, TCP)
	if f.Mode == RDMADevicePlugin {
		fill(&f.DevicePlugin.Resource, "rdma/hca")
		fill(&f.DevicePlugin.Count, 1)
	}
	return f
}

func (f Fabric) validate(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	modes := []FabricMode{TCP, RDMAHostNetwork, RDMADevicePlugin}
	if !slices.Contains(modes, f.Mode) {
		return append(errs, field.NotSupported(at.Child("mode"), f.Mode, modes))
	}
	if f.RDMA() && len(f.NICs) == 0 {
		errs = append(errs, field.Required(at.Child("nics"), fmt.Sprintf(
			"name the RDMA devices of the nodes, for example [mlx5_0]: without a name %s falls back to TCP in silence", f.Mode)))
	}
	if !f.RDMA() && len(f.NICs) > 0 {
		errs = append(errs, field.Forbidden(at.Child("nics"), "is only for RDMA: remove it, or set mode"))
	}
	for i, nic := range f.NICs {
		if nic == "" || strings.ContainsAny(nic, " ,;:\"'{}[]") {
			errs = append(errs, field.Invalid(at.Child("nics").Index(i), nic, "is not the name of one device"))
		} else if slices.Contains(f.NICs[:i], nic) {
			errs = append(errs, field.Duplicate(at.Child("nics").Index(i), nic))
		}
	}
	if f.GIDIndex != nil && !f.RDMA() {
		errs = append(errs, field.Forbidden(at.Child("gidIndex"), "is only for RDMA: remove it, or set mode"))
	}
	if f.GIDIndex != nil && *f.GIDIndex < 0 {
		errs = append(errs, field.Invalid(at.Child("gidIndex"), *f.GIDIndex, "must be 0 or more; leave it out for Mooncake's own choice"))
	}
	if f.Privileged && f.Mode != RDMAHostNetwork {
		errs = append(errs, field.Forbidden(at.Child("privileged"), fmt.Sprintf("is only for mode %s", RDMAHostNetwork)))
	}
	return append(errs, f.DevicePlugin.validate(f.Mode, at.Child("devicePlugin"))...)
}

func (p DevicePlugin) validate(mode FabricMode, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if mode != RDMADevicePlugin {
		if p != (DevicePlugin{}) {
			errs = append(errs, field.Forbidden(at, fmt.Sprintf("is only for mode %s", RDMADevicePlugin)))
		}
		return errs
	}
	for _, why := range validation.IsQualifiedName(p.Resource) {
		errs = append(errs, field.Invalid(at.Child("resource"), p.Resource, why))
	}
	if p.Count < 1 {
		errs = append(errs, field.Invalid(at.Child("count"), p.Count, "must be at least 1"))
	}
	return errs
}

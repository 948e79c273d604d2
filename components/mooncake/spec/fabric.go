package spec

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kvinfra/components/internal/kube"
)

// Fabric says over what the data moves. A change restarts the stores, one after
// the other; until the last one is back, stores with the old fabric and stores with
// the new one do not reach each other.
type Fabric struct {
	// Mode is "tcp" (default), "rdma-host-network" (the pods use the node's network
	// and /dev/infiniband) or "rdma-device-plugin" (a device plugin gives each pod its
	// devices).
	Mode FabricMode `json:"mode,omitempty"`

	// NICs are the RDMA devices to use, as ibv_devices lists them, for example
	// mlx5_0. Required with rdma-host-network: without names Mooncake would take every
	// device that it finds. Default with rdma-device-plugin: what the plugin gave.
	NICs []string `json:"nics,omitempty"`

	// NICFilters are the names of devices that a store may use; it takes those of them
	// that it finds. Only with rdma-device-plugin, and without nics. Default: all that it
	// finds.
	NICFilters []string `json:"nicFilters,omitempty"`

	// GIDIndex is the index in the NICs' GID table, which says which address and which
	// RoCE version they use. Default: Mooncake's own choice. Only with RDMA.
	GIDIndex *int `json:"gidIndex,omitempty"`

	// IBPort is the port of the NICs. Default 1. Only with RDMA.
	IBPort int `json:"ibPort,omitempty"`

	// TrafficClass marks what the stores send, for switches that give RDMA a lane of its
	// own: 0 to 255. Default: the driver's. Only with RDMA.
	TrafficClass *int `json:"trafficClass,omitempty"`

	// ServiceLevel is the InfiniBand service level of what the stores send: 0 to 15.
	// Default: the driver's. Only with RDMA, since 0.3.12.
	ServiceLevel *int `json:"serviceLevel,omitempty"`

	// PartitionKeyIndex is the index in an InfiniBand port's table of partition keys.
	// Default 0. Only with RDMA, since 0.3.11.
	PartitionKeyIndex int `json:"partitionKeyIndex,omitempty"`

	// MTU of RDMA in bytes: 512, 1024, 2048 or 4096. Default 4096, or what the port
	// has if that is less. Only with RDMA.
	MTU int `json:"mtu,omitempty"`

	// Tuning has parameters that rarely need a change. Only with RDMA.
	Tuning Tuning `json:"tuning,omitzero"`

	// Privileged runs the stores as privileged containers. Default false. Most container
	// runtimes let only privileged containers open the device files of a mounted
	// directory, unless they are configured otherwise. Only with rdma-host-network: a
	// device plugin does not need it.
	Privileged bool `json:"privileged,omitempty"`

	// DevicePlugin says what to ask the device plugin for. Only with rdma-device-plugin.
	DevicePlugin DevicePlugin `json:"devicePlugin,omitzero"`
}

// Tuning are Mooncake's own parameters of RDMA; what is zero is left to it.
type Tuning struct {
	// QueuePairs is the number of queue pairs between two NICs. Mooncake's default: 2.
	QueuePairs int `json:"queuePairs,omitempty"`

	// CompletionQueues is the number of completion queues of each NIC. Mooncake's default: 1.
	CompletionQueues int `json:"completionQueues,omitempty"`

	// WorkRequests is how many requests a queue pair can hold. Mooncake's default: 256.
	WorkRequests int `json:"workRequests,omitempty"`

	// Workers is the number of threads for each NIC, at most 8. Mooncake's default: 2.
	Workers int `json:"workers,omitempty"`

	// Retries is how often a slice that failed is sent again. Mooncake's default: 9.
	Retries int `json:"retries,omitempty"`

	// SliceSize is the size of the parts in which a value is moved, a Kubernetes
	// quantity. Mooncake's default: 64Ki.
	SliceSize string `json:"sliceSize,omitempty"`

	// MaxRegionSize is the most memory that a NIC can register as one region, a
	// Kubernetes quantity. Mooncake's default: 1Ti; some NICs allow less. Since 0.3.10.post2.
	MaxRegionSize string `json:"maxRegionSize,omitempty"`

	// SameRail has each NIC send only to NICs of the same name, for fabrics whose rails
	// do not reach each other. Default false.
	SameRail bool `json:"sameRail,omitempty"`
}

// DevicePlugin is a share of what a device plugin offers.
type DevicePlugin struct {
	// Resource is the name under which the plugin offers its devices. Default
	// "rdma/hca".
	Resource string `json:"resource,omitempty"`

	// Count is the number of devices for each store. Default 1, at most 1000.
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

// Choices are the fabrics.
func (FabricMode) Choices() []FabricMode {
	return []FabricMode{TCP, RDMAHostNetwork, RDMADevicePlugin}
}

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
	kube.Fill(&f.Mode, TCP)
	if f.Mode == RDMADevicePlugin {
		kube.Fill(&f.DevicePlugin.Resource, "rdma/hca")
		kube.Fill(&f.DevicePlugin.Count, 1)
	}
	return f
}

// discovers says whether a store looks for its devices itself.
func (f Fabric) discovers() bool { return f.RDMA() && len(f.NICs) == 0 }

func (f Fabric) validate(v Version, at *field.Path) field.ErrorList {
	errs := kube.ValidateChoice(f.Mode, at.Child("mode"))
	if len(errs) > 0 {
		return errs
	}
	if f.Mode == RDMAHostNetwork && len(f.NICs) == 0 {
		errs = append(errs, field.Required(at.Child("nics"), "name the RDMA devices of the nodes, for example [mlx5_0]"))
	}
	if f.Mode == RDMADevicePlugin && f.discovers() && !v.has("MC_FORCE_HCA") {
		errs = append(errs, field.Required(at.Child("nics"), fmt.Sprintf(
			"name the RDMA devices: Mooncake %s takes TCP in silence when it looks for devices and finds none; %s can be told not to", v, gates()["MC_FORCE_HCA"].Since)))
	}
	if !f.RDMA() && len(f.NICs) > 0 {
		errs = append(errs, field.Forbidden(at.Child("nics"), "is only for RDMA: remove it, or set mode"))
	}
	if len(f.NICFilters) > 0 && (f.Mode != RDMADevicePlugin || !f.discovers()) {
		errs = append(errs, field.Forbidden(at.Child("nicFilters"), fmt.Sprintf("is only for mode %s without nics", RDMADevicePlugin)))
	}
	errs = append(errs, validateDevices(f.NICs, at.Child("nics"))...)
	errs = append(errs, validateDevices(f.NICFilters, at.Child("nicFilters"))...)
	if f.Privileged && f.Mode != RDMAHostNetwork {
		errs = append(errs, field.Forbidden(at.Child("privileged"), fmt.Sprintf("is only for mode %s", RDMAHostNetwork)))
	}
	errs = append(errs, f.validateParameters(v, at)...)
	return append(errs, f.DevicePlugin.validate(f.Mode, at.Child("devicePlugin"))...)
}

func validateDevices(names []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, " ,;:\"'{}[]") {
			errs = append(errs, field.Invalid(at.Index(i), name, "is not the name of one device"))
		} else if slices.Contains(names[:i], name) {
			errs = append(errs, field.Duplicate(at.Index(i), name))
		}
	}
	return errs
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
	if !strings.Contains(p.Resource, "/") {
		errs = append(errs, field.Invalid(at.Child("resource"), p.Resource, "needs a domain, as in rdma/hca: other names are Kubernetes' own"))
	}
	errs = append(errs, kube.ValidateRange(p.Count, 1, maxDevices, at.Child("count"))...)
	return errs
}

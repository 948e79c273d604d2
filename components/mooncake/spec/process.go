package spec

import (
	"fmt"
	"strconv"
	"strings"
)

// Variable is an environment variable of a container. Field, when set, is the
// field of the pod that holds the value.
type Variable struct{ Name, Value, Field string }

// MasterName and StoreName are the names of the objects of a cluster called name.
func MasterName(name string) string { return name + "-master" }

// StoreName is the name of the stores' objects.
func StoreName(name string) string { return name + "-store" }

// MasterAddress is where stores and clients in any namespace reach the master.
func (c Cluster) MasterAddress(name string) string {
	return fmt.Sprintf("%s.%s.svc:%d", MasterName(name), c.Namespace, RPCPort)
}

// AdminAddress is where the master serves metrics and takes commands, over HTTP.
func (c Cluster) AdminAddress(name string) string {
	return fmt.Sprintf("%s.%s.svc:%d", MasterName(name), c.Namespace, MetricsPort)
}

// MetadataServer is how Transfer Engines find each other: each keeps its own
// metadata and exchanges it when two connect. Mooncake takes no other spelling.
const MetadataServer = "P2PHANDSHAKE"

// MasterArguments are the arguments of mooncake_master. It listens on every
// address, so that port-forward and probes reach it, and stops at an argument that
// it does not know: these exist in every version.
func MasterArguments() []string {
	return []string{
		"--rpc_port=" + strconv.Itoa(RPCPort),
		"--metrics_port=" + strconv.Itoa(MetricsPort),
	}
}

// StoreVariables tell a store about the cluster called name.
func (c Cluster) StoreVariables(name string) []Variable {
	variables := []Variable{
		{Name: "POD_IP", Field: "status.podIP"},
		// Peers dial what a store calls itself. The default is localhost: the master then
		// shows full capacity, and every read from another pod fails. The name of the
		// variable changed in 0.3.8.
		{Name: "MOONCAKE_LOCAL_HOSTNAME", Value: "$(POD_IP)"},
		{Name: "LOCAL_HOSTNAME", Value: "$(POD_IP)"},
		{Name: "MOONCAKE_MASTER", Value: c.MasterAddress(name)},
		{Name: "MOONCAKE_TE_META_DATA_SERVER", Value: MetadataServer},
		{Name: "MOONCAKE_GLOBAL_SEGMENT_SIZE", Value: bytes(c.Store.SegmentSize)},
		{Name: "MOONCAKE_LOCAL_BUFFER_SIZE", Value: bytes(c.Store.LocalBufferSize)},
	}
	// Both spellings: PRC is read by every version, RPC by newer ones.
	for _, spelling := range []string{"PRC", "RPC"} {
		variables = append(variables,
			Variable{Name: "MC_MIN_" + spelling + "_PORT", Value: strconv.Itoa(TransferPortMin)},
			Variable{Name: "MC_MAX_" + spelling + "_PORT", Value: strconv.Itoa(TransferPortMax)},
		)
	}
	// A replaced master has another address behind the Service: with the default of
	// 30 s stores come back after 34 s, with these after 5 s (measured, 0.3.13).
	variables = append(variables,
		Variable{Name: "MC_RPC_TIMEOUT_MS", Value: "3000"},
		Variable{Name: "MC_RPC_CONNECT_TIMEOUT_MS", Value: "2000"},
	)
	return append(variables, c.Fabric.variables()...)
}

func (f Fabric) variables() []Variable {
	if !f.RDMA() {
		return []Variable{{Name: "MOONCAKE_PROTOCOL", Value: "tcp"}}
	}
	variables := []Variable{
		{Name: "MOONCAKE_PROTOCOL", Value: "rdma"},
		{Name: "MOONCAKE_DEVICE", Value: strings.Join(f.NICs, ",")},
	}
	if f.GIDIndex != nil {
		variables = append(variables, Variable{Name: "MC_GID_INDEX", Value: strconv.Itoa(*f.GIDIndex)})
	}
	return variables
}

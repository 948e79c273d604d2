package spec

import (
	"fmt"
	"strconv"
	"strings"
)

// Variable is an environment variable of a container. Field, when set, is the
// field of the pod that holds the value.
type Variable struct{ Name, Value, Field string }

// MasterName is the name of the masters' objects. With and without high
// availability they are different ones: neither a Deployment's strategy nor the
// address of a Service can be changed into the other's.
func (c Cluster) MasterName(name string) string {
	if c.HighAvailability.Enabled() {
		return name + "-masters"
	}
	return name + "-master"
}

// StoreName is the name of the stores' objects.
func StoreName(name string) string { return name + "-store" }

// Claims returns the names that no other cluster of the namespace may use.
func (c Cluster) Claims(name string) []string {
	return []string{c.MasterName(name), StoreName(name)}
}

// MasterAddress is where stores and clients in any namespace find the master. One
// of several is found in etcd: only the one that leads has an open port.
func (c Cluster) MasterAddress(name string) string {
	if c.HighAvailability.Enabled() {
		return etcdURL(c.HighAvailability.Etcd)
	}
	return fmt.Sprintf("%s.%s.svc:%d", c.MasterName(name), c.Namespace, RPCPort)
}

// AdminAddress is where masters serve metrics and take commands, over HTTP.
func (c Cluster) AdminAddress(name string) string {
	return fmt.Sprintf("%s.%s.svc:%d", c.MasterName(name), c.Namespace, MetricsPort)
}

// MasterCommand starts the master. Before 0.3.13 its script does so in a child
// that no signal reaches, and up to 0.3.11 fails when it is not root.
func (c Cluster) MasterCommand() []string {
	if c.Version.since("0.3.13") {
		return []string{"mooncake_master"}
	}
	return []string{"python3", "-c", strings.Join([]string{
		"import importlib.util, os, sys",
		"program = importlib.util.find_spec('mooncake').submodule_search_locations[0] + '/mooncake_master'",
		"os.execv(program, [program] + sys.argv[1:])",
	}, "\n")}
}

// MasterArguments are the arguments of the master of the cluster called name. A
// single one listens on every address, so that port-forward and probes reach it.
func (c Cluster) MasterArguments(name string) []string {
	arguments := []string{
		"--rpc_port=" + strconv.Itoa(RPCPort),
		"--metrics_port=" + strconv.Itoa(MetricsPort),
		"--default_kv_lease_ttl=" + strconv.Itoa(c.Master.LeaseMilliseconds),
		"--eviction_high_watermark_ratio=" + number(c.Master.EvictionWatermark),
		"--eviction_ratio=" + number(c.Master.EvictionRatio),
		"--client_ttl=" + strconv.Itoa(c.Master.ClientTTLSeconds),
	}
	if c.Master.Threads > 0 {
		arguments = append(arguments, "--rpc_thread_num="+strconv.Itoa(c.Master.Threads))
	}
	if c.Metadata.Mode == MetadataHTTP {
		arguments = append(arguments, "--enable_http_metadata_server=true", "--http_metadata_server_port="+strconv.Itoa(MetadataPort))
	}
	if c.HighAvailability.Enabled() {
		arguments = append(arguments,
			"--rpc_address=$(POD_IP)", // also what the leader tells clients
			"--enable_ha=true",
			"--ha_backend_type=etcd",
			"--ha_backend_connstring="+strings.Join(c.HighAvailability.Etcd, ";"),
			"--cluster_id="+c.ClusterIDFor(name),
		)
	}
	for _, flag := range extraVariables(c.Master.ExtraFlags) {
		arguments = append(arguments, "--"+flag.Name+"="+flag.Value)
	}
	return arguments
}

// MasterVariables tell a master about the cluster called name.
func (c Cluster) MasterVariables(name string) []Variable {
	var variables []Variable
	if c.HighAvailability.Enabled() {
		variables = append([]Variable{{Name: "POD_IP", Field: "status.podIP"}}, c.sharedVariables(name)...)
	}
	return append(variables, extraVariables(c.Master.ExtraEnv)...)
}

// sharedVariables name the cluster called name where it shares an etcd.
func (c Cluster) sharedVariables(name string) []Variable {
	var variables []Variable
	if c.HighAvailability.Enabled() {
		variables = append(variables, Variable{Name: "MC_STORE_CLUSTER_ID", Value: c.ClusterIDFor(name)})
	}
	if c.Metadata.Mode == MetadataEtcd {
		variables = append(variables, Variable{Name: "MC_METADATA_CLUSTER_ID", Value: c.ClusterIDFor(name)})
	}
	return variables
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// StoreArguments are the arguments of a store.
func (c Cluster) StoreArguments() []string {
	return []string{"--port", strconv.Itoa(c.Store.RESTPort)}
}

// StoreTellsHealth says whether a store has a port that tells if it is of use, which
// it is only while it reaches its master.
func (c Cluster) StoreTellsHealth() bool { return c.Version.has("MOONCAKE_ENABLE_CLIENT_HTTP_SERVER") }

// StoreVariables tell a store about the cluster called name.
func (c Cluster) StoreVariables(name string) []Variable {
	return append(c.storeVariables(name), extraVariables(c.Store.ExtraEnv)...)
}

func (c Cluster) storeVariables(name string) []Variable {
	variables := []Variable{
		{Name: "POD_IP", Field: "status.podIP"},
		// Peers dial what a store calls itself. The default is localhost: the master then
		// shows full capacity, and every read from another pod fails. The name of the
		// variable changed in 0.3.8.
		{Name: "MOONCAKE_LOCAL_HOSTNAME", Value: "$(POD_IP)"},
		{Name: "LOCAL_HOSTNAME", Value: "$(POD_IP)"},
		{Name: "MOONCAKE_MASTER", Value: c.MasterAddress(name)},
		{Name: "MOONCAKE_TE_META_DATA_SERVER", Value: c.MetadataServer(name)},
		{Name: "MOONCAKE_GLOBAL_SEGMENT_SIZE", Value: bytes(c.Store.SegmentSize)},
		{Name: "MOONCAKE_LOCAL_BUFFER_SIZE", Value: bytes(c.Store.LocalBufferSize)},
		{Name: "MOONCAKE_ENABLE_CLIENT_HTTP_SERVER", Value: "true"},
		{Name: "MOONCAKE_CLIENT_HTTP_PORT", Value: strconv.Itoa(HealthPort)},
		{Name: "LD_PRELOAD", Value: "libgcc_s.so.1"},
	}
	variables = append(variables, c.sharedVariables(name)...)
	if c.Metadata.Mode != MetadataP2P {
		// What peers dial: without it, the node's first network, in the host's network.
		variables = append(variables, Variable{Name: "MC_TCP_BIND_ADDRESS", Value: "$(POD_IP)"})
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
	return c.Version.keep(append(variables, c.Fabric.variables()...))
}

package spec

import (
	"net"
	"slices"
	"strconv"
)

// Party is one side of a connection: a part of the cluster, or who uses it.
type Party string

// The parties. Of the first three, pods have the name in the label
// app.kubernetes.io/component.
const (
	Masters    Party = "master"
	Stores     Party = "store"
	Check      Party = "verify"  // the Job that moves data between the stores
	Clients    Party = "clients" // inference engines, in any namespace
	Monitoring Party = "monitoring"
	Etcd       Party = "etcd" // not the cluster's own
)

// Port is a TCP port, or a range of them, that somebody serves for others. None
// asks for a password: whoever reaches it may use it.
type Port struct {
	Of          Party
	Name        string // as Services and probes call it; a range has no use for that
	First, Last int
	Users       []Party // the kubelet's probes come on top
}

// Ports are all that a network policy has to let through, by the party that
// serves them.
func (c Cluster) Ports() []Port {
	ports := []Port{
		{Masters, "rpc", RPCPort, RPCPort, []Party{Stores, Clients}},
		// A store that stops asks here for its keys to be moved.
		{Masters, "metrics", MetricsPort, MetricsPort, []Party{Stores, Check, Monitoring}},
	}
	if c.Metadata.Mode == MetadataHTTP {
		ports = append(ports, Port{Masters, "metadata", MetadataPort, MetadataPort, []Party{Stores, Clients, Check}})
	}
	ports = append(ports, Port{Stores, "rest", c.Store.RESTPort, c.Store.RESTPort, []Party{Check}})
	if c.StoreTellsHealth() {
		ports = append(ports, Port{Stores, "health", HealthPort, HealthPort, []Party{Monitoring}})
	}
	// Over RDMA engines meet here too, before the data takes the other way. The check
	// asks an engine how it moves its data.
	ports = append(ports, Port{Stores, "transfer", TransferPortMin, TransferPortMax, []Party{Stores, Clients, Check}})
	return append(ports, c.etcdPorts()...)
}

func (c Cluster) etcdPorts() []Port {
	var ports []Port
	add := func(servers []string, users ...Party) {
		for _, server := range servers {
			_, text, _ := net.SplitHostPort(server) // validated
			number, _ := strconv.Atoi(text)
			at := slices.IndexFunc(ports, func(p Port) bool { return p.First == number })
			if at < 0 {
				at = len(ports)
				ports = append(ports, Port{Of: Etcd, Name: "etcd", First: number, Last: number})
			}
			for _, user := range users {
				if !slices.Contains(ports[at].Users, user) {
					ports[at].Users = append(ports[at].Users, user)
				}
			}
		}
	}
	add(c.HighAvailability.Etcd, Masters, Stores, Clients)
	add(c.Metadata.Etcd, Stores, Clients, Check)
	return ports
}

// PortsOf are the single ports that a party serves: those that have a name in its
// pods.
func (c Cluster) PortsOf(party Party) []Port {
	return slices.DeleteFunc(c.Ports(), func(p Port) bool { return p.Of != party || p.First != p.Last })
}

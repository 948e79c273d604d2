//go:build linux

package cluster

import "net/netip"

// The node's addresses. No packet to one of them leaves the machine: guard
// makes sure of that before the node exists.
const (
	nodeName = "local"

	cableNet       = "172.30.99.0/30"
	machineAddress = "172.30.99.1"
	nodeAddress    = "172.30.99.2"

	podNet     = "10.244.0.0/24"
	serviceNet = "10.96.0.0/24"
	apiService = "10.96.0.1"
	dnsService = "10.96.0.10"
)

// Ports on the loopback of the machine. The node's API server is there too, so
// that a kubeconfig without a node means a refused connection and nothing else.
const (
	nodePort = 26443
	apiPort  = 16443
)

// cable is the machine's end of the virtual cable to the node.
const cable = "kvinfra0"

// nets returns the three networks of the node.
func nets() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix(cableNet), netip.MustParsePrefix(podNet), netip.MustParsePrefix(serviceNet)}
}

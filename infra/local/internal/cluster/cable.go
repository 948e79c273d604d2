//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// plugIn lays the cable from the machine to the node, which is the network
// namespace of process node, and routes pods and Services through it.
func plugIn(node int) error {
	if err := unplug(); err != nil {
		return err
	}
	link := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: cable}, PeerName: "eth0", PeerNamespace: netlink.NsPid(node)}
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("lay the virtual cable %s: %w", cable, err)
	}
	if err := address(link, machineAddress); err != nil {
		return err
	}
	for _, to := range []string{podNet, serviceNet} {
		via := &netlink.Route{Dst: ipNet(netip.MustParsePrefix(to)), Gw: net.ParseIP(nodeAddress)}
		if err := netlink.RouteReplace(via); err != nil {
			return fmt.Errorf("route %s to the node: %w", to, err)
		}
	}
	return nil
}

// unplug removes the cable, and with it the routes through it.
func unplug() error {
	link, err := netlink.LinkByName(cable)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the virtual cable %s: %w", cable, err)
	}
	// A node that just ended takes its cable along, at a time of the kernel's choice.
	if err := netlink.LinkDel(link); err != nil && !errors.Is(err, unix.ENODEV) && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("remove the virtual cable %s: %w", cable, err)
	}
	return nil
}

// joinNetwork sets the node's own network up, whose only way out is the cable.
func joinNetwork() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find the node's loopback: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("start the node's loopback: %w", err)
	}
	eth0, err := netlink.LinkByName("eth0")
	if err != nil {
		return fmt.Errorf("find the node's end of the cable: %w", err)
	}
	if err := address(eth0, nodeAddress); err != nil {
		return err
	}
	routes := []*netlink.Route{
		// kube-proxy turns ClusterIPs into pods' addresses only after a route was found.
		{Dst: ipNet(netip.MustParsePrefix(serviceNet)), LinkIndex: eth0.Attrs().Index, Scope: netlink.SCOPE_LINK},
		// Everything else does not exist: no pod's packet leaves the machine.
		{Dst: ipNet(netip.MustParsePrefix("0.0.0.0/0")), Type: unix.RTN_UNREACHABLE, Priority: guardMetric},
	}
	for _, r := range routes {
		if err := netlink.RouteReplace(r); err != nil {
			return fmt.Errorf("route %s in the node: %w", r.Dst, err)
		}
	}
	for name, value := range map[string]string{
		"ip_forward":         "1",
		"conf/all/rp_filter": "0",
		// Unlimited: a caller would learn only once a second that a pod is gone.
		"icmp_ratelimit": "0",
	} {
		if err := os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0o644); err != nil {
			return fmt.Errorf("set net.ipv4.%s in the node: %w", name, err)
		}
	}
	out, err := exec.Command("/usr/sbin/nft", "--file", inNodeConfig+"/absent-pods.nft").CombinedOutput()
	if err != nil {
		return fmt.Errorf("refuse packets to absent pods: nft: %w: %s", err, out)
	}
	return nil
}

// address gives link an address of the cable's network and starts it.
func address(link netlink.Link, ip string) error {
	mask := ipNet(netip.MustParsePrefix(cableNet)).Mask
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: net.ParseIP(ip), Mask: mask}}
	if err := netlink.AddrReplace(link, addr); err != nil {
		return fmt.Errorf("give %s the address %s: %w", link.Attrs().Name, ip, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("start %s: %w", link.Attrs().Name, err)
	}
	return nil
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

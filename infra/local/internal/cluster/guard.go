//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// guardMetric is worse than that of any real route: the guard counts only when
// the node is gone.
const guardMetric = 9000

// route is what guard needs to know of a route.
type route struct {
	to          netip.Prefix
	device      string
	unreachable bool
	metric      int
}

// ours tells whether this package made the route, perhaps in a run that was killed.
func (r route) ours() bool {
	return r.device == cable || r.unreachable && r.metric == guardMetric && slices.Contains(nets(), r.to)
}

func (r route) String() string {
	if r.device == "" {
		return r.to.String()
	}
	return r.to.String() + " dev " + r.device
}

// conflicts says which of the machine's own routes share addresses with the
// node: they would lead elsewhere as soon as the node exists.
func conflicts(routes []route) error {
	var problems []error
	for _, r := range routes {
		for _, net := range nets() {
			if r.to.Bits() > 0 && r.to.Overlaps(net) && !r.ours() {
				problems = append(problems, fmt.Errorf("the local cluster needs %s, and this machine has a route there: %s", net, r))
			}
		}
	}
	return errors.Join(problems...)
}

// machineRoutes returns the machine's routes, of all tables.
func machineRoutes() ([]route, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list the machine's interfaces: %w", err)
	}
	names := map[int]string{}
	for _, link := range links {
		names[link.Attrs().Index] = link.Attrs().Name
	}
	all := &netlink.Route{Table: unix.RT_TABLE_UNSPEC}
	list, err := netlink.RouteListFiltered(netlink.FAMILY_V4, all, netlink.RT_FILTER_TABLE)
	if err != nil {
		return nil, fmt.Errorf("list the machine's routes: %w", err)
	}
	var routes []route
	for _, r := range list {
		to := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
		if r.Dst != nil {
			address, _ := netip.AddrFromSlice(r.Dst.IP.To4())
			ones, _ := r.Dst.Mask.Size()
			to = netip.PrefixFrom(address, ones)
		}
		routes = append(routes, route{to: to, device: names[r.LinkIndex], unreachable: r.Type == unix.RTN_UNREACHABLE, metric: r.Priority})
	}
	return routes, nil
}

// guard makes the node's addresses unreachable while there is no cable to it.
// Without it their packets would take the machine's default route.
func guard() error {
	for _, net := range nets() {
		if err := netlink.RouteReplace(guardRoute(net)); err != nil {
			return fmt.Errorf("make %s unreachable: %w", net, err)
		}
	}
	return nil
}

// unguard removes the routes that guard made.
func unguard() error {
	routes, err := machineRoutes()
	if err != nil {
		return err
	}
	for _, r := range routes {
		if !r.unreachable || !r.ours() {
			continue
		}
		if err := netlink.RouteDel(guardRoute(r.to)); err != nil {
			return fmt.Errorf("remove the unreachable route to %s: %w", r.to, err)
		}
	}
	return nil
}

func guardRoute(net netip.Prefix) *netlink.Route {
	return &netlink.Route{Dst: ipNet(net), Type: unix.RTN_UNREACHABLE, Priority: guardMetric}
}

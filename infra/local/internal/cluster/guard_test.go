//go:build linux

package cluster

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConflicts(t *testing.T) {
	to := func(net, device string) route { return route{to: netip.MustParsePrefix(net), device: device} }
	guarded := func(net string, metric int) route {
		return route{to: netip.MustParsePrefix(net), unreachable: true, metric: metric}
	}
	tests := map[string]struct {
		routes []route
		want   string
	}{
		"an ordinary machine is free":            {[]route{to("0.0.0.0/0", "eth0"), to("192.0.2.0/24", "eth0"), to("127.0.0.0/8", "lo")}, ""},
		"a neighbouring network is no conflict":  {[]route{to("10.244.1.0/24", "eth1"), to("172.30.99.4/30", "eth1")}, ""},
		"what a killed run left is ours":         {[]route{to("10.244.0.0/24", cable), guarded("10.96.0.0/24", guardMetric)}, ""},
		"the same network elsewhere is in use":   {[]route{to("10.244.0.0/24", "docker0")}, "the local cluster needs 10.244.0.0/24, and this machine has a route there: 10.244.0.0/24 dev docker0"},
		"a wider network is in use":              {[]route{to("172.16.0.0/12", "tun0")}, "the local cluster needs 172.30.99.0/30, and this machine has a route there: 172.16.0.0/12 dev tun0"},
		"a single address is in use":             {[]route{to("10.96.0.7/32", "eth0")}, "the local cluster needs 10.96.0.0/24, and this machine has a route there: 10.96.0.7/32 dev eth0"},
		"somebody else's guard is not ours":      {[]route{guarded("10.96.0.0/24", 100)}, "the local cluster needs 10.96.0.0/24, and this machine has a route there: 10.96.0.0/24"},
		"a guard of another network is not ours": {[]route{guarded("10.96.0.0/16", guardMetric)}, "the local cluster needs 10.96.0.0/24, and this machine has a route there: 10.96.0.0/16"},
		"every conflict is told": {[]route{to("10.0.0.0/8", "tun0")}, "the local cluster needs 10.244.0.0/24, and this machine has a route there: 10.0.0.0/8 dev tun0\n" +
			"the local cluster needs 10.96.0.0/24, and this machine has a route there: 10.0.0.0/8 dev tun0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := conflicts(test.routes)
			if test.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, test.want)
		})
	}
}

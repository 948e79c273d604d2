package spec

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPorts(t *testing.T) {
	list := func(c Cluster) []string {
		var all []string
		for _, p := range c.Ports() {
			all = append(all, fmt.Sprint(p.Of, " ", p.Name, " ", p.First, "-", p.Last, " ", p.Users))
		}
		return all
	}
	masters := []string{
		"master rpc 50051-50051 [store clients]",
		"master metrics 9003-9003 [store verify monitoring]",
	}
	transfer := "store transfer 15000-15031 [store clients verify]"
	for what, tc := range map[string]struct {
		cluster func() Cluster
		want    []string
	}{
		"by default":                            {valid, []string{"store rest 8088-8088 [verify]", "store health 9300-9300 [monitoring]", transfer}},
		"a store that does not tell its health": {older, []string{"store rest 8088-8088 [verify]", transfer}},
		"metadata in the master": {
			func() Cluster { c := valid(); c.Metadata.Mode = MetadataHTTP; return c },
			[]string{"master metadata 8080-8080 [store clients verify]", "store rest 8088-8088 [verify]", "store health 9300-9300 [monitoring]", transfer},
		},
		"one etcd for all": {
			func() Cluster {
				c := available()
				c.Store.RESTPort = 8080
				c.HighAvailability.Etcd = []string{"a:2379", "b:2379"}
				c.Metadata = Metadata{MetadataEtcd, []string{"a:2379", "c:2381"}}
				return c
			},
			[]string{
				"store rest 8080-8080 [verify]", "store health 9300-9300 [monitoring]", transfer,
				"etcd etcd 2379-2379 [master store clients verify]", "etcd etcd 2381-2381 [store clients verify]",
			},
		},
	} {
		t.Run(what, func(t *testing.T) {
			assert.Equal(t, append(append([]string{}, masters...), tc.want...), list(tc.cluster()))
		})
	}
}

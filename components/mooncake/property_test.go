package mooncake_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/internal/componenttest"
	"kvinfra/components/mooncake"
	"kvinfra/components/render"
)

// chooser makes clusters of what the fields may be, the same ones in each run.
type chooser struct{ *rand.Rand }

func choose[T any](c chooser, of ...T) T { return of[c.IntN(len(of))] }

func (c chooser) name(longest int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	var name strings.Builder
	for range 1 + c.IntN(longest) {
		name.WriteByte(letters[c.IntN(len(letters))])
	}
	return name.String()
}

func (c chooser) valid() mooncake.Spec {
	gid, seconds := choose(c, 0, 3, 255), choose(c, 0, 1, 3600)
	s := mooncake.Spec{
		Namespace:        c.name(12),
		Image:            choose(c, "mooncake:1", "registry.example.com:5000/a/b@sha256:"+strings.Repeat("0123456789abcdef", 4)),
		ImagePullSecrets: choose(c, nil, []string{"a", "b.c"}),
		ClusterID:        choose(c, "", "pool-1.a"),
		Master: mooncake.Master{
			Threads: choose(c, 0, 4), LeaseMilliseconds: choose(c, 0, 1, 600000), ClientTTLSeconds: choose(c, 0, 1, 60),
			EvictionWatermark: choose(c, 0, 0.5, 1), EvictionRatio: choose(c, 0, 1.0),
			ExtraFlags: choose(c, nil, map[string]string{"v": "1"}), ExtraEnv: choose(c, nil, map[string]string{"A_B": "$(any) text"}),
			Restart: choose(c, "", "x y/z"),
		},
		Store: mooncake.Store{
			Replicas: choose(c, 0, 1, 2, 30), SegmentSize: choose(c, "", "16Mi", "1Ti"), RESTPort: choose(c, 0, 1024, 65535),
			ExtraEnv: choose(c, nil, map[string]string{"MC_TE_METRIC": "1"}), Restart: choose(c, "", "again"),
			DisruptionBudget: choose(c, mooncake.Budget{}, mooncake.Budget{Off: true}, mooncake.Budget{MaxUnavailable: 1}),
		},
		Metadata: choose(c, mooncake.Metadata{}, mooncake.Metadata{Mode: mooncake.MetadataP2P},
			mooncake.Metadata{Mode: mooncake.MetadataEtcd, Etcd: []string{"a:2379", "b:2379"}}),
		Fabric: choose(c, mooncake.Fabric{}, mooncake.Fabric{Mode: mooncake.TCP},
			mooncake.Fabric{Mode: mooncake.RDMAHostNetwork, NICs: []string{"mlx5_0"}, GIDIndex: &gid, Privileged: true},
			mooncake.Fabric{Mode: mooncake.RDMADevicePlugin, NICs: []string{"mlx5_0", "mlx5_1"}, MTU: 1024},
			mooncake.Fabric{Mode: mooncake.RDMADevicePlugin, NICFilters: []string{"mlx5_0"}, DevicePlugin: mooncake.DevicePlugin{Count: 2}}),
		Labels:           choose(c, nil, map[string]string{"example.com/team": "a"}),
		Annotations:      choose(c, nil, map[string]string{"x": "any text"}),
		RunVerify:        choose(c, "", "again"),
		SkipVerification: choose(c, true, false),
		TimeoutSeconds:   choose(c, 0, 1, 86400),
	}
	s.Version = choose(c, s.Version.Choices()...)
	s.Master.Placement.Spread = choose(c, s.Master.Placement.Spread, "Required", "Preferred", "Off")
	s.Store.Placement.Spread = choose(c, s.Store.Placement.Spread, "Required", "Preferred", "Off")
	// What not every release has.
	if newest := s.Version.Choices()[len(s.Version.Choices())-1]; c.IntN(2) == 0 || len(s.Fabric.NICFilters) > 0 {
		s.Version = newest
		s.Store.LocalBufferSize, s.Store.DrainSeconds = choose(c, "", "1Mi", "1Gi"), choose(c, nil, &seconds)
		s.HighAvailability.Etcd = choose(c, nil, []string{"a:2379"}, []string{"a:2379", "[fd00::1]:1"})
	}
	if len(s.HighAvailability.Etcd) > 0 {
		s.Master.Replicas = choose(c, 0, 2, 3)
	} else if s.Metadata.Mode == "" {
		s.Metadata.Mode = choose(c, mooncake.MetadataP2P, mooncake.MetadataHTTP)
	}
	return s
}

func TestEveryValidClusterIsConsistent(t *testing.T) {
	c := chooser{rand.New(rand.NewPCG(1, 2))}
	for range 60 {
		name, s := c.name(46), c.valid()
		resources, err := render.Program(program(name, &mooncake.ClusterArgs{Spec: s}), render.Options{Project: "kvinfra", Stack: "test"})
		require.NoError(t, err, "%+v", s)
		componenttest.Consistent(t, resources)
		require.False(t, t.Failed(), "%q %+v", name, s)
	}
}

func TestNoInvalidClusterMakesAnything(t *testing.T) {
	c := chooser{rand.New(rand.NewPCG(3, 4))}
	spoil := []func(*mooncake.Spec){
		func(s *mooncake.Spec) { s.Image = "" },
		func(s *mooncake.Spec) { s.Version = choose(c, s.Version[:0], "0.4", "latest") },
		func(s *mooncake.Spec) { s.Namespace = strings.Repeat("n", 64) },
		func(s *mooncake.Spec) { s.ClusterID = choose(c, "a/b", "-", "a b") },
		func(s *mooncake.Spec) { s.Master.Replicas = choose(c, -1, 4, 100) },
		func(s *mooncake.Spec) { s.Master.LeaseMilliseconds = -1 },
		func(s *mooncake.Spec) { s.Master.EvictionWatermark = choose(c, -0.1, 1.1) },
		func(s *mooncake.Spec) { s.Master.ExtraFlags = map[string]string{choose(c, "client_ttl", "A", ""): "1"} },
		func(s *mooncake.Spec) { s.Master.ExtraEnv = map[string]string{choose(c, "", "A B", "POD_IP"): "1"} },
		func(s *mooncake.Spec) { s.Store.Replicas = choose(c, -1, 10001) },
		func(s *mooncake.Spec) { s.Store.SegmentSize = choose(c, "10gb", "-1Gi", "1Mi", "0") },
		func(s *mooncake.Spec) { s.Store.Resources.Limits.Memory = choose(c, "1Mi", "x") },
		func(s *mooncake.Spec) { s.Store.RESTPort = choose(c, -1, 80, 9300, 15000, 70000) },
		func(s *mooncake.Spec) {
			s.Store.DisruptionBudget = mooncake.Budget{MaxUnavailable: choose(c, -1, 10001)}
		},
		func(s *mooncake.Spec) {
			s.Metadata = mooncake.Metadata{Mode: choose(c, "redis", mooncake.MetadataEtcd)}
		},
		func(s *mooncake.Spec) {
			s.HighAvailability.Etcd = []string{choose(c, "", "a", "http://a:1", "a:1,b:1")}
		},
		func(s *mooncake.Spec) { s.Fabric = mooncake.Fabric{Mode: choose(c, "roce", mooncake.RDMAHostNetwork)} },
		func(s *mooncake.Spec) { s.Fabric = mooncake.Fabric{NICs: []string{"mlx5_0"}} },
		func(s *mooncake.Spec) { s.Labels = map[string]string{choose(c, "app", "a b", ""): "x"} },
		func(s *mooncake.Spec) { s.ImagePullSecrets = []string{choose(c, "", "A", "a/b")} },
		func(s *mooncake.Spec) { s.TimeoutSeconds = -1 },
	}
	for i := range 4 * len(spoil) {
		s := c.valid()
		spoil[i%len(spoil)](&s)
		resources, err := render.Program(program("kv", &mooncake.ClusterArgs{Spec: s}), render.Options{Project: "kvinfra", Stack: "test"})
		assert.Error(t, err, "%d %+v", i, s)
		assert.Empty(t, resources, "%d %+v", i, s)
	}
}

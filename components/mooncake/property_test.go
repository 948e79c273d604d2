package mooncake_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/internal/componenttest"
	"kvinfra/components/mooncake"
	"kvinfra/components/render"
)

// valid makes a cluster of what the fields may be.
func valid(c componenttest.Chooser) mooncake.Spec {
	gid, seconds := componenttest.Choose(c, 0, 3, 255), componenttest.Choose(c, 0, 1, 3600)
	s := mooncake.Spec{
		Namespace:        c.Name(12),
		Image:            componenttest.Choose(c, "mooncake:1", "registry.example.com:5000/a/b@sha256:"+strings.Repeat("0123456789abcdef", 4)),
		ImagePullSecrets: componenttest.Choose(c, nil, []string{"a", "b.c"}),
		ClusterID:        componenttest.Choose(c, "", "pool-1.a"),
		Master: mooncake.Master{
			Threads: componenttest.Choose(c, 0, 4), LeaseMilliseconds: componenttest.Choose(c, 0, 1, 600000), ClientTTLSeconds: componenttest.Choose(c, 0, 1, 60),
			EvictionWatermark: componenttest.Choose(c, 0, 0.5, 1), EvictionRatio: componenttest.Choose(c, 0, 1.0),
			ExtraFlags: componenttest.Choose(c, nil, map[string]string{"v": "1"}), ExtraEnv: componenttest.Choose(c, nil, map[string]string{"A_B": "$(any) text"}),
			Restart: componenttest.Choose(c, "", "x y/z"),
		},
		Store: mooncake.Store{
			Replicas: componenttest.Choose(c, 0, 1, 2, 30), SegmentSize: componenttest.Choose(c, "", "16Mi", "1Ti"), RESTPort: componenttest.Choose(c, 0, 1024, 65535),
			ExtraEnv: componenttest.Choose(c, nil, map[string]string{"MC_TE_METRIC": "1"}), Restart: componenttest.Choose(c, "", "again"),
			DisruptionBudget: componenttest.Choose(c, mooncake.Budget{}, mooncake.Budget{Off: true}, mooncake.Budget{MaxUnavailable: 1}),
		},
		Metadata: componenttest.Choose(c, mooncake.Metadata{}, mooncake.Metadata{Mode: mooncake.MetadataP2P},
			mooncake.Metadata{Mode: mooncake.MetadataEtcd, Etcd: []string{"a:2379", "b:2379"}}),
		Fabric: componenttest.Choose(c, mooncake.Fabric{}, mooncake.Fabric{Mode: mooncake.TCP},
			mooncake.Fabric{Mode: mooncake.RDMAHostNetwork, NICs: []string{"mlx5_0"}, GIDIndex: &gid, Privileged: true},
			mooncake.Fabric{Mode: mooncake.RDMADevicePlugin, NICs: []string{"mlx5_0", "mlx5_1"}, MTU: 1024},
			mooncake.Fabric{Mode: mooncake.RDMADevicePlugin, NICFilters: []string{"mlx5_0"}, DevicePlugin: mooncake.DevicePlugin{Count: 2}}),
		Labels:           componenttest.Choose(c, nil, map[string]string{"example.com/team": "a"}),
		Annotations:      componenttest.Choose(c, nil, map[string]string{"x": "any text"}),
		RunVerify:        componenttest.Choose(c, "", "again"),
		SkipVerification: componenttest.Choose(c, true, false),
		TimeoutSeconds:   componenttest.Choose(c, 0, 1, 86400),
	}
	s.Version = componenttest.Choose(c, s.Version.Choices()...)
	s.Master.Placement.Spread = componenttest.Choose(c, s.Master.Placement.Spread, "Required", "Preferred", "Off")
	s.Store.Placement.Spread = componenttest.Choose(c, s.Store.Placement.Spread, "Required", "Preferred", "Off")
	// What not every release has.
	if newest := s.Version.Choices()[len(s.Version.Choices())-1]; c.IntN(2) == 0 || len(s.Fabric.NICFilters) > 0 {
		s.Version = newest
		s.Store.LocalBufferSize, s.Store.DrainSeconds = componenttest.Choose(c, "", "1Mi", "1Gi"), componenttest.Choose(c, nil, &seconds)
		s.HighAvailability.Etcd = componenttest.Choose(c, nil, []string{"a:2379"}, []string{"a:2379", "[fd00::1]:1"})
	}
	if len(s.HighAvailability.Etcd) > 0 {
		s.Master.Replicas = componenttest.Choose(c, 0, 2, 3)
	} else if s.Metadata.Mode == "" {
		s.Metadata.Mode = componenttest.Choose(c, mooncake.MetadataP2P, mooncake.MetadataHTTP)
	}
	return s
}

func TestEveryValidClusterIsConsistent(t *testing.T) {
	c := componenttest.NewChooser(1)
	for range 60 {
		name, s := c.Name(46), valid(c)
		resources, err := render.Program(program(name, &mooncake.ClusterArgs{Spec: s}), render.Options{Project: "kvinfra", Stack: "test"})
		require.NoError(t, err, "%+v", s)
		componenttest.Consistent(t, resources)
		require.False(t, t.Failed(), "%q %+v", name, s)
	}
}

func TestNoInvalidClusterMakesAnything(t *testing.T) {
	c := componenttest.NewChooser(3)
	spoil := []func(*mooncake.Spec){
		func(s *mooncake.Spec) { s.Image = "" },
		func(s *mooncake.Spec) { s.Version = componenttest.Choose(c, s.Version[:0], "0.4", "latest") },
		func(s *mooncake.Spec) { s.Namespace = strings.Repeat("n", 64) },
		func(s *mooncake.Spec) { s.ClusterID = componenttest.Choose(c, "a/b", "-", "a b") },
		func(s *mooncake.Spec) { s.Master.Replicas = componenttest.Choose(c, -1, 4, 100) },
		func(s *mooncake.Spec) { s.Master.LeaseMilliseconds = -1 },
		func(s *mooncake.Spec) { s.Master.EvictionWatermark = componenttest.Choose(c, -0.1, 1.1) },
		func(s *mooncake.Spec) {
			s.Master.ExtraFlags = map[string]string{componenttest.Choose(c, "client_ttl", "A", ""): "1"}
		},
		func(s *mooncake.Spec) {
			s.Master.ExtraEnv = map[string]string{componenttest.Choose(c, "", "A B", "POD_IP"): "1"}
		},
		func(s *mooncake.Spec) { s.Store.Replicas = componenttest.Choose(c, -1, 10001) },
		func(s *mooncake.Spec) { s.Store.SegmentSize = componenttest.Choose(c, "10gb", "-1Gi", "1Mi", "0") },
		func(s *mooncake.Spec) { s.Store.Resources.Limits.Memory = componenttest.Choose(c, "1Mi", "x") },
		func(s *mooncake.Spec) { s.Store.RESTPort = componenttest.Choose(c, -1, 80, 9300, 15000, 70000) },
		func(s *mooncake.Spec) {
			s.Store.DisruptionBudget = mooncake.Budget{MaxUnavailable: componenttest.Choose(c, -1, 10001)}
		},
		func(s *mooncake.Spec) {
			s.Metadata = mooncake.Metadata{Mode: componenttest.Choose(c, "redis", mooncake.MetadataEtcd)}
		},
		func(s *mooncake.Spec) {
			s.HighAvailability.Etcd = []string{componenttest.Choose(c, "", "a", "http://a:1", "a:1,b:1")}
		},
		func(s *mooncake.Spec) {
			s.Fabric = mooncake.Fabric{Mode: componenttest.Choose(c, "roce", mooncake.RDMAHostNetwork)}
		},
		func(s *mooncake.Spec) { s.Fabric = mooncake.Fabric{NICs: []string{"mlx5_0"}} },
		func(s *mooncake.Spec) { s.Labels = map[string]string{componenttest.Choose(c, "app", "a b", ""): "x"} },
		func(s *mooncake.Spec) { s.ImagePullSecrets = []string{componenttest.Choose(c, "", "A", "a/b")} },
		func(s *mooncake.Spec) { s.TimeoutSeconds = -1 },
	}
	for i := range 4 * len(spoil) {
		s := valid(c)
		spoil[i%len(spoil)](&s)
		resources, err := render.Program(program("kv", &mooncake.ClusterArgs{Spec: s}), render.Options{Project: "kvinfra", Stack: "test"})
		assert.Error(t, err, "%d %+v", i, s)
		assert.Empty(t, resources, "%d %+v", i, s)
	}
}

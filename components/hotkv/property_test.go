package hotkv_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/hotkv"
	"kvinfra/components/internal/componenttest"
	"kvinfra/components/render"
)

// valid makes a cluster of what the fields may be.
func valid(c componenttest.Chooser) hotkv.Spec {
	s := hotkv.Spec{
		Namespace:          c.Name(12),
		Image:              componenttest.Choose(c, "hotkv:1", "registry.example.com:5000/a/b@sha256:"+strings.Repeat("0123456789abcdef", 4)),
		Primaries:          componenttest.Choose(c, 0, 3, 4, 7, 10),
		ReplicasPerPrimary: componenttest.Choose(c, 0, 1, 2, 3),
		Storage: componenttest.Choose(c, hotkv.Storage{}, hotkv.Storage{None: true}, hotkv.Storage{Size: "50Gi", ClassName: "fast"},
			hotkv.Storage{Size: "50Gi", Retention: hotkv.Delete}),
		NodeTimeoutSeconds: componenttest.Choose(c, 0, 1, 60),
		Memory:             componenttest.Choose(c, hotkv.Memory{}, hotkv.Memory{Percent: 40, Policy: "volatile-ttl"}),
		PasswordFrom:       componenttest.Choose(c, hotkv.SecretKey{}, hotkv.SecretKey{Name: "users-own", Key: "a.b"}),
		Settings:           componenttest.Choose(c, nil, map[string]string{"maxclients": "5"}),
		Labels:             componenttest.Choose(c, nil, map[string]string{"example.com/team": "a"}),
		Annotations:        componenttest.Choose(c, nil, map[string]string{"x": "any text"}),
		ImagePullSecrets:   componenttest.Choose(c, nil, []string{"a", "b.c"}),
		Restart:            componenttest.Choose(c, "", "x y/z"),
		NoHeal:             componenttest.Choose(c, true, false),
		AcceptDataLoss:     componenttest.Choose(c, "", "$(any) text"),
		RunConverge:        componenttest.Choose(c, "", "again"),
		DisruptionBudget:   componenttest.Choose(c, hotkv.Budget{}, hotkv.Budget{Off: true}, hotkv.Budget{MaxUnavailable: 1}),
		NetworkPolicy:      componenttest.Choose(c, hotkv.NetworkPolicy{}, hotkv.NetworkPolicy{Off: true}),
		TimeoutSeconds:     componenttest.Choose(c, 0, 1, 86400),
	}
	s.Server = componenttest.Choose(c, s.Server, hotkv.HotKV, hotkv.Valkey)
	s.Layout = componenttest.Choose(c, s.Layout, hotkv.OneStatefulSet, hotkv.StatefulSetPerShard)
	s.Durability = componenttest.Choose(c, s.Durability, hotkv.Durable, hotkv.Cache)
	s.Placement.Spread = componenttest.Choose(c, s.Placement.Spread, hotkv.Required, hotkv.Preferred, hotkv.Off)
	return s
}

func TestEveryValidClusterIsConsistent(t *testing.T) {
	c := componenttest.NewChooser(1)
	for range 40 {
		name, s := c.Name(8), valid(c)
		resources, err := render.Program(program(name, &hotkv.ClusterArgs{Spec: s}), render.Options{Project: "kvinfra", Stack: "test"})
		require.NoError(t, err, "%+v", s)
		componenttest.Consistent(t, resources, "Secret users-own")
		require.False(t, t.Failed(), "%q %+v", name, s)
	}
}

func TestNoInvalidClusterMakesAnything(t *testing.T) {
	c := componenttest.NewChooser(3)
	spoil := []func(*hotkv.Spec){
		func(s *hotkv.Spec) { s.Image = "" },
		func(s *hotkv.Spec) { s.Namespace = strings.Repeat("n", 60) },
		func(s *hotkv.Spec) { s.Primaries = componenttest.Choose(c, -1, 1, 2, 1001) },
		func(s *hotkv.Spec) { s.ReplicasPerPrimary = componenttest.Choose(c, -1, 1000) },
		func(s *hotkv.Spec) { s.Storage = hotkv.Storage{Size: componenttest.Choose(c, "1G1", "-1Gi", "1Mi")} },
		func(s *hotkv.Spec) { s.Storage = hotkv.Storage{None: true, Size: "1Gi"} },
		func(s *hotkv.Spec) {
			s.Settings = map[string]string{componenttest.Choose(c, "dir", "cluster-enabled", "A", ""): "x"}
		},
		func(s *hotkv.Spec) { s.Labels = map[string]string{componenttest.Choose(c, "app", "a b", ""): "x"} },
		func(s *hotkv.Spec) { s.ImagePullSecrets = []string{componenttest.Choose(c, "", "A", "a/b")} },
		func(s *hotkv.Spec) {
			s.PasswordFrom = hotkv.SecretKey{Name: componenttest.Choose(c, "", "A b"), Key: "x"}
		},
		func(s *hotkv.Spec) { s.Server = "redis" },
		func(s *hotkv.Spec) { s.Layout = "Deployment" },
		func(s *hotkv.Spec) { s.TimeoutSeconds = -1 },
		func(s *hotkv.Spec) {
			s.DisruptionBudget = hotkv.Budget{MaxUnavailable: componenttest.Choose(c, -1, 100)}
		},
	}
	for i := range 56 {
		s := valid(c)
		spoil[i%len(spoil)](&s)
		resources, err := render.Program(program("kv", &hotkv.ClusterArgs{Spec: s}), render.Options{Project: "kvinfra", Stack: "test"})
		assert.Error(t, err, "%+v", s)
		assert.Empty(t, resources, "%+v", s)
	}
}

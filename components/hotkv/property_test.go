package hotkv_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/hotkv"
	"kvinfra/components/internal/componenttest"
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

func (c chooser) valid() hotkv.Spec {
	s := hotkv.Spec{
		Namespace:          c.name(12),
		Image:              choose(c, "hotkv:1", "registry.example.com:5000/a/b@sha256:"+strings.Repeat("0123456789abcdef", 4)),
		Primaries:          choose(c, 0, 3, 4, 7, 10),
		ReplicasPerPrimary: choose(c, 0, 1, 2, 3),
		Storage: choose(c, hotkv.Storage{}, hotkv.Storage{None: true}, hotkv.Storage{Size: "50Gi", ClassName: "fast"},
			hotkv.Storage{Size: "50Gi", Retention: hotkv.Delete}),
		NodeTimeoutSeconds: choose(c, 0, 1, 60),
		Memory:             choose(c, hotkv.Memory{}, hotkv.Memory{Percent: 40, Policy: "volatile-ttl"}),
		PasswordFrom:       choose(c, hotkv.SecretKey{}, hotkv.SecretKey{Name: "users-own", Key: "a.b"}),
		Settings:           choose(c, nil, map[string]string{"maxclients": "5"}),
		Labels:             choose(c, nil, map[string]string{"example.com/team": "a"}),
		Annotations:        choose(c, nil, map[string]string{"x": "any text"}),
		ImagePullSecrets:   choose(c, nil, []string{"a", "b.c"}),
		Restart:            choose(c, "", "x y/z"),
		NoHeal:             choose(c, true, false),
		AcceptDataLoss:     choose(c, "", "$(any) text"),
		RunConverge:        choose(c, "", "again"),
		DisruptionBudget:   choose(c, hotkv.Budget{}, hotkv.Budget{Off: true}, hotkv.Budget{MaxUnavailable: 1}),
		TimeoutSeconds:     choose(c, 0, 1, 86400),
	}
	s.Server = choose(c, s.Server, hotkv.HotKV, hotkv.Valkey)
	s.Layout = choose(c, s.Layout, hotkv.OneStatefulSet, hotkv.StatefulSetPerShard)
	s.Durability = choose(c, s.Durability, hotkv.Durable, hotkv.Cache)
	s.Placement.Spread = choose(c, s.Placement.Spread, hotkv.Required, hotkv.Preferred, hotkv.Off)
	return s
}

func TestEveryValidClusterIsConsistent(t *testing.T) {
	c := chooser{rand.New(rand.NewPCG(1, 2))}
	for range 40 {
		name, s := c.name(8), c.valid()
		resources, err := render.Program(program(name, &hotkv.ClusterArgs{Spec: s}), render.Options{Project: "kvinfra", Stack: "test"})
		require.NoError(t, err, "%+v", s)
		componenttest.Consistent(t, resources, "Secret users-own")
		require.False(t, t.Failed(), "%q %+v", name, s)
	}
}

func TestNoInvalidClusterMakesAnything(t *testing.T) {
	c := chooser{rand.New(rand.NewPCG(3, 4))}
	spoil := []func(*hotkv.Spec){
		func(s *hotkv.Spec) { s.Image = "" },
		func(s *hotkv.Spec) { s.Namespace = strings.Repeat("n", 60) },
		func(s *hotkv.Spec) { s.Primaries = choose(c, -1, 1, 2, 1001) },
		func(s *hotkv.Spec) { s.ReplicasPerPrimary = choose(c, -1, 1000) },
		func(s *hotkv.Spec) { s.Storage = hotkv.Storage{Size: choose(c, "1G1", "-1Gi", "1Mi")} },
		func(s *hotkv.Spec) { s.Storage = hotkv.Storage{None: true, Size: "1Gi"} },
		func(s *hotkv.Spec) { s.Settings = map[string]string{choose(c, "dir", "cluster-enabled", "A", ""): "x"} },
		func(s *hotkv.Spec) { s.Labels = map[string]string{choose(c, "app", "a b", ""): "x"} },
		func(s *hotkv.Spec) { s.ImagePullSecrets = []string{choose(c, "", "A", "a/b")} },
		func(s *hotkv.Spec) { s.PasswordFrom = hotkv.SecretKey{Name: choose(c, "", "A b"), Key: "x"} },
		func(s *hotkv.Spec) { s.Server = "redis" },
		func(s *hotkv.Spec) { s.Layout = "Deployment" },
		func(s *hotkv.Spec) { s.TimeoutSeconds = -1 },
		func(s *hotkv.Spec) { s.DisruptionBudget = hotkv.Budget{MaxUnavailable: choose(c, -1, 100)} },
	}
	for i := range 56 {
		s := c.valid()
		spoil[i%len(spoil)](&s)
		resources, err := render.Program(program("kv", &hotkv.ClusterArgs{Spec: s}), render.Options{Project: "kvinfra", Stack: "test"})
		assert.Error(t, err, "%+v", s)
		assert.Empty(t, resources, "%+v", s)
	}
}

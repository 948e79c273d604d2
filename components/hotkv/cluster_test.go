package hotkv_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/hotkv"
	"kvinfra/components/internal/componenttest"
	"kvinfra/components/internal/seed"
	"kvinfra/components/render"
)

// specs are the clusters whose objects are kept in testdata.
func specs() map[string]hotkv.Spec {
	return map[string]hotkv.Spec{
		"default": {Image: "hotkv"},
		"existing-secret": {
			Image:        "hotkv",
			PasswordFrom: hotkv.SecretKey{Name: "kv-password", Key: "current"},
		},
		"no-volumes": {
			Image:      "hotkv",
			Storage:    hotkv.Storage{None: true},
			Durability: hotkv.Cache,
		},
		"shards-in-production": {
			Image:     "registry.example.com/hotkv:1.2.3",
			Namespace: "kv",
			Layout:    hotkv.StatefulSetPerShard,
			Storage:   hotkv.Storage{Size: "30Gi", ClassName: "fast"},
			Resources: hotkv.Resources{
				Requests: hotkv.Amounts{CPU: "2"},
				Limits:   hotkv.Amounts{Memory: "16Gi"},
			},
			Placement: hotkv.Placement{
				Spread:            hotkv.Required,
				NodeSelector:      map[string]string{"disk": "ssd"},
				Tolerations:       []hotkv.Toleration{{Key: "kv", Value: "hot", Effect: "NoSchedule"}, {Key: "spot"}},
				PriorityClassName: "high",
			},
		},
		"everything": {
			Namespace:          "kv",
			Image:              "valkey/valkey:9.1",
			Server:             hotkv.Valkey,
			Primaries:          4,
			ReplicasPerPrimary: 2,
			Storage:            hotkv.Storage{Size: "20Gi", ClassName: "fast", Retention: hotkv.Delete},
			Resources: hotkv.Resources{
				Requests: hotkv.Amounts{CPU: "1"},
				Limits:   hotkv.Amounts{CPU: "2", Memory: "4Gi"},
			},
			NodeTimeoutSeconds: 10,
			TimeoutSeconds:     900,
			RunConverge:        "2026-01-01",
			AcceptDataLoss:     "node7 burnt",
			PasswordFrom:       hotkv.SecretKey{Name: "kv-password", Key: "current"},
			Memory:             hotkv.Memory{Percent: 50, Policy: "allkeys-lru"},
			Durability:         hotkv.Cache,
			Settings:           map[string]string{"maxclients": "20000", "save": ""},
			Labels:             map[string]string{"team": "kv"},
			Annotations:        map[string]string{"backup": "no"},
			Restart:            "2026-02-02",
			ImagePullSecrets:   []string{"registry"},
			NoHeal:             true,
			Placement:          hotkv.Placement{Spread: hotkv.Off, Tolerations: []hotkv.Toleration{{}}},
			DisruptionBudget:   hotkv.Budget{MaxUnavailable: 2},
			NetworkPolicy:      hotkv.NetworkPolicy{Off: true},
		},
	}
}

func program(name string, args *hotkv.ClusterArgs) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		_, err := hotkv.NewCluster(ctx, name, args)
		return err
	}
}

func run(spec hotkv.Spec, o render.Options) ([]render.Resource, error) {
	o.Project, o.Stack = "kvinfra", "test"
	return render.Program(program("hotkv", &hotkv.ClusterArgs{Spec: spec}), o)
}

func runs(spec hotkv.Spec) componenttest.Run {
	return func(o render.Options) ([]render.Resource, error) { return run(spec, o) }
}

func TestObjects(t *testing.T) {
	for name, spec := range specs() {
		t.Run(name, func(t *testing.T) { componenttest.Objects(t, name+".golden.yaml", runs(spec)) })
	}
}

func TestDifferencesFromTheSeed(t *testing.T) {
	manifest, err := os.ReadFile("testdata/seed.yaml")
	require.NoError(t, err)
	resources, err := run(hotkv.Spec{Image: "hotkv"}, render.Options{})
	require.NoError(t, err)
	ours, err := render.YAML(resources)
	require.NoError(t, err)
	found, err := seed.Differences(manifest, ours, nil)
	require.NoError(t, err)
	seed.Check(t, "testdata/differences.yaml", found)
}

func TestBadArgsMakeNothing(t *testing.T) {
	args := &hotkv.ClusterArgs{Spec: hotkv.Spec{Primaries: 2, Storage: hotkv.Storage{Size: "1G1"}}}
	resources, err := render.Program(program("cache", args), render.Options{Project: "kvinfra", Stack: "test"})
	require.Error(t, err)
	for _, want := range []string{
		`hotkv "cache": image: Required value`,
		`hotkv "cache": primaries: Invalid value: 2`,
		`hotkv "cache": storage.size: Invalid value: "1G1"`,
	} {
		assert.Contains(t, err.Error(), want)
	}
	assert.Empty(t, resources)
}

func TestNoArgsAreBadArgs(t *testing.T) {
	resources, err := render.Program(program("cache", nil), render.Options{Project: "kvinfra", Stack: "test"})
	assert.ErrorContains(t, err, "image: Required value")
	assert.Empty(t, resources)
}

func TestEveryFailedCreationIsReported(t *testing.T) {
	componenttest.EveryFailedCreation(t, runs(specs()["default"]))
}

func TestTwoClustersInOneNamespaceShareNoName(t *testing.T) {
	resources, err := render.Program(func(ctx *pulumi.Context) error {
		return errors.Join(
			program("a", &hotkv.ClusterArgs{Spec: hotkv.Spec{Image: "hotkv"}})(ctx),
			program("b", &hotkv.ClusterArgs{Spec: hotkv.Spec{Image: "hotkv"}})(ctx),
		)
	}, render.Options{Project: "kvinfra", Stack: "test"})
	require.NoError(t, err)
	one, err := run(specs()["default"], render.Options{})
	require.NoError(t, err)
	assert.Equal(t, 2*len(one), len(resources))
}

func TestPassword(t *testing.T) {
	const secret = `it's "mine" \o/`
	outputs := map[string]string{}
	resources, err := render.Program(func(ctx *pulumi.Context) error {
		cluster, err := hotkv.NewCluster(ctx, "hotkv", &hotkv.ClusterArgs{
			Spec: hotkv.Spec{Image: "hotkv"}, Password: pulumi.String(secret),
		})
		if err != nil {
			return err
		}
		ctx.Export("password", cluster.Password.ApplyT(func(p string) string {
			outputs["password"] = p
			return p
		}))
		isSecret := pulumi.IsSecret(cluster.Password)
		outputs["secret"] = fmt.Sprint(isSecret)
		return nil
	}, render.Options{Project: "kvinfra", Stack: "test"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"password": secret, "secret": "true"}, outputs)

	for _, r := range resources {
		assert.NotContains(t, r.Type, "RandomPassword", "a given password is not generated again")
	}
	manifests, err := render.YAML(resources)
	require.NoError(t, err)
	assert.NotContains(t, string(manifests), "mine", "the password is shown")
}

func TestAPasswordHasOneSource(t *testing.T) {
	args := &hotkv.ClusterArgs{Password: pulumi.String("x"), Spec: hotkv.Spec{Image: "hotkv", PasswordFrom: hotkv.SecretKey{Name: "a", Key: "b"}}}
	resources, err := render.Program(program("hotkv", args), render.Options{Project: "kvinfra", Stack: "test"})
	assert.ErrorContains(t, err, `hotkv "hotkv": passwordFrom: there is a Password too`)
	assert.Empty(t, resources)
}

func TestPasswordsThatNoServerTakes(t *testing.T) {
	given := func(password pulumi.StringInput) ([]render.Resource, error) {
		args := &hotkv.ClusterArgs{Spec: hotkv.Spec{Image: "hotkv"}, Password: password}
		return render.Program(program("hotkv", args), render.Options{Project: "kvinfra", Stack: "test"})
	}
	for password, want := range map[string]string{
		"":                        `hotkv "hotkv": password: is empty`,
		"a\nb":                    `hotkv "hotkv": password: has a line break or another control character`,
		"a\x00b":                  `hotkv "hotkv": password: has a line break or another control character`,
		strings.Repeat("x", 4097): `hotkv "hotkv": password: is 4097 bytes long; it may have at most 4096`,
	} {
		resources, err := given(pulumi.String(password))
		assert.ErrorContains(t, err, want)
		assert.Empty(t, resources)

		_, err = given(pulumi.String(password).ToStringOutput())
		assert.ErrorContains(t, err, strings.TrimPrefix(want, `hotkv "hotkv": `), "known later only")
	}
	for _, password := range []string{"x y", "pässword", strings.Repeat("x", 4096)} {
		_, err := given(pulumi.String(password))
		assert.NoError(t, err)
	}
	for _, unset := range []pulumi.StringInput{pulumi.StringOutput{}, pulumi.IDOutput{}} {
		resources, err := given(unset)
		assert.ErrorContains(t, err, `hotkv "hotkv": password: is an output without a value`)
		assert.Empty(t, resources)
	}
}

func TestOptionsStayTheCallers(t *testing.T) {
	array := []pulumi.ResourceOption{nil, pulumi.Protect(false), nil}
	_, err := render.Program(func(ctx *pulumi.Context) error {
		_, err := hotkv.NewCluster(ctx, "hotkv", &hotkv.ClusterArgs{Spec: hotkv.Spec{Image: "hotkv"}}, array[:2]...)
		return err
	}, render.Options{Project: "kvinfra", Stack: "test"})
	require.NoError(t, err)
	assert.Nil(t, array[2])
}

func TestConvergeRunsAgainExactlyWhenSomethingChanged(t *testing.T) {
	name := func(spec hotkv.Spec) string {
		resources, err := run(spec, render.Options{})
		require.NoError(t, err)
		for _, r := range resources {
			if r.Name == "hotkv-converge" {
				return r.Inputs["metadata"].ObjectValue()["name"].StringValue()
			}
		}
		t.Fatal("there is no converge Job")
		return ""
	}
	base := hotkv.Spec{Image: "hotkv:1"}
	assert.Equal(t, name(base), name(base))
	for what, changed := range map[string]hotkv.Spec{
		"image":       {Image: "hotkv:2"},
		"layout":      {Image: "hotkv:1", ReplicasPerPrimary: 2},
		"on purpose":  {Image: "hotkv:1", RunConverge: "again"},
		"its timeout": {Image: "hotkv:1", TimeoutSeconds: 60},
		"the pods":    {Image: "hotkv:1", Restart: "now"},
	} {
		assert.NotEqual(t, name(base), name(changed), what)
	}
	assert.Equal(t, name(base), name(hotkv.Spec{Image: "hotkv:1", NoHeal: true}), "the Job does not depend on the other one")
}

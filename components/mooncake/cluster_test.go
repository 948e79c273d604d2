package mooncake_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"kvinfra/components/internal/componenttest"
	"kvinfra/components/internal/seed"
	"kvinfra/components/mooncake"
	"kvinfra/components/render"
)

// specs are the clusters whose objects are kept in testdata.
func specs() map[string]mooncake.Spec {
	gid, drain := 3, 300
	return map[string]mooncake.Spec{
		"default": {Image: "mooncake:1", Version: "0.3.13.post1"},
		"older":   {Image: "lmsysorg/sglang:v0.5.5", Store: mooncake.Store{SegmentSize: "256Mi"}},
		"high-availability": {
			Image: "kvcacheai/mooncake:0.3.13.post1", ClusterID: "pool-1", ImagePullSecrets: []string{"registry"},
			Master:           mooncake.Master{Placement: mooncake.Placement{Spread: "Required"}},
			HighAvailability: mooncake.HighAvailability{Etcd: []string{"etcd-0.infra.svc:2379", "etcd-1.infra.svc:2379"}},
			Metadata:         mooncake.Metadata{Mode: mooncake.MetadataEtcd, Etcd: []string{"etcd-0.infra.svc:2379"}},
		},
		"http-metadata": {
			Image:    "kvcacheai/mooncake:0.3.13.post1",
			Metadata: mooncake.Metadata{Mode: mooncake.MetadataHTTP},
		},
		"rdma-host-network": {
			Namespace: "kv",
			Image:     "mooncake:1",
			Version:   "0.3.13.post1",
			Master: mooncake.Master{
				Threads: 16, LeaseMilliseconds: 5000, EvictionWatermark: 0.8, EvictionRatio: 0.1, ClientTTLSeconds: 30,
				Resources: mooncake.Resources{
					Requests: mooncake.Amounts{CPU: "2"},
					Limits:   mooncake.Amounts{Memory: "4Gi"},
				},
			},
			Store: mooncake.Store{
				Replicas: 5, SegmentSize: "64Gi", LocalBufferSize: "128Mi", RESTPort: 8080,
				DrainSeconds: &drain, Restart: "2026-11-30",
				Placement: mooncake.Placement{
					NodeSelector: map[string]string{"pool": "kv"}, PriorityClassName: "kv",
					Tolerations: []mooncake.Toleration{{Key: "kv", Value: "only", Effect: "NoSchedule"}, {Key: "slow"}},
				},
			},
			Fabric: mooncake.Fabric{
				Mode: mooncake.RDMAHostNetwork, NICs: []string{"mlx5_0", "mlx5_1"}, GIDIndex: &gid, Privileged: true,
				TrafficClass: &gid, MTU: 4096, Tuning: mooncake.Tuning{QueuePairs: 4, MaxRegionSize: "64Gi", SameRail: true},
			},
			Labels: map[string]string{"team": "kv"}, Annotations: map[string]string{"example.com/owner": "kv"},
			TimeoutSeconds: 1800,
		},
		"rdma-device-plugin": {
			Image:   "mooncake:1",
			Version: "0.3.13.post1",
			Fabric: mooncake.Fabric{
				Mode: mooncake.RDMADevicePlugin, NICFilters: []string{"mlx5_0", "mlx5_1"},
				DevicePlugin: mooncake.DevicePlugin{Resource: "rdma/hca_shared", Count: 2},
			},
		},
	}
}

func program(name string, args *mooncake.ClusterArgs) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		_, err := mooncake.NewCluster(ctx, name, args)
		return err
	}
}

func run(spec mooncake.Spec, o render.Options) ([]render.Resource, error) {
	o.Project, o.Stack = "kvinfra", "test"
	return render.Program(program("mooncake", &mooncake.ClusterArgs{Spec: spec}), o)
}

func runs(spec mooncake.Spec) componenttest.Run {
	return func(o render.Options) ([]render.Resource, error) { return run(spec, o) }
}

func TestObjects(t *testing.T) {
	for name, spec := range specs() {
		t.Run(name, func(t *testing.T) { componenttest.Objects(t, name+".golden.yaml", runs(spec)) })
	}
}

func TestObjectsAreConsistent(t *testing.T) {
	for name, spec := range specs() {
		t.Run(name, func(t *testing.T) {
			resources, err := run(spec, render.Options{})
			require.NoError(t, err)
			componenttest.Consistent(t, resources)
		})
	}
}

func TestDifferencesFromTheSeed(t *testing.T) {
	manifest, err := os.ReadFile("testdata/seed.yaml")
	require.NoError(t, err)
	resources, err := run(specs()["default"], render.Options{})
	require.NoError(t, err)
	ours, err := render.YAML(resources)
	require.NoError(t, err)
	found, err := seed.Differences(manifest, ours, map[string]string{"Deployment mooncake-store": "StatefulSet mooncake-store"})
	require.NoError(t, err)
	seed.Check(t, "testdata/differences.yaml", found)
}

func TestBadArgsMakeNothing(t *testing.T) {
	bad := func(change func(*mooncake.Spec)) mooncake.Spec {
		spec := specs()["default"]
		change(&spec)
		return spec
	}
	for what, tc := range map[string]struct {
		spec mooncake.Spec
		want []string
	}{
		"several at once": {
			mooncake.Spec{Store: mooncake.Store{SegmentSize: "10gb"}, Fabric: mooncake.Fabric{Mode: mooncake.RDMAHostNetwork}},
			[]string{
				`mooncake "cache": image: Required value`,
				`mooncake "cache": version: Required value`,
				`mooncake "cache": store.segmentSize: Invalid value: "10gb"`,
				`mooncake "cache": fabric.nics: Required value`,
			},
		},
		"an unknown version": {
			bad(func(s *mooncake.Spec) { s.Version = "0.4.0" }),
			[]string{`version: Unsupported value: "0.4.0": supported values: "0.3.7.post2"`},
		},
		"a flag that is too new": {
			bad(func(s *mooncake.Spec) {
				s.Version, s.Master.ExtraFlags = "0.3.12", map[string]string{"max_kv_soft_pin_ttl": "1"}
			}),
			[]string{"master.extraFlags[max_kv_soft_pin_ttl]: Forbidden: Mooncake 0.3.12 has no flag --max_kv_soft_pin_ttl: it exists since 0.3.13"},
		},
		"a size without headroom": {
			bad(func(s *mooncake.Spec) { s.Store.Resources.Limits.Memory = "10Gi" }),
			[]string{`store.resources.limits.memory: Invalid value: "10Gi": must be at least 10452Mi: segment 10Gi + local buffer 64Mi + 148Mi`},
		},
		"RDMA without NICs": {
			bad(func(s *mooncake.Spec) { s.Fabric.Mode = mooncake.RDMAHostNetwork }),
			[]string{"fabric.nics: Required value: name the RDMA devices of the nodes, for example [mlx5_0]"},
		},
		"several masters without etcd": {
			bad(func(s *mooncake.Spec) { s.Master.Replicas = 3 }),
			[]string{"master.replicas: Invalid value: 3: must be 1 without highAvailability.etcd"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			resources, err := render.Program(program("cache", &mooncake.ClusterArgs{Spec: tc.spec}), render.Options{Project: "kvinfra", Stack: "test"})
			require.Error(t, err)
			for _, want := range tc.want {
				assert.Contains(t, err.Error(), want)
			}
			assert.Empty(t, resources)
		})
	}
}

func TestTheCheckRunsAgainWhenWhatItChecksChanged(t *testing.T) {
	jobName := func(change func(*mooncake.Spec)) string {
		spec := specs()["default"]
		change(&spec)
		resources, err := run(spec, render.Options{})
		require.NoError(t, err)
		for _, r := range resources {
			if r.Type == "kubernetes:batch/v1:Job" {
				return r.Inputs["metadata"].ObjectValue()["name"].StringValue()
			}
		}
		return ""
	}
	before := jobName(func(*mooncake.Spec) {})
	for what, tc := range map[string]struct {
		change func(*mooncake.Spec)
		again  bool
	}{
		"nothing":            {func(*mooncake.Spec) {}, false},
		"a default, spelled": {func(s *mooncake.Spec) { s.Store.Replicas = 3 }, false},
		"the image":          {func(s *mooncake.Spec) { s.Image = "mooncake:2" }, true},
		"a segment's size":   {func(s *mooncake.Spec) { s.Store.SegmentSize = "1Gi" }, true},
		"number of stores":   {func(s *mooncake.Spec) { s.Store.Replicas = 4 }, true},
		"the master's":       {func(s *mooncake.Spec) { s.Master.Resources.Limits.Memory = "1Gi" }, true},
		"a wish":             {func(s *mooncake.Spec) { s.RunVerify = "again" }, true},
	} {
		t.Run(what, func(t *testing.T) {
			assert.Equal(t, tc.again, jobName(tc.change) != before)
		})
	}
	assert.Empty(t, jobName(func(s *mooncake.Spec) { s.SkipVerification = true }), "it can be left out")
}

func TestNoArgsAreBadArgs(t *testing.T) {
	resources, err := render.Program(program("cache", nil), render.Options{Project: "kvinfra", Stack: "test"})
	assert.ErrorContains(t, err, "image: Required value")
	assert.Empty(t, resources)
}

func TestEveryFailedCreationIsReported(t *testing.T) {
	componenttest.EveryFailedCreation(t, runs(specs()["default"]))
}

func TestTheExamplesUseWhatAClusterMakes(t *testing.T) {
	resources, err := run(specs()["default"], render.Options{})
	require.NoError(t, err)
	made := map[string]bool{}
	for _, r := range resources {
		if r.Type == "kubernetes:core/v1:ConfigMap" {
			made[r.Name] = true
		}
	}
	for _, example := range []string{"sglang", "vllm"} {
		text, err := os.ReadFile("examples/" + example + ".yaml")
		require.NoError(t, err)
		assert.NoError(t, yaml.Unmarshal(text, new(any)), example)
		used := regexp.MustCompile(`(?:configMapRef|configMap): \{name: (.*)\}`).FindAllStringSubmatch(string(text), -1)
		assert.NotEmpty(t, used, example)
		for _, match := range used {
			assert.True(t, made[match[1]], "%s uses ConfigMap %s", example, match[1])
		}
	}
}

func TestAnOptionMayBeNil(t *testing.T) {
	_, err := render.Program(func(ctx *pulumi.Context) error {
		_, err := mooncake.NewCluster(ctx, "mooncake", &mooncake.ClusterArgs{Spec: specs()["default"]}, nil, pulumi.Protect(false))
		return err
	}, render.Options{Project: "kvinfra", Stack: "test"})
	assert.NoError(t, err)
}

package hotkv_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/hotkv"
	"kvinfra/components/render"
)

// at returns what an object has at a path, as plain values.
func at(t *testing.T, r render.Resource, path string) any {
	t.Helper()
	p, err := resource.ParsePropertyPath(path)
	require.NoError(t, err)
	value, found := p.Get(resource.NewProperty(r.Inputs))
	require.True(t, found, "%s %s has no %s", r.Type, r.Name, path)
	return value.Mappable()
}

func kind(t *testing.T, spec hotkv.Spec, token string) []render.Resource {
	t.Helper()
	resources, err := run(spec, render.Options{})
	require.NoError(t, err)
	var all []render.Resource
	for _, r := range resources {
		if r.Type == token {
			all = append(all, r)
		}
	}
	return all
}

const (
	policies     = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
	statefulSets = "kubernetes:apps/v1:StatefulSet"
	jobsToken    = "kubernetes:batch/v1:Job"
	cronJobs     = "kubernetes:batch/v1:CronJob"
)

func TestTheBusIsOpenToTheClustersOwnServersOnly(t *testing.T) {
	for name, spec := range map[string]hotkv.Spec{
		"one StatefulSet": {Image: "hotkv", AcceptDataLoss: "node7 burnt"},
		"shards":          {Image: "hotkv", Layout: hotkv.StatefulSetPerShard},
	} {
		t.Run(name, func(t *testing.T) {
			all := kind(t, spec, policies)
			require.Len(t, all, 1)
			policy := all[0]
			assert.Equal(t, []any{"Ingress"}, at(t, policy, "spec.policyTypes"))
			servers := at(t, policy, "spec.podSelector")
			assert.Equal(t, []any{
				map[string]any{
					"ports": []any{map[string]any{"port": 16379.0, "protocol": "TCP"}},
					// No namespaceSelector: the pods of another namespace are not meant.
					"from": []any{map[string]any{"podSelector": servers}},
				},
				map[string]any{"ports": []any{map[string]any{"port": 6379.0, "protocol": "TCP"}}},
			}, at(t, policy, "spec.ingress"))

			selector := at(t, policy, "spec.podSelector.matchLabels").(map[string]any)
			sets := kind(t, spec, statefulSets)
			assert.Contains(t, sets[0].DependsOn, "NetworkPolicy hotkv", "each of the others waits for the one before")
			for _, set := range sets {
				assert.Subset(t, at(t, set, "spec.template.metadata.labels"), selector, set.Name)
			}
			for token, path := range map[string]string{jobsToken: "spec.template.metadata.labels", cronJobs: "spec.jobTemplate.spec.template.metadata.labels"} {
				jobs := kind(t, spec, token)
				require.NotEmpty(t, jobs)
				for _, job := range jobs {
					assert.NotSubset(t, at(t, job, path), selector, "%s only needs the client port", job.Name)
				}
			}
		})
	}
}

func TestAPolicyThatIsOffIsNotThere(t *testing.T) {
	assert.Empty(t, kind(t, hotkv.Spec{Image: "hotkv", NetworkPolicy: hotkv.NetworkPolicy{Off: true}}, policies))
}

// A policy restarts no server, and no Job runs again for it.
func TestAPolicyChangesNoOtherObject(t *testing.T) {
	inputs := func(spec hotkv.Spec) map[string]resource.PropertyMap {
		resources, err := run(spec, render.Options{})
		require.NoError(t, err)
		all := map[string]resource.PropertyMap{}
		for _, r := range resources {
			if r.Type != policies {
				all[r.Type+" "+r.Name] = r.Inputs
			}
		}
		return all
	}
	assert.Equal(t, inputs(hotkv.Spec{Image: "hotkv"}), inputs(hotkv.Spec{Image: "hotkv", NetworkPolicy: hotkv.NetworkPolicy{Off: true}}))
}

func TestThePasswordIsInNoVariableOfAJob(t *testing.T) {
	const container = "spec.template.spec.containers[0]"
	spec := hotkv.Spec{Image: "hotkv", AcceptDataLoss: "node7 burnt"}
	secrets := func(variables any) (names []any) {
		for _, v := range variables.([]any) {
			v := v.(map[string]any)
			if from, _ := v["valueFrom"].(map[string]any); from["secretKeyRef"] != nil {
				names = append(names, v["name"])
			}
		}
		return names
	}
	found := 0
	for token, prefix := range map[string]string{jobsToken: "", cronJobs: "spec.jobTemplate."} {
		for _, job := range kind(t, spec, token) {
			found++
			env := at(t, job, prefix+container+".env")
			assert.Empty(t, secrets(env), job.Name)
			assert.Contains(t, env, map[string]any{"name": "PASSWORD_FILE", "value": "/etc/hotkv/password"}, job.Name)
			assert.Contains(t, at(t, job, prefix+container+".volumeMounts"), map[string]any{"name": "password", "mountPath": "/etc/hotkv"}, job.Name)
		}
	}
	assert.Equal(t, 4, found, "init, accepted loss, converge, heal")

	servers := kind(t, spec, statefulSets)
	require.Len(t, servers, 1)
	assert.Equal(t, []any{"HOTKVCLI_AUTH"}, secrets(at(t, servers[0], container+".env")), "the probes need it")
	volume := at(t, servers[0], "spec.template.spec.volumes[0]")
	for _, job := range kind(t, spec, jobsToken) {
		assert.Equal(t, volume, at(t, job, "spec.template.spec.volumes[0]"), job.Name)
	}
}

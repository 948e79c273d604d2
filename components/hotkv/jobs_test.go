package hotkv_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/hotkv"
	"kvinfra/components/render"
)

// jobs returns the Jobs of a cluster by name.
func jobs(t *testing.T, spec hotkv.Spec) map[string]render.Resource {
	t.Helper()
	resources, err := run(spec, render.Options{})
	require.NoError(t, err)
	jobs := map[string]render.Resource{}
	for _, r := range resources {
		if r.Type == "kubernetes:batch/v1:Job" {
			jobs[r.Name] = r
		}
	}
	return jobs
}

func TestAnAcceptedLossLeavesTheInitJobAlone(t *testing.T) {
	const initJob, converge = "hotkv-init", "hotkv-converge"
	none := jobs(t, hotkv.Spec{Image: "hotkv"})
	require.Len(t, none, 2)

	names := map[string]bool{}
	for _, text := range []string{"node7 burnt", "node8 too"} {
		with := jobs(t, hotkv.Spec{Image: "hotkv", AcceptDataLoss: text})
		require.Len(t, with, 3)
		assert.Equal(t, none[initJob].Inputs, with[initJob].Inputs, "made once, whether the text is there from the start, comes or goes")
		assert.Equal(t, none[converge].Inputs, with[converge].Inputs)
		assert.Contains(t, with[converge].DependsOn, "Job "+initJob)
		for name := range with {
			if name != initJob && name != converge {
				names[name] = true
				// A cluster that lost a part before it was made cannot be made without it.
				assert.Contains(t, with[initJob].DependsOn, "Job "+name)
				assert.Contains(t, with[name].DependsOn, "StatefulSet hotkv")
			}
		}
	}
	assert.Len(t, names, 2, "each text has a Job of its own")
}

// The engine makes a Job that failed again with the inputs that it had before, where
// these are ignored.
func TestAnInitJobThatIsRepeatedKnowsTheClusterAsItIsNow(t *testing.T) {
	script := func(spec hotkv.Spec) (job render.Resource, files resource.PropertyMap) {
		resources, err := run(spec, render.Options{})
		require.NoError(t, err)
		for _, r := range resources {
			if r.Name == "hotkv-init" && r.Type == "kubernetes:core/v1:ConfigMap" {
				files = r.Inputs["data"].ObjectValue()
			}
		}
		return jobs(t, spec)["hotkv-init"], files
	}
	old, before := script(hotkv.Spec{Image: "hotkv"})
	assert.Equal(t, []string{"spec"}, old.IgnoreChanges, "a part of it is not enough: an update in place would have the next up replace the Job")

	for what, spec := range map[string]hotkv.Spec{
		"a longer timeout": {Image: "hotkv", TimeoutSeconds: 900},
		"more shards":      {Image: "hotkv", Primaries: 4},
		"another timeout of the nodes, and so other pods": {Image: "hotkv", NodeTimeoutSeconds: 10},
	} {
		job, files := script(spec)
		assert.Equal(t, old.Inputs, job.Inputs, "%s: nothing new is in the Job", what)
		assert.NotEqual(t, before["init.env"], files["init.env"], what)
	}
}

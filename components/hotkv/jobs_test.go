package hotkv_test

import (
	"testing"

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

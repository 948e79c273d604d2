package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/infra/e2e/load"
)

// chaosStack is a stack with one cluster of a kind, or several.
const chaosStack = `config:
  pulumi:disable-default-providers: [kubernetes]
  kvinfra:cluster: {kubeconfig: cluster.kubeconfig, context: local, namespace: %s}
  kvinfra:%s:
%s`

// chaosCluster asks for little. More settings may follow.
const chaosCluster = `    %s:
      image: hotkv:local
      resources: {requests: {cpu: 20m}, limits: {memory: %s}}
      timeoutSeconds: 180
`

const (
	one      = "      layout: OneStatefulSet\n"
	perShard = "      layout: StatefulSetPerShard\n"
)

// chaos returns the HotKV cluster of a long story.
func chaos(t *testing.T, story, settings string) hotkv {
	t.Helper()
	s := chaosOf(t, story, "hotkv", fmt.Sprintf(chaosCluster, "hotkv", "128Mi")+settings)
	return hotkv{stack: s, name: "hotkv", cli: "hotkv-cli"}
}

// chaosOf returns the stack of a long story, which "make chaos" asks for, with clusters
// of a kind. Its namespace goes with the story's end.
func chaosOf(t *testing.T, story, kind, clusters string) stack {
	t.Helper()
	if os.Getenv("CHAOS") == "" {
		t.Skip("it is long: make chaos runs it")
	}
	name := "chaos-" + story
	t.Cleanup(func() {
		// Else each primary would wait for a replica to hand over to.
		_, err := kubectl("delete", "statefulsets,pods", "-n", name, "--all", "--force", "--grace-period=0")
		assert.NoError(t, err)
		_, err = kubectl("delete", "namespace", name, "--ignore-not-found", "--timeout=3m")
		assert.NoError(t, err)
	})
	writeFile(t, filepath.Join(work, "Pulumi."+name+".yaml"), fmt.Sprintf(chaosStack, name, kind, clusters))
	return newStack(t, name)
}

// within asserts what careful clients may notice: no failed operation, and no time
// longer than this in which a part of the slots takes no writes.
func within(t *testing.T, report load.Report, gap time.Duration) {
	t.Helper()
	assert.LessOrEqual(t, report.Of(load.Tuned()...).Failed(), report.Excused(load.Tuned()...), "operations of careful clients")
	assert.LessOrEqual(t, report.Own(load.Tuned()...), gap)
}

// primary returns the pod that serves the first slot.
func (s hotkv) primary(t *testing.T) string {
	t.Helper()
	primary, _ := primaryOf(t, s.layout(t, s.anyPod(t)), 0)
	return primary
}

func (s hotkv) anyPod(t *testing.T) string {
	t.Helper()
	pods := s.pods(t, ".metadata.uid")
	require.NotEmpty(t, pods)
	return slices.Min(slices.Collect(maps.Keys(pods)))
}

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fakeNodes is a namespace of the API tier, a Kubernetes whose nodes are objects and
// nothing else. Scheduler, controllers and evictions are the real ones; a pod that has
// a node says at once that it is ready.
type fakeNodes struct {
	namespace string
	nodes     []string // the first letter is the zone
}

// newFakeNodes starts the API tier, with so many nodes in each zone.
func newFakeNodes(t *testing.T, namespace, zones string, each int) fakeNodes {
	t.Helper()
	f := fakeNodes{namespace: namespace}
	var objects strings.Builder
	for _, zone := range zones {
		for i := range each {
			name := fmt.Sprintf("%c%d", zone, i)
			f.nodes = append(f.nodes, name)
			fmt.Fprintf(&objects, `---
apiVersion: v1
kind: Node
metadata:
  name: %s
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: %c}
`, name, zone)
		}
	}
	f.tier(t, "down") // that of a run that was killed
	t.Cleanup(func() { f.tier(t, "down") })
	f.tier(t, "up")
	t.Cleanup(func() {
		if t.Failed() {
			out, err := f.try("get", "pods,poddisruptionbudgets", "-o", "wide")
			t.Logf("what is there (%v):\n%s", err, out)
		}
	})
	f.apply(t, objects.String())
	eventually(t, time.Minute, func(c *assert.CollectT) {
		taints := f.kubectl(c, "get", "nodes", "-o", `jsonpath={range .items[*]}{.metadata.name}{.spec.taints}{"\n"}{end}`)
		assert.ElementsMatch(c, f.nodes, strings.Fields(taints), "a new node has a taint until it is ready")
	})
	return f
}

// tier starts or ends the API tier of the copy.
func (f fakeNodes) tier(t *testing.T, upOrDown string) {
	t.Helper()
	program, err := filepath.Abs(root + "/.local/bin/local")
	require.NoError(t, err)
	cmd := exec.Command(program, "api", upOrDown)
	cmd.Dir = work
	start := time.Now()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("api %s: %.1f s", upOrDown, time.Since(start).Seconds())
}

func (f fakeNodes) try(args ...string) (string, error) {
	return kubectlOf(f.file("kubeconfig"), append([]string{"-n", f.namespace}, args...)...)
}

func (f fakeNodes) kubectl(t require.TestingT, args ...string) string {
	out, err := f.try(args...)
	require.NoError(t, err)
	return out
}

// file is a place for what kubectl is to read, without a comma, at which it would split
// the path: the temporary directory of a step has those of the step's name.
func (f fakeNodes) file(name string) string { return filepath.Join(work, ".local/api", name) }

func (f fakeNodes) apply(t *testing.T, objects string) {
	t.Helper()
	writeFile(t, f.file("objects.yaml"), objects)
	f.kubectl(t, "apply", "--server-side", "-f", f.file("objects.yaml"))
}

// openOnly lets new pods run on some nodes and no other.
func (f fakeNodes) openOnly(t *testing.T, nodes ...string) {
	t.Helper()
	f.kubectl(t, append([]string{"cordon"}, f.nodes...)...)
	f.kubectl(t, append([]string{"uncordon"}, nodes...)...)
}

// evict takes a pod away as a drain of its node does, as soon as that is allowed: the
// budget may not know yet that all pods are ready.
func (f fakeNodes) evict(t *testing.T, pod string) {
	t.Helper()
	eventually(t, time.Minute, func(c *assert.CollectT) { assert.NoError(c, f.tryEvict(pod)) })
}

func (f fakeNodes) tryEvict(pod string) error {
	file := f.file("eviction.json")
	eviction := fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q}}`, pod)
	if err := os.WriteFile(file, []byte(eviction), 0o600); err != nil {
		return err
	}
	_, err := f.try("create", "--raw", fmt.Sprintf("/api/v1/namespaces/%s/pods/%s/eviction", f.namespace, pod), "-f", file)
	return err
}

// drain empties the nodes, all at the same time.
func (f fakeNodes) drain(t *testing.T, nodes ...string) {
	t.Helper()
	f.kubectl(t, append([]string{"cordon"}, nodes...)...) // or pods move from one to another
	errs := make([]error, len(nodes))
	var drains sync.WaitGroup
	for i, node := range nodes {
		drains.Go(func() { _, errs[i] = f.try("drain", node, "--delete-emptydir-data", "--timeout=3m") })
	}
	drains.Wait()
	require.NoError(t, errors.Join(errs...))
}

// pod is what a test wants to know of one.
type pod struct {
	Metadata struct{ Name, ResourceVersion, DeletionTimestamp string }
	Spec     struct{ NodeName string }
	Status   struct {
		Conditions []struct{ Type, Status, Message string }
	}
}

// ready tells whether the pod is there to stay.
func (p pod) ready() bool {
	status, _ := p.condition("Ready")
	return status == "True" && p.Metadata.DeletionTimestamp == ""
}

func (p pod) condition(kind string) (status, message string) {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Status, c.Message
		}
	}
	return "", ""
}

// path leads to the pods with data, which have an ordinal each.
func (f fakeNodes) path(parameters string) string {
	selector := url.QueryEscape("app.kubernetes.io/component in (server, store)")
	return fmt.Sprintf("/api/v1/namespaces/%s/pods?labelSelector=%s%s", f.namespace, selector, parameters)
}

// pods returns the pods with data by name, and the version of the namespace that
// had them.
func (f fakeNodes) pods(t require.TestingT) (map[string]pod, string) {
	var list struct {
		Metadata struct{ ResourceVersion string }
		Items    []pod
	}
	require.NoError(t, json.Unmarshal([]byte(f.kubectl(t, "get", "--raw", f.path(""))), &list))
	pods := map[string]pod{}
	for _, p := range list.Items {
		pods[p.Metadata.Name] = p
	}
	return pods, list.Metadata.ResourceVersion
}

// eventuallyReady waits until that many pods with data are ready, and returns them.
func (f fakeNodes) eventuallyReady(t *testing.T, number int) (map[string]pod, string) {
	t.Helper()
	var pods map[string]pod
	var version string
	eventually(t, time.Minute, func(c *assert.CollectT) {
		pods, version = f.pods(c)
		assert.Equal(c, number, len(pods), "pods")
		for name, p := range pods {
			assert.True(c, p.ready(), name)
		}
	})
	return pods, version
}

// change is an event of the API server's watch.
type change struct {
	Type   string
	Object pod
}

// changes returns what happened to pods with data since a version.
func (f fakeNodes) changes(t *testing.T, from string) []change {
	t.Helper()
	events := json.NewDecoder(strings.NewReader(f.kubectl(t, "get", "--raw", f.path("&watch=true&timeoutSeconds=2&resourceVersion="+from))))
	var all []change
	for events.More() {
		var next change
		require.NoError(t, events.Decode(&next))
		require.Contains(t, []string{"ADDED", "MODIFIED", "DELETED"}, next.Type)
		all = append(all, next)
	}
	return all
}

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// kubectl runs a command on the cluster under test and returns its words.
func kubectl(args ...string) (string, error) { return kubectlOf(kubeconfig, args...) }

// kubectlOf is kubectl for the cluster to which a kubeconfig leads.
func kubectlOf(kubeconfig string, args ...string) (string, error) {
	cmd := kubectlCommand(context.Background(), kubeconfig, args...)
	out, err := cmd.Output() // without its warnings
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// kubectlCommand is kubectl for the cluster to which a kubeconfig leads, to be started.
func kubectlCommand(ctx context.Context, kubeconfig string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, root+"/.local/bin/kubectl", append([]string{"--kubeconfig", kubeconfig}, args...)...)
}

// kubectl is kubectl in the stack's namespace.
func (s stack) kubectl(t require.TestingT, args ...string) string {
	out, err := kubectl(append([]string{"-n", string(s)}, args...)...)
	require.NoError(t, err)
	return out
}

// list returns a field of the objects of a kind, by their names.
func (s stack) list(t require.TestingT, kind, field string, args ...string) map[string]string {
	path := `jsonpath={range .items[*]}{.metadata.name}{" "}{` + field + `}{"\n"}{end}`
	fields := map[string]string{}
	for line := range strings.Lines(s.kubectl(t, append([]string{"get", kind, "-o", path}, args...)...)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		fields[name] = value
	}
	return fields
}

// eventuallyReady waits until that many pods of an app are there and ready.
func (s stack) eventuallyReady(t *testing.T, app string, pods int) {
	t.Helper()
	eventually(t, 2*time.Minute, func(c *assert.CollectT) {
		ready := s.list(c, "pods", ".status.containerStatuses[0].ready", "-l", "app="+app)
		assert.Len(c, ready, pods)
		for pod, isReady := range ready {
			assert.Equal(c, "true", isReady, pod)
		}
	})
}

// eventually waits until a check passes, and fails with what it last complained of.
func eventually(t *testing.T, patience time.Duration, check func(c *assert.CollectT)) {
	t.Helper()
	require.EventuallyWithT(t, check, patience, 200*time.Millisecond)
}

// objects returns what is in the namespace, which must exist, but for what Kubernetes puts into
// each and what it keeps of the past.
func (s stack) objects(t require.TestingT) []string {
	kinds := strings.Fields(s.kubectl(t, "api-resources", "--namespaced", "--verbs=list", "-o", "name"))
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return strings.HasPrefix(kind, "events") })
	s.kubectl(t, "get", "namespace", string(s))
	names := s.kubectl(t, "get", strings.Join(kinds, ","), "-o", "name")
	objects := slices.DeleteFunc(strings.Fields(names), func(name string) bool {
		return name == "configmap/kube-root-ca.crt" || name == "serviceaccount/default"
	})
	slices.Sort(objects)
	return objects
}

// versions returns the version of every object: a change of any of them changes it.
func (s stack) versions(t *testing.T) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, kind := range []string{"pods", "statefulsets", "jobs", "configmaps", "secrets", "services", "networkpolicies", "persistentvolumeclaims"} {
		for name, version := range s.list(t, kind, ".metadata.resourceVersion") {
			if !strings.Contains(name, "-heal-") { // it comes when its time has come
				versions[kind+" "+name] = version
			}
		}
	}
	return versions
}

// remove destroys the stack, and its namespace with the volumes.
func (s stack) remove(t *testing.T) {
	s.run(t, "destroy")
	s.kubectl(t, "delete", "namespace", string(s), "--timeout=2m")
}

// nameService returns the address that knows the names of pods.
func nameService(t *testing.T) string {
	t.Helper()
	address, err := kubectl("-n", "kube-system", "get", "service", "kube-dns", "-o", "jsonpath={.spec.clusterIP}")
	require.NoError(t, err)
	return address
}

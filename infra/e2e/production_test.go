package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProduction is the life of a stack in production: deployed with the documented
// rights only, into a namespace that takes no pod with a privilege, protected, and
// reached by clients that know what the stack tells.
func TestProduction(t *testing.T) {
	s := newStack(t, "e2e-production")
	s.grantDeployer(t)

	step(t, "an image without a digest is refused", func(t *testing.T) {
		why := s.refused(t, "preview")
		assert.Contains(t, why, `Pulumi.e2e-production.yaml: kvinfra:hotkv.hotkv.image: Invalid value: "hotkv:local": has no digest`)
		assert.Contains(t, why, `Pulumi.e2e-production.yaml: kvinfra:mooncake.mooncake.image: Invalid value: "mooncake:local": has no digest`)
	})
	step(t, "a level that somebody else has set is not overwritten", func(t *testing.T) {
		s.edit(t, "image: hotkv:local", "image: "+pinned(t, "hotkv:local"))
		s.edit(t, "image: mooncake:local", "image: "+pinned(t, "mooncake:local"))
		s.kubectl(t, "label", "namespace", string(s), "pod-security.kubernetes.io/enforce=baseline")
		assert.Contains(t, s.refused(t, "up"), `somebody else has set the Pod Security level of the namespace e2e-production, and this stack needs "restricted" there`)
		s.kubectl(t, "label", "namespace", string(s), "pod-security.kubernetes.io/enforce-")
	})
	step(t, "up with the deployer's rights", func(t *testing.T) {
		s.run(t, "up")
		s.run(t, "up", "--expect-no-changes")
		assert.Equal(t, "restricted", s.podSecurity(t))
	})
	step(t, "what the stack tells is enough to connect", func(t *testing.T) { testConnect(t, s) })
	step(t, "the repair runs in the namespace too", func(t *testing.T) {
		s.kubectl(t, "create", "job", "--from=cronjob/hotkv-heal", "heal-now")
		s.kubectl(t, "wait", "--for=condition=complete", "job/heal-now", "--timeout=2m")
	})
	step(t, "an update and a new shard", func(t *testing.T) {
		s.edit(t, "image: "+pinned(t, "hotkv:local"), "image: "+pinned(t, "hotkv:local-next"))
		s.edit(t, "primaries: 3", "primaries: 4")
		s.run(t, "up")
		assert.Len(t, s.list(t, "statefulsets", ".metadata.uid", "-l", "app.kubernetes.io/instance=hotkv"), 4)
	})
	step(t, "what holds data is not deleted", func(t *testing.T) {
		before := s.versions(t)
		assert.Regexp(t, `StatefulSet::.*cannot be deleted\s+because it is protected`, s.refused(t, "destroy"))
		s.edit(t, "primaries: 4", "primaries: 3")
		assert.Regexp(t, `StatefulSet::hotkv-3" cannot be deleted\s+because it is protected`, s.refused(t, "up"))
		assert.Equal(t, before, s.versions(t))
		s.edit(t, "primaries: 3", "primaries: 4")
	})
	step(t, "unless that is meant", func(t *testing.T) {
		s.edit(t, "production: true", "production: false")
		s.run(t, "up")
		s.edit(t, "production: false", "production: true")
		s.edit(t, "primaries: 4", "primaries: 3")
		s.run(t, "up")
		s.edit(t, "production: true", "production: false")
		s.run(t, "up")
		s.run(t, "destroy")
		assert.Empty(t, s.podSecurity(t))
	})
	step(t, "clean up", func(t *testing.T) {
		s.kubectl(t, "delete", "namespace", string(s), "--timeout=2m")
	})
}

// grantDeployer makes the namespace and the ServiceAccount with the documented rights,
// and the kubeconfig that the stack uses: it has this account's token and no other key.
func (s stack) grantDeployer(t *testing.T) {
	t.Helper()
	rights := strings.ReplaceAll(readFile(t, root+"/infra/deployer.yaml"), "NAMESPACE", string(s))
	file := filepath.Join(t.TempDir(), "deployer.yaml")
	writeFile(t, file, rights)
	s.kubectl(t, "apply", "-f", file)
	t.Cleanup(func() { // which no namespace takes with it
		_, err := kubectl("delete", "clusterrole,clusterrolebinding", "kvinfra-deployer-"+string(s), "--ignore-not-found")
		assert.NoError(t, err)
	})

	view := func(path string) string {
		return s.kubectl(t, "config", "view", "--raw", "--minify", "-o", "jsonpath={"+path+"}")
	}
	writeFile(t, work+"/deployer.kubeconfig", fmt.Sprintf(`
contexts: [{name: deployer, context: {cluster: it, user: deployer}}]
clusters: [{name: it, cluster: {server: %q, certificate-authority-data: %q}}]
users: [{name: deployer, user: {token: %q}}]
`, view(".clusters[0].cluster.server"), view(".clusters[0].cluster.certificate-authority-data"),
		s.kubectl(t, "create", "token", "kvinfra-deployer", "--duration=1h")))
}

// pinned returns an image of the node by its digest.
func pinned(t *testing.T, image string) string {
	t.Helper()
	out, err := kubectl("get", "nodes", "-o", "jsonpath={.items[0].status.images}")
	require.NoError(t, err)
	var images []struct{ Names []string }
	require.NoError(t, json.Unmarshal([]byte(out), &images))
	for _, i := range images {
		for _, name := range i.Names {
			if _, digest, found := strings.Cut(name, "@"); found && strings.Contains(strings.Join(i.Names, " ")+" ", "/"+image+" ") {
				return image + "@" + digest
			}
		}
	}
	require.Fail(t, "the node has no digest for "+image)
	return ""
}

func (s stack) podSecurity(t *testing.T) string {
	return s.kubectl(t, "get", "namespace", string(s), "-o", `jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}`)
}

// clients is a pod that is no part of any cluster, with a shell, and with Mooncake.
const clients = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "clients"}, "spec": {
  "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
  "containers": [
    {"name": "shell", "image": "busybox:local", "command": ["sleep", "3600"], "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}},
    {"name": "mooncake", "image": "mooncake:local", "command": ["sleep", "3600"], "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}
  ], "terminationGracePeriodSeconds": 0}}`

// testConnect runs the clients of the README with the stack's outputs and nothing else.
func testConnect(t *testing.T, s stack) {
	get := s.command(t, "output", "--json", "--show-secrets")
	get.Stderr = t.Output()
	outputs, err := get.Output()
	require.NoError(t, err)

	pod := filepath.Join(t.TempDir(), "clients.json")
	writeFile(t, pod, clients)
	s.kubectl(t, "apply", "-f", pod)
	s.kubectl(t, "wait", "--for=condition=Ready", "pod/clients", "--timeout=1m")

	program := filepath.Join(t.TempDir(), "connect")
	build := exec.Command("go", "build", "-o", program, "./connect")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	s.copyTo(t, "shell", program, "/tmp/connect")
	assert.Contains(t, s.in(t, "shell", outputs, "/tmp/connect", "hotkv-hotkv"), "HotKV says hello")
	s.copyTo(t, "mooncake", "connect/connect.py", "/tmp/connect.py")
	assert.Contains(t, s.in(t, "mooncake", outputs, "python3", "/tmp/connect.py", "mooncake-mooncake"), "Mooncake says hello")
	s.kubectl(t, "delete", "pod", "clients")
}

func (s stack) copyTo(t *testing.T, container, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	s.in(t, container, content, "sh", "-c", "cat > "+to+" && chmod +x "+to)
}

// in runs a command in a container of the pod of clients and returns its words.
func (s stack) in(t *testing.T, container string, input []byte, command ...string) string {
	t.Helper()
	cmd := kubectlCommand(t.Context(), kubeconfig, append([]string{"-n", string(s), "exec", "-i", "clients", "-c", container, "--"}, command...)...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stderr = t.Output() // where Mooncake says more than its client does
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	return string(out)
}

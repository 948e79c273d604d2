package e2e

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// chaosMooncakeStore asks for little. More settings may follow.
const chaosMooncakeStore = `    %s:
      image: %s
      version: %s
      master: {resources: {requests: {cpu: 20m}}}
      timeoutSeconds: 180
      store: {replicas: 3, segmentSize: 128Mi, resources: {requests: {cpu: 20m}}, %s}
`

// The releases of which there are images.
const (
	newest = "0.3.13.post1"
	oldest = "0.3.7.post2"

	segment = 128 << 20
)

// storeOf returns the settings of a store of a release.
func storeOf(name, version, settings string) string {
	image := map[string]string{newest: "mooncake:local", oldest: "mooncake-older:local"}[version]
	return fmt.Sprintf(chaosMooncakeStore, name, image, version, settings)
}

// chaosMooncake returns the Mooncake Store of a long story.
func chaosMooncake(t *testing.T, story, stores string) mooncake {
	t.Helper()
	return mooncake{chaosOf(t, "mc-"+story, "mooncake", stores), "mooncake"}
}

// startEtcd runs an etcd in the namespace, by the name etcd: the program that the
// local node has for itself.
func (s stack) startEtcd(t *testing.T) {
	t.Helper()
	if _, err := kubectl("get", "namespace", string(s)); err != nil {
		_, err := kubectl("create", "namespace", string(s))
		require.NoError(t, err)
	}
	s.apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: etcd, labels: {app: etcd}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: etcd
    image: busybox:local
    command: [/programs/etcd, --data-dir=/data, --listen-client-urls=http://0.0.0.0:2379, --advertise-client-urls=http://etcd.%s.svc:2379]
    readinessProbe: {tcpSocket: {port: 2379}, periodSeconds: 1}
    volumeMounts: [{name: programs, mountPath: /programs}, {name: data, mountPath: /data}]
  volumes:
  - {name: programs, hostPath: {path: /programs, type: Directory}}
  - {name: data, emptyDir: {}}
---
apiVersion: v1
kind: Service
metadata: {name: etcd}
spec: {selector: {app: etcd}, ports: [{port: 2379}]}
`, s))
	s.kubectl(t, "wait", "--for=condition=Ready", "pod/etcd", "--timeout=1m")
}

// apply has Kubernetes make what a manifest says.
func (s stack) apply(t *testing.T, manifest string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "manifest.yaml")
	writeFile(t, file, manifest)
	s.kubectl(t, "apply", "-f", file)
}

// fill puts keys of 1 MiB through the stores in turn until the pool is used to a
// part of it. It returns the keys.
func (m mooncake) fill(t *testing.T, part float64) []string {
	t.Helper()
	stores, start := m.readers(t), time.Now()
	var keys []string
	for n := range int(part * float64(len(stores)) * segment / (1 << 20)) {
		key := rand.Text()
		require.NoError(t, put(stores[n%len(stores)], key, 1<<20))
		keys = append(keys, key)
	}
	t.Logf("%d keys of 1 MiB put in %.1f s", len(keys), time.Since(start).Seconds())
	return keys
}

// lost returns how many of the keys cannot be read, with an example.
func (m mooncake) lost(t *testing.T, keys []string) (lost int, example error) {
	t.Helper()
	stores := m.readers(t)
	for n, key := range keys {
		if err := get(stores[n%len(stores)], key, 1<<20); err != nil {
			lost, example = lost+1, err
		}
	}
	return lost, example
}

// deletePod deletes a pod and returns how long that took, and the exit code of its
// container.
func (m mooncake) deletePod(t *testing.T, pod string, args ...string) (seconds float64, exitCode string) {
	t.Helper()
	watch := kubectlCommand(t.Context(), kubeconfig, "-n", string(m.stack), "get", "pod", pod,
		"--watch", "-o", `jsonpath={.status.containerStatuses[0].state.terminated.exitCode}{"\n"}`)
	var seen strings.Builder
	watch.Stdout = &seen
	require.NoError(t, watch.Start())
	time.Sleep(time.Second) // it is watching
	start := time.Now()
	m.kubectl(t, append([]string{"delete", "pod", pod, "--timeout=3m"}, args...)...)
	seconds = time.Since(start).Seconds()
	require.NoError(t, watch.Process.Kill())
	_ = watch.Wait() // it was killed
	for code := range strings.FieldsSeq(seen.String()) {
		if exitCode == "" {
			exitCode = code
		}
	}
	t.Logf("%s is gone after %.1f s, exit code %s, load average %s", pod, seconds, exitCode, loadAverage(t))
	return seconds, exitCode
}

// untilPut returns how long it takes until a put through any of the stores succeeds.
func (m mooncake) untilPut(t *testing.T, since time.Time) float64 {
	t.Helper()
	stores := m.readers(t)
	for n := 0; ; n++ {
		err := put(stores[n%len(stores)], rand.Text(), 1<<10)
		if err == nil {
			break
		}
		require.Less(t, time.Since(since), 2*time.Minute, "%v", err)
		time.Sleep(100 * time.Millisecond)
	}
	seconds := time.Since(since).Seconds()
	t.Logf("puts succeed %.1f s later, load average %s", seconds, loadAverage(t))
	return seconds
}

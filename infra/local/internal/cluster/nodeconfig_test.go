//go:build linux

package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"kvinfra/infra/local/internal/checkout"
)

func TestNodeConfiguration(t *testing.T) {
	files, err := renderNode()
	require.NoError(t, err)
	field := func(file string, path ...string) any {
		var object map[string]any
		require.NoError(t, yaml.UnmarshalStrict(files[file], &object))
		var value any = object
		for _, key := range path {
			value = value.(map[string]any)[key]
		}
		return value
	}
	tests := map[string]struct {
		got, want any
	}{
		"pods find the cluster's DNS":             {field("kubelet.yaml", "clusterDNS"), []any{dnsService}},
		"pods are in our cgroup":                  {field("kubelet.yaml", "cgroupRoot"), podsGroup},
		"cgroups of version 1 do":                 {field("kubelet.yaml", "failCgroupV1"), false},
		"images are never removed for room":       {field("kubelet.yaml", "imageGCHighThresholdPercent"), 100.0},
		"nobody uses the kubelet without a name":  {field("kubelet.yaml", "authentication", "anonymous", "enabled"), false},
		"the machine's sysctls are left alone":    {field("kube-proxy.yaml", "conntrack", "maxPerCore"), 0.0},
		"kube-proxy knows the pods' network":      {field("kube-proxy.yaml", "clusterCIDR"), podNet},
		"pods resolve no name of the outer world": {string(files["resolv.conf"]), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, test.got) })
	}
	t.Run("pods are linked one by one, so that a deleted one is refused at once", func(t *testing.T) {
		var network struct {
			Plugins []struct {
				Type string
				IPAM struct{ Ranges [][]struct{ Subnet string } }
			}
		}
		require.NoError(t, json.Unmarshal(files["cni/pods.conflist"], &network))
		assert.Equal(t, "ptp", network.Plugins[0].Type)
		assert.Equal(t, podNet, network.Plugins[0].IPAM.Ranges[0][0].Subnet)
	})
	t.Run("containerd asks for nothing that root may lack here", func(t *testing.T) {
		toml := string(files["containerd.toml"])
		assert.Contains(t, toml, "restrict_oom_score_adj = true")
		assert.Contains(t, toml, `sandbox_image = "`+pauseImage+`"`)
	})
}

func TestAddonsUseOnlyTheNodesOwnImages(t *testing.T) {
	stream, err := renderAddons()
	require.NoError(t, err)
	images := map[string]bool{}
	for _, match := range regexp.MustCompile(`image: *"([^"]*)"`).FindAllStringSubmatch(string(stream), -1) {
		images[match[1]] = true
	}
	assert.Equal(t, map[string]bool{corednsImage: true, provisionerImage: true, busyboxImage: true}, images)
	assert.Equal(t, len(regexp.MustCompile(`image:`).FindAll(stream, -1)), strings.Count(string(stream), "imagePullPolicy: Never"))
}

func TestAddonsAreObjectsThatTheAPIServerCanTell(t *testing.T) {
	stream, err := renderAddons()
	require.NoError(t, err)
	kinds := map[string]int{}
	for _, document := range bytes.Split(stream, []byte("\n---\n")) {
		var object struct {
			APIVersion string
			Kind       string
			Metadata   struct{ Name string }
		}
		require.NoError(t, yaml.Unmarshal(document, &object), string(document))
		require.NotEmpty(t, object.APIVersion, string(document))
		require.NotEmpty(t, object.Metadata.Name, string(document))
		kinds[object.Kind]++
	}
	assert.Equal(t, 2, kinds["Deployment"])
	assert.Equal(t, 1, kinds["StorageClass"])
	assert.Equal(t, 1, kinds["Service"])
}

func TestWriteNodeConfigWritesEveryFileThatAComponentNames(t *testing.T) {
	dir := t.TempDir()
	_, err := writeNodeConfig(dir)
	require.NoError(t, err)
	p := nodeControlPlane()
	components := append(nodeComponents(), p.etcd(), p.apiServer(), p.controllerManager(), p.scheduler())
	named := regexp.MustCompile(regexp.QuoteMeta(inNodeConfig) + `/[^ ,"]+`)
	count := 0
	for _, c := range components {
		for _, path := range named.FindAllString(strings.Join(c.args, " "), -1) {
			count++
			assert.FileExists(t, filepath.Join(dir, strings.TrimPrefix(path, inNodeConfig)), c.name)
		}
	}
	assert.Greater(t, count, 15)
}

func TestTiersShareNoPort(t *testing.T) {
	api := apiControlPlane(checkout.Checkout{Root: t.TempDir()})
	assert.NotContains(t, api.ports(), nodePort)
	for _, port := range nodeControlPlane().ports() {
		assert.NotContains(t, api.ports(), port)
	}
}

func TestKeptMakesAFileOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "file")
	made := 0
	for range 2 {
		content, err := kept(path, func() ([]byte, error) { made++; return []byte("content"), nil })
		require.NoError(t, err)
		assert.Equal(t, "content", string(content))
	}
	assert.Equal(t, 1, made)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no half file stays")
}

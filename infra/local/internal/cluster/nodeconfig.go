//go:build linux

package cluster

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"text/template"
)

//go:embed node
var nodeFiles embed.FS

// Paths in the node. /var is its state; all else but the configuration is the
// machine's, read-only, or gone with the node.
const (
	inNodePrograms = "/programs"
	inNodeConfig   = "/config"
	inNodeLogs     = "/var/log/components"
)

// renderNode returns the configuration files of the node's programs, by name.
func renderNode() (map[string][]byte, error) {
	values := map[string]string{
		"CgroupRoot": podsGroup,
		"Config":     inNodeConfig,
		"DNSService": dnsService,
		"NodeName":   nodeName,
		"PauseImage": pauseImage,
		"PodNet":     podNet,
	}
	rendered := map[string][]byte{"resolv.conf": nil}
	err := fs.WalkDir(nodeFiles, "node", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		t, err := template.New(filepath.Base(path)).Option("missingkey=error").ParseFS(nodeFiles, path)
		if err != nil {
			return err
		}
		var content bytes.Buffer
		if err := t.Execute(&content, values); err != nil {
			return err
		}
		name, err := filepath.Rel("node", path)
		rendered[name] = content.Bytes()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("configuration of the node: %w", err)
	}
	return rendered, nil
}

// writeNodeConfig fills dir with all that the node's programs read.
func writeNodeConfig(dir string) (authority, error) {
	files, err := renderNode()
	if err != nil {
		return authority{}, err
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(dir, name), content); err != nil {
			return authority{}, err
		}
	}
	return writeCredentials(dir, nodeControlPlane().server())
}

func nodeControlPlane() controlPlane {
	return controlPlane{programs: inNodePrograms, config: inNodeConfig, state: "/var/lib/etcd", port: 6443, address: nodeAddress}
}

// nodeComponents returns what the node runs beside its control plane.
func nodeComponents() []component {
	p := nodeControlPlane()
	return []component{
		p.kubernetes("kubelet",
			"--config="+p.file("kubelet.yaml"),
			"--kubeconfig="+p.file("kubelet.kubeconfig"),
			"--hostname-override="+nodeName,
			"--node-ip="+nodeAddress,
		),
		p.kubernetes("kube-proxy", "--config="+p.file("kube-proxy.yaml")),
		// Only its firewall: it enforces NetworkPolicies, which kube-proxy does not.
		{name: "kube-router", program: filepath.Join(inNodePrograms, "kube-router"), args: []string{
			"--run-firewall=true", "--run-router=false", "--run-service-proxy=false",
			"--kubeconfig=" + p.file("kube-router.kubeconfig"),
			"--hostname-override=" + nodeName,
			"--service-cluster-ip-range=" + serviceNet,
		}},
	}
}

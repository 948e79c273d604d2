//go:build linux

package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"kvinfra/infra/local/internal/build"
	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/child"
)

const kubernetesVersion = "v1.37.2"

// kubernetesVars tells the programs of Kubernetes their version. There are two
// places: one for the servers, one for kubectl and user agents.
func kubernetesVars() map[string]string {
	vars := map[string]string{}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		vars[pkg+".gitVersion"] = kubernetesVersion
		vars[pkg+".gitMajor"] = "1"
		vars[pkg+".gitMinor"] = "37"
		vars[pkg+".gitTreeState"] = "clean"
	}
	return vars
}

// controlPlanePrograms run in both tiers.
func controlPlanePrograms() []build.Program {
	return []build.Program{
		{Name: "kubernetes", Module: "kubernetes", Package: ".", Vars: kubernetesVars(), Tags: "providerless"},
		{Name: "etcd", Module: "kubernetes", Package: "go.etcd.io/etcd/server/v3", Tags: "providerless"},
	}
}

// nodePrograms run in the node.
func nodePrograms() []build.Program {
	return append(controlPlanePrograms(),
		build.Program{Name: "kube-router", Module: "kube-router", Package: "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"})
}

// podPrograms run in the node's system pods: they go into images.
func podPrograms() []build.Program {
	return []build.Program{
		{Name: "pause", Module: "pause", Package: "."},
		{Name: "coredns", Module: "coredns", Package: "."},
		{Name: "local-path-provisioner", Module: "local-path-provisioner", Package: "github.com/rancher/local-path-provisioner"},
	}
}

// apiPrograms run in the API tier, which has fake nodes.
func apiPrograms() []build.Program {
	return append(controlPlanePrograms(),
		build.Program{Name: "kwok", Module: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok"},
		build.Program{Name: "kwok-stages", Module: "kwok", Package: "./stages"})
}

// install builds programs and links them as .local/bin/<name>. It returns where
// they are, by name.
func install(ctx context.Context, c checkout.Checkout, log io.Writer, programs []build.Program) (map[string]string, error) {
	paths := map[string]string{}
	for _, p := range programs {
		path, err := p.Build(ctx, c, log)
		if err != nil {
			return nil, err
		}
		names := []string{p.Name}
		if p.Name == "kubernetes" {
			names = append(names, "kubectl")
		}
		if err := build.Link(c, path, names...); err != nil {
			return nil, err
		}
		paths[p.Name] = path
	}
	return paths, nil
}

// installed says which builds of programs .local/bin leads to.
func installed(c checkout.Checkout, programs []build.Program) (string, error) {
	var paths []string
	for _, p := range programs {
		path, err := os.Readlink(c.Local("bin", p.Name))
		if err != nil {
			return "", fmt.Errorf("program %s of the cluster: %w", p.Name, err)
		}
		paths = append(paths, path)
	}
	return strings.Join(paths, " "), nil
}

// kubectl is the command line with the admin's rights that kubeconfig gives,
// whatever the user's own KUBECONFIG says.
func kubectl(ctx context.Context, c checkout.Checkout, kubeconfig string, args ...string) *exec.Cmd {
	return child.Command(ctx, c.Local("bin", "kubectl"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
}

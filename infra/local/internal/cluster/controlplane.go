//go:build linux

package cluster

import (
	"fmt"
	"path/filepath"
	"slices"
)

// controlPlane is etcd and the three servers of Kubernetes: in the node, and as
// the API tier on the machine's loopback.
type controlPlane struct {
	programs string // where their programs are
	config   string // their credentials
	state    string // etcd's data
	port     int    // of the API server; the others listen on the ports after it
	address  string // where other machines and pods reach the API server
}

// server is the API server's address for the programs beside it.
func (p controlPlane) server() string { return fmt.Sprintf("https://127.0.0.1:%d", p.port) }

func (p controlPlane) file(name string) string { return filepath.Join(p.config, name) }

func (p controlPlane) kubernetes(name string, args ...string) component {
	return component{name: name, program: filepath.Join(p.programs, "kubernetes"), args: args}
}

func (p controlPlane) etcd() component {
	client, peer := p.loopback("http", 1), p.loopback("http", 2)
	return component{name: "etcd", program: filepath.Join(p.programs, "etcd"), args: []string{
		"--data-dir=" + p.state,
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		// A kill loses nothing that was written; only a crash of the machine could,
		// and this state is not worth the wait for its disk.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}}
}

func (p controlPlane) apiServer(more ...string) component {
	return p.kubernetes("kube-apiserver", slices.Concat([]string{
		"--etcd-servers=" + p.loopback("http", 1),
		fmt.Sprintf("--secure-port=%d", p.port),
		"--advertise-address=" + p.address,
		"--client-ca-file=" + p.file("ca.crt"),
		"--tls-cert-file=" + p.file("apiserver.crt"),
		"--tls-private-key-file=" + p.file("apiserver.key"),
		"--kubelet-certificate-authority=" + p.file("ca.crt"),
		"--kubelet-client-certificate=" + p.file("apiserver-client.crt"),
		"--kubelet-client-key=" + p.file("apiserver-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--requestheader-client-ca-file=" + p.file("ca.crt"),
		"--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + p.file("front-proxy.crt"),
		"--proxy-client-key-file=" + p.file("front-proxy.key"),
		"--service-account-key-file=" + p.file("service-accounts.key"),
		"--service-account-signing-key-file=" + p.file("service-accounts.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-cluster-ip-range=" + serviceNet,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged",
		"--profiling=false",
	}, more)...)
}

func (p controlPlane) controllerManager(more ...string) component {
	return p.kubernetes("kube-controller-manager", slices.Concat(p.controller("controller-manager", 3), []string{
		"--root-ca-file=" + p.file("ca.crt"),
		"--service-account-private-key-file=" + p.file("service-accounts.key"),
		"--cluster-signing-cert-file=" + p.file("ca.crt"),
		"--cluster-signing-key-file=" + p.file("ca.key"),
		"--use-service-account-credentials",
	}, more)...)
}

func (p controlPlane) scheduler() component {
	return p.kubernetes("kube-scheduler", p.controller("scheduler", 4)...)
}

// controller returns what the controller manager and the scheduler have in common.
func (p controlPlane) controller(user string, port int) []string {
	return []string{
		"--kubeconfig=" + p.file(user+".kubeconfig"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", p.port+port),
		"--leader-elect=false", // there is only one
		// The defaults are for a shared API server: 500 pods took 24 s, not 5.
		"--kube-api-qps=300",
		"--kube-api-burst=600",
		"--profiling=false",
	}
}

func (p controlPlane) loopback(scheme string, port int) string {
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, p.port+port)
}

// ports returns those on the loopback that the control plane and what stands
// beside it take.
func (p controlPlane) ports() []int {
	var ports []int
	for port := p.port; port <= p.port+5; port++ {
		ports = append(ports, port)
	}
	return ports
}

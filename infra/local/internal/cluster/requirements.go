//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"kvinfra/infra/local/internal/debian"
)

// checkMachine says why this machine cannot start a node. It changes nothing.
func checkMachine() error {
	rights, err := capabilities()
	if err != nil {
		return err
	}
	if err := allowed(os.Geteuid(), rights); err != nil {
		return err
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("the local cluster needs Debian's packages, and this machine has no apt-get")
	}
	if _, err := hierarchies(); err != nil {
		return err
	}
	routes, err := machineRoutes()
	if err != nil {
		return err
	}
	return errors.Join(conflicts(routes), portsFree(nodePort))
}

// capabilities returns those of this process, a bit for each.
func capabilities() (uint64, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0, fmt.Errorf("ask for the rights of this process: %w", err)
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective), nil
}

// allowed says why a user with these capabilities cannot start a node.
func allowed(uid int, capabilities uint64) error {
	if uid != 0 {
		return errors.New("the local cluster needs root, for namespaces and mounts")
	}
	if needed := uint64(1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_NET_ADMIN); capabilities&needed != needed {
		return errors.New("the local cluster needs CAP_SYS_ADMIN and CAP_NET_ADMIN, which root lacks here, as in an ordinary container")
	}
	return nil
}

func portsFree(ports ...int) error {
	for _, port := range ports {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return fmt.Errorf("the local cluster needs port %d of 127.0.0.1, which another program has (%w)", port, err)
		}
		if err := listener.Close(); err != nil {
			return err
		}
	}
	return nil
}

// nodePackages are Debian's packages that the node runs, and a program of each. A
// machine that has the program from elsewhere, say Docker's containerd, keeps it.
func nodePackages() map[string]string {
	return map[string]string{
		"containerd":                  "containerd",
		"runc":                        "runc",
		"containernetworking-plugins": "../lib/cni/ptp",
		"iptables":                    "iptables-restore",
		"ipset":                       "ipset",
		"nftables":                    "nft",
	}
}

// lacking returns the packages none of whose programs is in one of dirs.
func lacking(packages map[string]string, dirs ...string) []string {
	var names []string
	for name, program := range packages {
		found := func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, program))
			return err == nil
		}
		if !slices.ContainsFunc(dirs, found) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func installPackages(ctx context.Context, log io.Writer) error {
	missing := lacking(nodePackages(), "/usr/bin", "/usr/sbin")
	return debian.Install(ctx, log, "run containers and their network", missing...)
}

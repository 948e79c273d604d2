//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"kvinfra/infra/local/internal/checkout"
)

// Who runs is known by sockets without a file: the kernel gives each name to one
// process at a time and takes it back when the process ends, however it ends.
const (
	nodeSocket   = "@kvinfra-node"
	apiSocket    = "@kvinfra-api"
	changeSocket = "@kvinfra-change"
)

// presence is what a running tier tells whoever asks.
type presence struct {
	Root     string // the checkout it belongs to
	Pid      int    // its process on the machine; the tier ends with it
	Node     int    // the node's first process, in the machine's count
	Programs string // what it was started from
}

// containerd is the node's container runtime, as the machine sees its files.
func (p *presence) containerd() string {
	return fmt.Sprintf("/proc/%d/root/run/containerd/containerd.sock", p.Node)
}

// announce answers all that connect until the process ends.
func announce(listener net.Listener, p presence) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		// Who does not wait for the answer does not need it.
		_ = json.NewEncoder(conn).Encode(p)
		_ = conn.Close()
	}
}

// runningHere returns what runs under a socket's name for checkout c, nil when
// nothing does. That of another checkout is an error: it has the same addresses.
func runningHere(ctx context.Context, c checkout.Checkout, socket string) (*presence, error) {
	running, err := whoRuns(ctx, socket)
	if err == nil && running != nil && running.Root != c.Root {
		err = fmt.Errorf("the local cluster of %s is running and has the addresses of this one: run make down there first", running.Root)
	}
	return running, err
}

// whoRuns returns what runs under a socket's name, nil when nothing does.
func whoRuns(ctx context.Context, socket string) (*presence, error) {
	var found *presence
	err := wait(ctx, 10*time.Second, "ask what runs as "+socket, func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if errors.Is(err, unix.ECONNREFUSED) {
			found = nil
			return nil
		}
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			return err
		}
		// A process that is ending may take the question and not answer any more.
		found = new(presence)
		return json.NewDecoder(conn).Decode(found)
	})
	return found, err
}

// alone waits until no other up or down works on this machine. The caller closes
// what it returns.
func alone(ctx context.Context) (net.Listener, error) {
	var listener net.Listener
	err := wait(ctx, 10*time.Minute, "another up or down is at work", func(context.Context) (err error) {
		listener, err = net.Listen("unix", changeSocket)
		return err
	})
	return listener, err
}

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
	"runtime"
	"strconv"
	"syscall"

	"kvinfra/infra/local/internal/checkout"
)

// RunNode is the machine's side of the node: it starts the node's first process,
// lays the cable to it and carries connections to its API server. It returns
// when ctx or the node ends; the kernel ends the node when this process dies.
func RunNode(ctx context.Context, c checkout.Checkout) error {
	// The port comes first: the kernel closes it first, too, so that it is free when
	// the socket says that nothing runs any more.
	api, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(nodePort)))
	if err != nil {
		return fmt.Errorf("take the API server's port: %w", err)
	}
	defer api.Close()
	socket, err := net.Listen("unix", nodeSocket)
	if err != nil {
		return fmt.Errorf("be the machine's side of the node: %w", err)
	}
	defer socket.Close()
	if err := guard(); err != nil {
		return err
	}

	runtime.LockOSThread() // the kernel takes the end of this thread for the end of the node's parent
	node := exec.CommandContext(ctx, "/proc/self/exe", NodeCommand)
	node.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	node.Args[0] = "local"
	node.Dir = c.Root
	node.Stdout, node.Stderr = os.Stderr, os.Stderr
	ready, err := node.StdinPipe()
	if err != nil {
		return err
	}
	if err := node.Start(); err != nil {
		return fmt.Errorf("start the node in namespaces of its own: %w", err)
	}
	programs, err := installed(c, nodePrograms())
	if err == nil {
		err = plugIn(node.Process.Pid)
	}
	if err != nil {
		_ = node.Process.Kill()
		_ = node.Wait()
		return err
	}
	go announce(socket, presence{Root: c.Root, Pid: os.Getpid(), Node: node.Process.Pid, Programs: programs})
	go forward(api, net.JoinHostPort(nodeAddress, "6443"))
	if err := ready.Close(); err != nil {
		return err
	}
	err = node.Wait()
	if ctx.Err() != nil {
		return nil // somebody wants it down
	}
	return errors.Join(errors.New("the node ended by itself"), err)
}

// forward carries each connection that listener takes to a port of the node.
func forward(listener net.Listener, to string) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer near.Close()
			far, err := net.Dial("tcp", to)
			if err != nil {
				return // the caller sees its connection end
			}
			defer far.Close()
			go func() {
				_, _ = io.Copy(far, near)
				_ = far.(*net.TCPConn).CloseWrite()
			}()
			_, _ = io.Copy(near, far)
		}()
	}
}

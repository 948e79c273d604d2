//go:build linux

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/step"
)

// NodeCommand and RunNodeCommand are the words by which this program starts
// itself again, as the node and as the machine's side of it.
const (
	NodeCommand    = "node"
	RunNodeCommand = "run-node"
)

// patience is how long a step of a start may take. On two free cores a start as
// a whole needs a tenth of it.
const patience = 2 * time.Minute

// Up makes the node run, Ready and with its add-ons, whatever is there already:
// nothing, the state of a node that was stopped or killed, or a running node.
func Up(ctx context.Context, c checkout.Checkout, log io.Writer) error {
	running, err := runningHere(ctx, c, nodeSocket)
	if err != nil {
		return err
	}
	if running == nil {
		if err := checkMachine(); err != nil {
			return instead(err)
		}
		if err := installPackages(ctx, log); err != nil {
			return instead(err)
		}
	}
	programs, err := install(ctx, c, log, append(nodePrograms(), podPrograms()...))
	if err != nil {
		return err
	}
	images, err := systemArchives(ctx, programs, log)
	if err != nil {
		return err
	}
	change, err := alone(ctx)
	if err != nil {
		return err
	}
	defer change.Close()
	if err := start(ctx, c, images, log); err != nil {
		return fmt.Errorf("%w\nThe logs of the node's programs are in %s", err, c.Local("cluster", "var", "log", "components"))
	}
	return nil
}

// start is the part of Up that one process at a time may do.
func start(ctx context.Context, c checkout.Checkout, images []string, log io.Writer) error {
	wanted, err := installed(c, nodePrograms())
	if err != nil {
		return err
	}
	running, err := runningHere(ctx, c, nodeSocket)
	if err != nil {
		return err
	}
	if running != nil && running.Programs != wanted {
		step.Say("the running node has other programs: starting it again")
		if err := stop(ctx, nodeSocket, running); err != nil {
			return err
		}
		running = nil
	}
	var began time.Time // of the node's reports that count
	if running == nil {
		began = time.Now()
		if ctx, err = startNode(ctx, c); err != nil {
			return err
		}
	} else {
		step.Say("the node is up already")
	}
	if err := waitContainerd(ctx); err != nil {
		return err
	}
	if err := Load(ctx, c, log, images...); err != nil {
		return err
	}
	api, err := connect(c.Local("kubeconfig"))
	if err != nil {
		return err
	}
	if err := api.waitReady(ctx, patience); err != nil {
		return err
	}
	if err := applyAddons(ctx, c, log); err != nil {
		return fmt.Errorf("apply the add-ons: %w", err)
	}
	if err := api.waitNode(ctx, patience, began); err != nil {
		return err
	}
	return waitDNS(ctx)
}

// startNode starts the machine's side of the node, over the leftovers of a
// killed one. The context that it returns ends when the node does.
func startNode(ctx context.Context, c checkout.Checkout) (context.Context, error) {
	if err := waitGone(ctx); err != nil {
		return ctx, err
	}
	ca, err := writeNodeConfig(c.Local("cluster", "config"))
	if err != nil {
		return ctx, fmt.Errorf("write the node's configuration: %w", err)
	}
	address := fmt.Sprintf("https://127.0.0.1:%d", nodePort)
	if err := ca.writeKubeconfig(c.Local("kubeconfig"), address, clients()["admin"]); err != nil {
		return ctx, fmt.Errorf("write the kubeconfig: %w", err)
	}
	return detach(ctx, c, RunNodeCommand, c.Local("cluster", "node.log"))
}

// detach starts this program again, to run on its own. The context that it
// returns ends with that process and says so.
func detach(ctx context.Context, c checkout.Checkout, command, logFile string) (context.Context, error) {
	log, err := os.Create(logFile)
	if err != nil {
		return ctx, err
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe", command)
	cmd.Args[0] = "local"
	cmd.Dir = c.Root
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return ctx, err
	}
	ctx, end := context.WithCancelCause(ctx)
	go func() {
		err := cmd.Wait()
		words, _ := os.ReadFile(logFile) // without them, too, it ended
		end(fmt.Errorf("local %s ended: %w: %s", command, err, bytes.TrimSpace(words)))
	}()
	return ctx, nil
}

func waitContainerd(ctx context.Context) error {
	return wait(ctx, patience, "containerd is not up", func(ctx context.Context) error {
		running, err := whoRuns(ctx, nodeSocket)
		if err != nil {
			return err
		}
		if running == nil {
			return errors.New("the node does not run yet")
		}
		conn, err := net.Dial("unix", running.containerd())
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// waitDNS waits until a Service's name is known. The question takes the way of
// all that follows: kube-proxy, the pods' network, a pod that asks the API server.
func waitDNS(ctx context.Context) error {
	dns := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", net.JoinHostPort(dnsService, "53"))
	}}
	return wait(ctx, patience, "the cluster's DNS does not answer", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := dns.LookupHost(ctx, "kubernetes.default.svc.cluster.local.")
		return err
	})
}

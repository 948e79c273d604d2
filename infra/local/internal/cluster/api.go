//go:build linux

package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/step"
)

// RunAPICommand is the word by which this program starts itself as the API tier.
const RunAPICommand = "run-api"

// UpAPI makes the API tier run: an API server, its controllers and a scheduler
// on the loopback, with kwok in the place of nodes. It needs neither root nor
// Debian's packages. A node object with the annotation kwok.x-k8s.io/node=fake
// becomes Ready, and pods on it seem to run.
func UpAPI(ctx context.Context, c checkout.Checkout, log io.Writer) error {
	programs, err := install(ctx, c, log, apiPrograms())
	if err != nil {
		return err
	}
	change, err := alone(ctx)
	if err != nil {
		return err
	}
	defer change.Close()
	running, err := runningHere(ctx, c, apiSocket)
	if err != nil {
		return err
	}
	if running == nil {
		if ctx, err = startAPI(ctx, c, programs); err != nil {
			return err
		}
	} else {
		step.Say("the API tier is up already")
	}
	api, err := connect(c.Local("api", "kubeconfig"))
	if err != nil {
		return err
	}
	if err := api.waitReady(ctx, patience); err != nil {
		return err
	}
	// Pods are refused before the controller manager has made their account.
	return wait(ctx, patience, "the default service account is missing", func(ctx context.Context) error {
		_, err := api.read(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
		return err
	})
}

func startAPI(ctx context.Context, c checkout.Checkout, programs map[string]string) (context.Context, error) {
	p := apiControlPlane(c)
	if err := waitPorts(ctx, p); err != nil {
		return ctx, err
	}
	ca, err := writeCredentials(p.config, p.server())
	if err != nil {
		return ctx, fmt.Errorf("write the credentials of the API tier: %w", err)
	}
	stages, err := exec.CommandContext(ctx, programs["kwok-stages"]).Output()
	if err != nil {
		return ctx, fmt.Errorf("ask kwok for the stages of its nodes and pods: %w", err)
	}
	if err := writeFile(p.file("stages.yaml"), stages); err != nil {
		return ctx, err
	}
	if err := ca.writeKubeconfig(c.Local("api", "kubeconfig"), p.server(), clients()["admin"]); err != nil {
		return ctx, fmt.Errorf("write the kubeconfig of the API tier: %w", err)
	}
	return detach(ctx, c, RunAPICommand, c.Local("api", "api.log"))
}

func apiControlPlane(c checkout.Checkout) controlPlane {
	return controlPlane{
		programs: c.Local("bin"),
		config:   c.Local("api", "config"),
		state:    c.Local("api", "etcd"),
		port:     apiPort,
		address:  "127.0.0.1",
	}
}

// RunAPI is the API tier: it returns when ctx ends, and the tier ends with this process.
func RunAPI(ctx context.Context, c checkout.Checkout) error {
	socket, err := net.Listen("unix", apiSocket)
	if err != nil {
		return fmt.Errorf("be the API tier: %w", err)
	}
	defer socket.Close()
	go announce(socket, presence{Root: c.Root, Pid: os.Getpid()})
	p := apiControlPlane(c)
	first := []component{p.etcd(), p.apiServer("--bind-address=127.0.0.1", "--endpoint-reconciler-type=none")} // a loopback address is no endpoint
	rest := []component{p.controllerManager(), p.scheduler(), {name: "kwok", program: p.programs + "/kwok", args: []string{
		"--kubeconfig=" + p.file("admin.kubeconfig"),
		"--config=" + p.file("stages.yaml"),
		"--manage-all-nodes=false",
		"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
		"--node-lease-duration-seconds=40",
		"--cidr=10.0.0.1/16", // of pods that exist nowhere
		"--node-ip=10.0.0.1",
		fmt.Sprintf("--server-address=127.0.0.1:%d", p.port+5),
	}}}
	return superviseTier(ctx, c.Local("api", "log"), p, first, rest)
}

// DownAPI ends the API tier of this checkout. Its state stays.
func DownAPI(ctx context.Context, c checkout.Checkout) error {
	change, err := alone(ctx)
	if err != nil {
		return err
	}
	defer change.Close()
	return stopAPI(ctx, c)
}

func stopAPI(ctx context.Context, c checkout.Checkout) error {
	running, err := whoRuns(ctx, apiSocket)
	if err != nil || running == nil || running.Root != c.Root {
		return err
	}
	if err := stop(ctx, apiSocket, running); err != nil {
		return err
	}
	return waitPorts(ctx, apiControlPlane(c))
}

// waitPorts waits until the last program of a tier that ended gave up its port.
func waitPorts(ctx context.Context, p controlPlane) error {
	return wait(ctx, 5*time.Second, "start the API tier", func(context.Context) error { return portsFree(p.ports()...) })
}

// Command pulumi-language-go runs Go programs for the Pulumi engine. It does what
// this repository's Pulumi.yaml needs and no more: compile the program, run it.
//
// Its one rule: what Pulumi.yaml says means the same to Pulumi's own host. Paths
// are relative to the program's directory, and the compiler gets the same flags.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/constant"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/cmdutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

func main() {
	if len(os.Args) != 2 {
		cmdutil.Exit(errors.New("usage: pulumi-language-go ENGINE-ADDRESS (the engine starts it)"))
	}
	if err := serve(os.Args[1]); err != nil {
		cmdutil.Exit(err)
	}
}

// serve answers the engine until the engine is gone.
func serve(engine string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := rpcutil.Healthcheck(ctx, engine, 5*time.Second, cancel); err != nil {
		return err
	}
	gone := make(chan bool)
	context.AfterFunc(ctx, func() { close(gone) })
	server, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: gone,
		Init: func(s *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(s, &host{engine: engine})
			return nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(server.Port) // the engine reads it
	return <-server.Done
}

// host leaves out what the engine can do without: it asks for a plugin when a
// resource needs it, so nothing has to be listed before.
type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engine string
}

func (h *host) Handshake(context.Context, *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse, error) {
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version.Version}, nil
}

func (h *host) Run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	dir := filepath.Join(req.GetInfo().GetProgramDirectory(), req.GetInfo().GetEntryPoint())
	program, cleanup, err := program(ctx, dir, req.GetInfo().GetOptions().AsMap())
	if err != nil {
		return &pulumirpc.RunResponse{Error: err.Error()}, nil
	}
	defer cleanup()
	env, err := environment(req, h.engine)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, req.GetArgs()...)
	cmd.Dir, cmd.Env = req.GetPwd(), env
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == constant.ExitStatusLoggedError {
		return &pulumirpc.RunResponse{Bail: true}, nil // the program said why
	}
	if err != nil {
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("program: %v", err)}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// program returns the executable: the one that the options name as binary, or
// the compiled directory, at the place that the options name as buildTarget.
func program(ctx context.Context, dir string, options map[string]any) (path string, cleanup func(), err error) {
	cleanup = func() {}
	if binary, _ := options["binary"].(string); binary != "" {
		return in(dir, binary), cleanup, nil
	}
	target, _ := options["buildTarget"].(string)
	if target == "" {
		temporary, err := os.MkdirTemp("", "pulumi-go-")
		if err != nil {
			return "", cleanup, err
		}
		target, cleanup = filepath.Join(temporary, "program"), func() { os.RemoveAll(temporary) }
	}
	target = in(dir, target)
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-w -s", "-o", target, ".")
	build.Dir = dir
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		cleanup()
		return "", func() {}, fmt.Errorf("go build in %s: %w", dir, err)
	}
	return target, cleanup, nil
}

// in returns path as seen from dir.
func in(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// environment is how the Go SDK learns what it is run for.
func environment(req *pulumirpc.RunRequest, engine string) ([]string, error) {
	config, err := json.Marshal(req.GetConfig())
	if err != nil {
		return nil, err
	}
	secrets, err := json.Marshal(req.GetConfigSecretKeys())
	if err != nil {
		return nil, err
	}
	return append(os.Environ(),
		pulumi.EnvOrganization+"="+req.GetOrganization(),
		pulumi.EnvProject+"="+req.GetProject(),
		pulumi.EnvStack+"="+req.GetStack(),
		pulumi.EnvPulumiRootDirectory+"="+req.GetInfo().GetRootDirectory(),
		pulumi.EnvConfig+"="+string(config),
		pulumi.EnvConfigSecretKeys+"="+string(secrets),
		pulumi.EnvDryRun+"="+strconv.FormatBool(req.GetDryRun()),
		pulumi.EnvParallel+"="+strconv.Itoa(int(req.GetParallel())),
		pulumi.EnvMonitor+"="+req.GetMonitorAddress(),
		pulumi.EnvEngine+"="+engine,
	), nil
}

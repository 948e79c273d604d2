// Package build compiles the Go programs of infra/local/modules. Its one rule: a
// program is compiled only when one of its inputs changed; the result stays in
// the user's cache under the hash of these inputs.
package build

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"kvinfra/infra/local/internal/cache"
	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/child"
	"kvinfra/infra/local/internal/step"
)

// Program is a Go program and how to compile it.
type Program struct {
	Name    string            // of the binary
	Module  string            // folder in infra/local/modules
	Package string            // import path, or a path like "." inside the folder
	Vars    map[string]string // package variables that the linker sets (-X)
	Beside  map[string]string // binaries to put into the same folder, name to package
	Tags    string            // build tags, separated by commas
	Patched string            // the dependency that the folder's *.patch files change
}

// flags and environment are part of every compilation: one that differs shares
// no compiled package with the others, and the heavy packages take minutes.
var (
	flags       = []string{"-trimpath", "-buildvcs=false"}
	environment = []string{"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"}
)

// Build returns the path of the program's binary. It compiles only when the
// cache has no binary for these inputs; the compiler's words go to log.
func (p Program) Build(ctx context.Context, c checkout.Checkout, log io.Writer) (string, error) {
	dir, err := p.build(ctx, c.Source("modules", p.Module), log)
	if err != nil {
		return "", fmt.Errorf("build %s from infra/local/modules/%s: %w", p.Name, p.Module, err)
	}
	return filepath.Join(dir, p.Name), nil
}

func (p Program) build(ctx context.Context, module string, log io.Writer) (string, error) {
	home, err := checkout.Cache("programs", p.Name)
	if err != nil {
		return "", err
	}
	key, err := p.key(ctx, module)
	if err != nil {
		return "", err
	}
	return cache.Entry(ctx, home, key, func(dir string) error {
		step.Say("compiling %s (once; minutes on a new machine)", p.Name)
		return p.compile(ctx, module, dir, log)
	})
}

// key is the hash of all that shapes the binary: how it is compiled, by which
// compiler, and the module's folder. Dependencies are in there through go.sum.
func (p Program) key(ctx context.Context, module string) (string, error) {
	compiler, err := goCommand(ctx, module, "env", "GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	return cache.Key(module, p, flags, environment, string(compiler))
}

// compile makes the binaries in dir.
func (p Program) compile(ctx context.Context, module, dir string, log io.Writer) error {
	if p.Patched != "" {
		staging := filepath.Join(dir, "patched")
		defer os.RemoveAll(staging)
		var err error
		if module, err = p.patch(ctx, module, staging, log); err != nil {
			return err
		}
	}
	packages := map[string]string{p.Name: p.Package}
	maps.Copy(packages, p.Beside)
	for name, pkg := range packages {
		args := slices.Concat([]string{"build"}, flags,
			[]string{"-tags", p.Tags, "-ldflags", p.ldflags(), "-o", filepath.Join(dir, name), pkg})
		if err := child.Run(goCommand(ctx, module, args...), log); err != nil {
			return err
		}
	}
	return nil
}

func (p Program) ldflags() string {
	words := []string{"-s", "-w"}
	for _, name := range slices.Sorted(maps.Keys(p.Vars)) {
		words = append(words, "-X", name+"="+p.Vars[name])
	}
	return strings.Join(words, " ")
}

// goCommand is the go command in dir, whatever the user's own Go settings are.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := child.Command(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), environment...)
	return cmd
}

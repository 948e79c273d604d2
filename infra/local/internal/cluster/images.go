//go:build linux

package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"kvinfra/infra/local/internal/cache"
	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/child"
	"kvinfra/infra/local/internal/image"
)

// Images of the node itself. Their pods never pull: no registry can be reached.
const (
	pauseImage       = "localhost/pause:local"
	corednsImage     = "localhost/coredns:local"
	provisionerImage = "localhost/local-path-provisioner:local"
	busyboxImage     = "busybox:local"
)

// systemArchives returns the archives of the node's own images, from the cache
// where they are there.
func systemArchives(ctx context.Context, programs map[string]string, log io.Writer) ([]string, error) {
	box, err := busybox(ctx, log)
	if err != nil {
		return nil, err
	}
	specs := []image.Spec{
		programImage(pauseImage, programs["pause"]),
		programImage(corednsImage, programs["coredns"]),
		programImage(provisionerImage, programs["local-path-provisioner"]),
		box,
	}
	var archives []string
	for _, spec := range specs {
		archive, err := systemArchive(ctx, spec)
		if err != nil {
			return nil, err
		}
		archives = append(archives, archive)
	}
	return archives, nil
}

func systemArchive(ctx context.Context, spec image.Spec) (string, error) {
	// The paths of its files say what is in them: those in the cache go by the hash of their inputs.
	inputs, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	key := sha256.Sum256(inputs)
	name, _, _ := strings.Cut(path.Base(spec.Ref), ":")
	home, err := checkout.Cache("images", "node-"+name)
	if err != nil {
		return "", err
	}
	dir, err := cache.Entry(ctx, home, hex.EncodeToString(key[:6]), func(dir string) error {
		return spec.Write(filepath.Join(dir, name+".tar"))
	})
	return filepath.Join(dir, name+".tar"), err
}

// programImage is an image of one program that needs no other file.
func programImage(ref, program string) image.Spec {
	inside := "/" + filepath.Base(program)
	return image.Spec{
		Ref:        ref,
		Entrypoint: []string{inside},
		Files:      []image.File{{Path: inside, Source: program, Mode: 0o755}, {Path: "/tmp", Mode: os.ModeDir | os.ModeSticky | 0o777}},
	}
}

// busybox is a shell with the usual tools, from Debian's package: volumes are
// made by it, and it is good for a look at the cluster from within.
func busybox(ctx context.Context, log io.Writer) (image.Spec, error) {
	home, err := checkout.Cache("busybox")
	if err != nil {
		return image.Spec{}, err
	}
	dir, err := cache.Entry(ctx, home, "debian", func(dir string) error { return fetchBusybox(ctx, dir, log) })
	if err != nil {
		return image.Spec{}, fmt.Errorf("get busybox from Debian: %w", err)
	}
	program := filepath.Join(dir, "busybox")
	applets, err := exec.CommandContext(ctx, program, "--list").Output()
	if err != nil {
		return image.Spec{}, fmt.Errorf("ask busybox for its tools: %w", err)
	}
	files := []image.File{
		{Path: "/bin/busybox", Source: program, Mode: 0o755},
		{Path: "/tmp", Mode: os.ModeDir | os.ModeSticky | 0o777},
	}
	for _, applet := range strings.Fields(string(applets)) {
		if applet != "busybox" {
			files = append(files, image.File{Path: "/bin/" + applet, Link: "busybox"})
		}
	}
	return image.Spec{Ref: busyboxImage, Cmd: []string{"sh"}, Env: []string{"PATH=/bin"}, Files: files}, nil
}

// fetchBusybox puts the program of Debian's busybox-static into dir. The package
// is not installed: it would replace the machine's own busybox.
func fetchBusybox(ctx context.Context, dir string, log io.Writer) error {
	for _, args := range [][]string{{"apt-get", "update"}, {"apt-get", "download", "busybox-static"}} {
		cmd := child.Command(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		if err := child.Run(cmd, log); err != nil {
			return err
		}
	}
	packages, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range packages {
		if err := child.Run(child.Command(ctx, "dpkg-deb", "--extract", file, dir), log); err != nil {
			return err
		}
	}
	for _, place := range []string{"bin/busybox", "usr/bin/busybox"} {
		err := os.Rename(filepath.Join(dir, place), filepath.Join(dir, "busybox"))
		if !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return errors.New("the package busybox-static has no busybox in /bin or /usr/bin")
}

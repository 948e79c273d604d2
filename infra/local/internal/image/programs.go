package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"kvinfra/infra/local/internal/cache"
	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/child"
)

// Programs makes programs of the image called name callable outside of a
// container, as .local/bin/<program>: tests run against the same servers as pods.
func Programs(ctx context.Context, c checkout.Checkout, log io.Writer, name string, programs ...string) error {
	r, err := readDefinition(c.Source("images", name))
	if err != nil {
		return err
	}
	archives, err := r.archives(ctx, log)
	if err != nil {
		return fmt.Errorf("image %s: %w", name, err)
	}
	root, err := unpacked(ctx, name, archives[0].Path, log)
	if err != nil {
		return fmt.Errorf("image %s: %w", name, err)
	}
	// Its own loader and libraries: the image is of another release of Debian.
	loaders, err := filepath.Glob(filepath.Join(root, "usr", "lib", "*", "ld-linux-*.so.*"))
	if err != nil {
		return err
	}
	if len(loaders) != 1 {
		return fmt.Errorf("image %s: has %d dynamic loaders, not one", name, len(loaders))
	}
	for _, program := range programs {
		script := fmt.Sprintf("#!/bin/sh\nexec %q --argv0 %s --library-path %q %q \"$@\"\n",
			loaders[0], program, filepath.Dir(loaders[0]), filepath.Join(root, "usr", "bin", program))
		if err := os.WriteFile(c.Local("bin", program), []byte(script), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// unpacked returns the folder with the image's files.
func unpacked(ctx context.Context, name, archive string, log io.Writer) (string, error) {
	home, err := checkout.Cache("unpacked", name)
	if err != nil {
		return "", err
	}
	key := filepath.Base(filepath.Dir(archive))
	return cache.Entry(ctx, home, key, func(dir string) error {
		img, err := tarball.ImageFromPath(archive, nil)
		if err != nil {
			return err
		}
		files := mutate.Extract(img)
		tar := child.Command(ctx, "tar", "--extract", "--no-same-owner", "--directory", dir)
		tar.Stdin = files
		return errors.Join(child.Run(tar, log), files.Close())
	})
}

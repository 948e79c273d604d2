package image

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kvinfra/infra/local/internal/cache"
	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/step"
)

// Archive is an image in a file.
type Archive struct {
	Ref      string            // the image's name
	Path     string            // another one whenever the image is another one
	Versions map[string]string // of the packages and wheels that its definition is particular about
}

// Product returns the images of what the product runs, as the folders of
// infra/local/images describe them, and those of further such directories. It builds
// what changed.
func Product(ctx context.Context, c checkout.Checkout, log io.Writer, further ...string) ([]Archive, error) {
	var archives []Archive
	for _, dir := range append([]string{c.Source("images")}, further...) {
		folders, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, folder := range folders {
			d, err := readDefinition(filepath.Join(dir, folder.Name()))
			if err != nil {
				return nil, err
			}
			built, err := d.archives(ctx, log)
			if err != nil {
				return nil, fmt.Errorf("image %s: %w", d.name(), err)
			}
			archives = append(archives, built...)
		}
	}
	return archives, nil
}

// archives returns the definition's images from the cache.
func (d definition) archives(ctx context.Context, log io.Writer) ([]Archive, error) {
	key, err := d.key()
	if err != nil {
		return nil, err
	}
	home, err := checkout.Cache("images", d.name())
	if err != nil {
		return nil, err
	}
	dir, err := cache.Entry(ctx, home, key, func(dir string) error { return d.build(ctx, dir, log) })
	if err != nil {
		return nil, err
	}
	versions, err := readVersions(filepath.Join(dir, versionsFile))
	if err != nil {
		return nil, err
	}
	wanted := map[string]string{}
	for name := range d.Versions {
		wanted[name] = versions[name]
	}
	var archives []Archive
	for _, spec := range d.specs("") {
		archives = append(archives, Archive{Ref: spec.Ref, Path: archivePath(dir, spec.Ref), Versions: wanted})
	}
	return archives, nil
}

func archivePath(dir, ref string) string {
	return filepath.Join(dir, strings.ReplaceAll(ref, ":", "-")+".tar")
}

// build puts the images and the list of their versions into dir.
func (d definition) build(ctx context.Context, dir string, log io.Writer) error {
	step.Say("building image %s on Debian %s (once; it takes a minute or two)", d.name(), d.Suite)
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	rootFS := filepath.Join(work, "rootfs.tar")
	if err := d.makeRootFS(ctx, rootFS, filepath.Join(dir, versionsFile), log); err != nil {
		return err
	}
	versions, err := readVersions(filepath.Join(dir, versionsFile))
	if err != nil {
		return err
	}
	if err := d.check(ctx, versions); err != nil {
		return err
	}
	for _, spec := range d.specs(rootFS) {
		if err := spec.Write(archivePath(dir, spec.Ref)); err != nil {
			return err
		}
	}
	return os.RemoveAll(work)
}

package image

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"kvinfra/infra/local/internal/cache"
)

// definition is a folder with an image.yaml, an executable customize.sh that finishes
// the root file system, and the files that customize.sh uses.
type definition struct {
	dir string

	Suite           string            `json:"suite"`           // the release of Debian
	Packages        []string          `json:"packages"`        // beside the essential ones
	MachinePackages []string          `json:"machinePackages"` // what customize.sh needs on this machine
	Versions        map[string]string `json:"versions"`        // by package or wheel: an operator of dpkg, a space, a version
	Tags            []string          `json:"tags"`            // each makes an image, of the folder's name
	Entrypoint      []string          `json:"entrypoint"`
	Env             []string          `json:"env"`
	User            string            `json:"user"`
	WorkingDir      string            `json:"workingDir"`
}

func readDefinition(dir string) (definition, error) {
	file := filepath.Join(dir, "image.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return definition{}, err
	}
	d := definition{dir: dir}
	if err := yaml.UnmarshalStrict(text, &d); err != nil {
		return definition{}, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// name is what the definition's images are called.
func (d definition) name() string { return filepath.Base(d.dir) }

// key returns a hash of all that decides what the images hold.
func (d definition) key() (string, error) {
	return cache.Key(d.dir, d.bootstrap(), d.specs(""))
}

// specs returns the images, one for each tag, with this root file system.
func (d definition) specs(rootFS string) []Spec {
	var specs []Spec
	for _, tag := range d.Tags {
		specs = append(specs, Spec{
			Ref:        d.name() + ":" + tag,
			Entrypoint: d.Entrypoint,
			Env:        append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, d.Env...),
			User:       d.User,
			WorkingDir: d.WorkingDir,
			// Gives each tag an image ID of its own.
			Labels: map[string]string{"org.opencontainers.image.ref.name": tag},
			RootFS: rootFS,
		})
	}
	return specs
}

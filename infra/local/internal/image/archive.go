package image

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Spec says what one container image holds and how it starts.
type Spec struct {
	Ref        string   // its name in pods, such as "hotkv:local"
	Entrypoint []string // what a pod's command replaces
	Cmd        []string // what a pod's args replace
	Env        []string // NAME=value
	User       string   // uid:gid in digits: the kubelet cannot tell of a name that it is not root
	WorkingDir string
	Labels     map[string]string
	RootFS     string // tar file, the lower layer; optional
	Files      []File // the layer above it; optional
}

// epoch is the time of everything in an image. With the time of the build,
// each build would be another image.
var epoch = time.Unix(0, 0).UTC()

// Write writes the image to path, as the archive that `docker load` and
// `ctr images import` read. The file appears complete or not at all.
func (s Spec) Write(path string) error {
	if err := s.write(path); err != nil {
		return fmt.Errorf("image %s: %w", s.Ref, err)
	}
	return nil
}

func (s Spec) write(path string) error {
	tag, err := name.NewTag(s.Ref)
	if err != nil {
		return err
	}
	img, err := s.image()
	if err != nil {
		return err
	}
	half, err := os.Create(path + ".half")
	if err != nil {
		return err
	}
	defer os.Remove(half.Name())
	if err := errors.Join(tarball.Write(tag, img, half), half.Close()); err != nil {
		return err
	}
	return os.Rename(half.Name(), path)
}

func (s Spec) image() (v1.Image, error) {
	layers, err := s.layers()
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Created = v1.Time{Time: epoch}
	config.Config = v1.Config{
		Entrypoint: s.Entrypoint,
		Cmd:        s.Cmd,
		Env:        s.Env,
		User:       s.User,
		WorkingDir: s.WorkingDir,
		Labels:     s.Labels,
	}
	return mutate.ConfigFile(img, config)
}

func (s Spec) layers() ([]v1.Layer, error) {
	var layers []v1.Layer
	if s.RootFS != "" {
		layer, err := tarball.LayerFromFile(s.RootFS)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	if len(s.Files) > 0 {
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return openTar(s.Files), nil })
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

//go:build linux

package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile puts content at path at once and readable to its owner alone: a
// reader never finds half of it, and a killed run leaves none.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	half, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // its mode is 0600
	if err != nil {
		return err
	}
	defer os.Remove(half.Name())
	_, err = half.Write(content)
	if err := errors.Join(err, half.Close()); err != nil {
		return err
	}
	return os.Rename(half.Name(), path)
}

// kept returns the content of path, which create made when it was not there.
func kept(path string, create func() ([]byte, error)) ([]byte, error) {
	content, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return content, err
	}
	content, err = create()
	if err != nil {
		return nil, err
	}
	return content, writeFile(path, content)
}

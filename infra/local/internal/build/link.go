package build

import (
	"os"
	"path/filepath"

	"kvinfra/infra/local/internal/checkout"
)

// Link makes binary callable as .local/bin/<name>, by each of the names.
func Link(c checkout.Checkout, binary string, names ...string) error {
	for _, name := range names {
		if err := LinkAt(c.Local("bin", name), binary); err != nil {
			return err
		}
	}
	return nil
}

// LinkAt makes path lead to binary.
func LinkAt(path, binary string) error {
	if target, err := os.Readlink(path); err == nil && target == binary {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	// A rename replaces a link at once: nobody finds it missing.
	fresh := path + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Symlink(binary, fresh); err != nil {
		return err
	}
	return os.Rename(fresh, path)
}

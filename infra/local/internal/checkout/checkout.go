// Package checkout knows where this checkout keeps what it makes. Its one rule:
// everything made goes under .local (which git ignores), except what other
// checkouts can share, which goes into the user's cache.
package checkout

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Checkout is a working copy of the repository.
type Checkout struct {
	Root string // absolute; the directory of Pulumi.yaml
}

// Find returns the checkout that the current directory is in, and sees to it
// that nobody else can read what it makes.
func Find() (Checkout, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Checkout{}, err
	}
	for ; ; dir = filepath.Dir(dir) {
		c := Checkout{Root: dir}
		_, err := os.Stat(c.Source("go.mod"))
		if err == nil {
			return c, c.makePrivate()
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return Checkout{}, errors.New("no infra/local in this directory or above it: run this inside the checkout")
		}
	}
}

// makePrivate works whatever made the folder, and whatever the umask was.
func (c Checkout) makePrivate() error {
	if err := os.MkdirAll(c.Local(), 0o700); err != nil {
		return err
	}
	return os.Chmod(c.Local(), 0o700)
}

// Local returns a path under .local, which is private to its owner: it holds
// state, keys and logs.
func (c Checkout) Local(elem ...string) string {
	return filepath.Join(append([]string{c.Root, ".local"}, elem...)...)
}

// Source returns a path under infra/local, where what we build comes from.
func (c Checkout) Source(elem ...string) string {
	return filepath.Join(append([]string{c.Root, "infra", "local"}, elem...)...)
}

// Cache returns a path in the user's cache, which all checkouts share.
func Cache(elem ...string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{dir, "kvinfra"}, elem...)...), nil
}

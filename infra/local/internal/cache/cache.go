// Package cache keeps what takes long to make where all checkouts of the user
// find it. Its one rule: an entry is there as a whole or not at all.
package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// kept is how many entries stay: the newest, and the one that another checkout
// or yesterday's branch uses.
const kept = 2

// Entry returns the folder home/key. When there is none, fill makes its content
// in a folder that is moved there afterwards. Of the other entries in home, those
// not used for the longest time go.
func Entry(ctx context.Context, home, key string, fill func(dir string) error) (string, error) {
	if err := os.MkdirAll(home, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(home, "lock"))
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return "", fmt.Errorf("wait for another process that fills %s: %w", home, err)
	}
	defer lock.Close()

	dir := filepath.Join(home, key)
	_, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = create(filepath.Join(home, "work"), dir, fill)
	}
	if err != nil {
		return "", err
	}
	return dir, prune(home, dir)
}

// create fills work, which a killed process may have left behind, and moves it to dir.
func create(work, dir string, fill func(string) error) error {
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	if err := fill(work); err != nil {
		return err
	}
	return os.Rename(work, dir)
}

// prune marks dir as used and removes the entries that were used before the
// others.
func prune(home, dir string) error {
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return err
	}
	found, err := os.ReadDir(home)
	if err != nil {
		return err
	}
	var entries []fs.FileInfo
	for _, e := range found {
		if !e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		entries = append(entries, info)
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range entries[min(kept, len(entries)):] {
		if err := os.RemoveAll(filepath.Join(home, old.Name())); err != nil {
			return err
		}
	}
	return nil
}

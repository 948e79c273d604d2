package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
)

// Key returns a hash of what the values say in JSON and of the files in dir: their
// names, their content, and whether they can be executed.
func Key(dir string, values ...any) (string, error) {
	sum := sha256.New()
	lines := json.NewEncoder(sum)
	if err := lines.Encode(values); err != nil {
		return "", err
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return lines.Encode([]any{name, info.Mode()&0o100 != 0, content})
	})
	return hex.EncodeToString(sum.Sum(nil))[:12], err
}

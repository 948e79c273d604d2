package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root is the checkout, and work the copy of it that the tests work in.
const (
	root = "../.."
	work = root + "/.local/e2e"
)

// kubeconfig leads to the cluster, in the copy: beside the stack files.
const kubeconfig = work + "/cluster.kubeconfig"

func TestMain(m *testing.M) {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// prepare removes what an earlier run left, and makes the copy.
func prepare() error {
	for _, needed := range []string{"kubeconfig", "bin/local", "bin/kubectl"} {
		if _, err := os.Stat(filepath.Join(root, ".local", needed)); err != nil {
			return fmt.Errorf("%w: run make e2e, which makes it", err)
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	if err := copyCheckout(work); err != nil {
		return fmt.Errorf("copy the checkout: %w", err)
	}
	if err := copyFile(root+"/.local/kubeconfig", kubeconfig); err != nil {
		return err
	}
	stacks, err := filepath.Glob("stacks/*.yaml")
	if err != nil {
		return err
	}
	for _, file := range stacks {
		if err := copyFile(file, filepath.Join(work, filepath.Base(file))); err != nil {
			return err
		}
	}
	return nil
}

// copyCheckout copies to a directory what a commit of the working tree would have,
// and so no kubeconfig and no state.
func copyCheckout(to string) error {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	list.Stderr = os.Stderr
	files, err := list.Output()
	if err != nil {
		return err
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		err := copyFile(filepath.Join(root, file), filepath.Join(to, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted, and not yet committed
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

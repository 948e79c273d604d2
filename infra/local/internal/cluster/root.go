//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"kvinfra/infra/local/internal/checkout"
)

// enterRoot gives the node a file system of its own: the machine's programs,
// read-only, the node's state as /var, and nothing else that outlives the node.
func enterRoot(c checkout.Checkout) error {
	// From here on nothing mounted shows on the machine.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate the node's mounts from the machine's: %w", err)
	}
	root := c.Local("cluster", "root")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	if err := mount("tmpfs", root, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	if err := fillRoot(c, root); err != nil {
		return err
	}
	// The old root is put on top of the new one and taken away.
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("make %s the node's root: %w", root, err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the machine's root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	// Shared among the node's own namespaces, as a pod may mount for others.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil {
		return fmt.Errorf("share the node's mounts with its pods: %w", err)
	}
	return shadowSysctls()
}

func fillRoot(c checkout.Checkout, root string) error {
	for _, dir := range []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if err := borrow(dir, filepath.Join(root, dir)); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/dev", "/sys"} {
		if err := bind(dir, filepath.Join(root, dir), unix.MS_REC); err != nil {
			return err
		}
	}
	if err := bind(c.Local("cluster", "var"), filepath.Join(root, "var"), 0); err != nil {
		return err
	}
	if err := bind(c.Local("cluster", "config"), filepath.Join(root, inNodeConfig), 0); err != nil {
		return err
	}
	for _, dir := range []string{"run", "tmp", "proc", inNodePrograms} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	for _, program := range nodePrograms() {
		if err := bindFile(c.Local("bin", program.Name), filepath.Join(root, inNodePrograms, program.Name)); err != nil {
			return err
		}
	}
	// What the node keeps must not hold what ends with it.
	if err := os.Symlink("/run", filepath.Join(root, "var", "run")); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return mount("proc", filepath.Join(root, "proc"), "proc", 0, "")
}

// borrow shows a folder of the machine, or a link to another one, read-only.
func borrow(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	if err := bind(from, to, unix.MS_REC); err != nil {
		return err
	}
	return mount("", to, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

func bind(from, to string, flags uintptr) error {
	for _, dir := range []string{from, to} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return mount(from, to, "", unix.MS_BIND|flags, "")
}

func bindFile(from, to string) error {
	if err := os.WriteFile(to, nil, 0o755); err != nil {
		return err
	}
	return mount(from, to, "", unix.MS_BIND, "")
}

func mount(source, target, kind string, flags uintptr, options string) error {
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		return fmt.Errorf("mount %s at %s: %w", source, target, err)
	}
	return nil
}

// shadowSysctls puts plain files over the settings that the kubelet wants to
// make for its machine: they have no namespace, and this machine is not its.
func shadowSysctls() error {
	const shadows = "/run/sysctl"
	if err := os.MkdirAll(shadows, 0o755); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"kernel/panic":         "10",
		"kernel/panic_on_oops": "1",
		"vm/overcommit_memory": "1",
		"vm/panic_on_oom":      "0",
	} {
		shadow := filepath.Join(shadows, filepath.Base(name))
		if err := os.WriteFile(shadow, []byte(value), 0o644); err != nil {
			return err
		}
		if err := mount(shadow, filepath.Join("/proc/sys", name), "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

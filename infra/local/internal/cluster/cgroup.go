//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const cgroups = "/sys/fs/cgroup"

// The kubelet puts pods below the first group. The node's own programs are in the
// second, which cannot be removed before the last of them ended.
const (
	podsGroup = "/kvinfra"
	nodeGroup = podsGroup + "/node"
)

// joinCgroups makes the node's groups, in every hierarchy of version 1 or in the
// one of version 2, and puts this process into its own. The way of version 2 was
// written after the kernel's documentation and has not run yet.
func joinCgroups() error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range roots {
		for _, group := range []string{podsGroup, nodeGroup} {
			if err := makeGroup(filepath.Join(hierarchy, group)); err != nil {
				return fmt.Errorf("make the cgroup %s: %w", group, err)
			}
		}
		if err := weigh(filepath.Join(hierarchy, podsGroup)); err != nil {
			return fmt.Errorf("weigh the cgroup %s: %w", podsGroup, err)
		}
		procs := filepath.Join(hierarchy, nodeGroup, "cgroup.procs")
		if err := os.WriteFile(procs, []byte("0"), 0o644); err != nil { // 0 is this process
			return fmt.Errorf("enter the cgroup %s: %w", nodeGroup, err)
		}
	}
	return nil
}

// makeGroup makes a group that processes can enter.
func makeGroup(group string) error {
	if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	parent := filepath.Dir(group)
	if _, err := os.Stat(filepath.Join(group, "tasks")); err != nil {
		return delegate(parent)
	}
	// A new group of version 1 has no processors.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		err := copyFile(filepath.Join(parent, file), filepath.Join(group, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// weigh gives a group as much of busy processors as four others get. The whole node
// would otherwise weigh as much as one other process, and a server in it that stands
// still while something compiles looks like one that failed.
func weigh(group string) error {
	for file, weight := range map[string]string{"cpu.shares": "4096", "cpu.weight": "400"} { // of version 1 and 2
		path := filepath.Join(group, file)
		if _, err := os.Stat(path); err != nil {
			continue // of another hierarchy or version
		}
		if err := os.WriteFile(path, []byte(weight), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// hierarchies returns the folders at which the kernel's cgroups begin.
func hierarchies() ([]string, error) {
	if _, err := os.Stat(filepath.Join(cgroups, "cgroup.controllers")); err == nil {
		return []string{cgroups}, nil
	}
	files, err := filepath.Glob(filepath.Join(cgroups, "*", "tasks"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no cgroups are mounted at %s", cgroups)
	}
	var found []string
	for _, file := range files {
		found = append(found, filepath.Dir(file))
	}
	return found, nil
}

// delegate lets the children of a group of version 2 use all its controllers.
func delegate(group string) error {
	controllers, err := os.ReadFile(filepath.Join(group, "cgroup.controllers"))
	if err != nil {
		return err
	}
	names := strings.Fields(string(controllers))
	for i := range names {
		names[i] = "+" + names[i]
	}
	return os.WriteFile(filepath.Join(group, "cgroup.subtree_control"), []byte(strings.Join(names, " ")), 0o644)
}

// removeCgroups removes the groups of ended pods, wherever a container runtime
// made one: with version 1 it does so in places that makeCgroups leaves alone.
func removeCgroups() error {
	groups, err := filepath.Glob(filepath.Join(cgroups, "*", podsGroup))
	if err != nil {
		return err
	}
	for _, group := range append(groups, filepath.Join(cgroups, podsGroup)) {
		if err := removeGroup(group); err != nil {
			return fmt.Errorf("remove the cgroup %s: %w", group, err)
		}
	}
	return nil
}

// removeGroup removes a group after its children; its files are the kernel's.
func removeGroup(group string) error {
	entries, err := os.ReadDir(group)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		if err := removeGroup(filepath.Join(group, entry.Name())); err != nil {
			return err
		}
	}
	return os.Remove(group)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

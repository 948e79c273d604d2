package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kvinfra/infra/local/internal/child"
)

// patch makes a copy of the module in staging whose dependency p.Patched is
// changed by the module's *.patch files, and returns the copy's folder. (The
// compiler's own way, -overlay, refuses files of the module cache.)
func (p Program) patch(ctx context.Context, module, staging string, log io.Writer) (string, error) {
	patches, err := filepath.Glob(filepath.Join(module, "*.patch"))
	if err != nil {
		return "", err
	}
	if len(patches) == 0 {
		return "", errors.New("there is no *.patch file in it")
	}
	original, err := download(ctx, module, p.Patched, log)
	if err != nil {
		return "", err
	}
	dependency, copied := filepath.Join(staging, "dependency"), filepath.Join(staging, "module")
	if err := os.CopyFS(dependency, os.DirFS(original)); err != nil {
		return "", err
	}
	if err := os.CopyFS(copied, os.DirFS(module)); err != nil {
		return "", err
	}
	for _, file := range patches {
		apply := child.Command(ctx, "git", "apply", file)
		apply.Dir = dependency
		// The folder is part of no repository, neither of one above nor of the one whose hook runs us.
		apply.Env = append(withoutGit(os.Environ()), "GIT_CEILING_DIRECTORIES="+staging)
		if err := child.Run(apply, log); err != nil {
			return "", err
		}
	}
	replace := goCommand(ctx, copied, "mod", "edit", "-replace", p.Patched+"=../dependency")
	return copied, child.Run(replace, log)
}

// download returns the folder of a dependency in the module cache.
func download(ctx context.Context, module, dependency string, log io.Writer) (string, error) {
	if err := child.Run(goCommand(ctx, module, "mod", "download", dependency), log); err != nil {
		return "", err
	}
	dir, err := goCommand(ctx, module, "list", "-m", "-f", "{{.Dir}}", dependency).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", dependency, err)
	}
	return strings.TrimSpace(string(dir)), nil
}

func withoutGit(env []string) []string {
	return slices.DeleteFunc(env, func(pair string) bool { return strings.HasPrefix(pair, "GIT_") })
}

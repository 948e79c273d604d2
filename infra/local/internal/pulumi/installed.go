package pulumi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"kvinfra/infra/local/internal/checkout"
)

// findInstalled looks on PATH for a pulumi with its Go language host that is
// recent enough: an older one may not know what the SDK asks for.
func findInstalled(ctx context.Context, c checkout.Checkout, needed string) (Toolchain, error) {
	path := foreignPath(c)
	bin := find(path, "pulumi")
	if bin == "" {
		return Toolchain{}, errors.New("none is installed on PATH")
	}
	out, err := exec.CommandContext(ctx, bin, "version").Output()
	if err != nil {
		return Toolchain{}, fmt.Errorf("%s version: %w", bin, err)
	}
	version := strings.TrimSpace(string(out))
	if semver.Compare(version, needed) < 0 {
		return Toolchain{}, fmt.Errorf("%s is %s, and go.mod needs %s", bin, version, needed)
	}
	if find(append([]string{filepath.Dir(bin)}, path...), "pulumi-language-go") == "" {
		return Toolchain{}, fmt.Errorf("%s comes without pulumi-language-go", bin)
	}
	return Toolchain{
		Version:  version,
		Official: true,
		bin:      bin,
		environment: []string{
			"PATH=" + strings.Join(path, string(filepath.ListSeparator)), // it prefers plugins on PATH to its own
			"PULUMI_HOME=" + c.Local("home", "installed"),
		},
	}, nil
}

// foreignPath is PATH without what we build, here or in another checkout.
func foreignPath(c checkout.Checkout) []string {
	return slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		return dir == c.Local("bin") || isBuilt(filepath.Join(dir, "pulumi"))
	})
}

// isBuilt says whether a file leads to a program that we built.
func isBuilt(file string) bool {
	programs, err := checkout.Cache("programs")
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(file)
	return err == nil && strings.HasPrefix(target, programs+string(filepath.Separator))
}

// find returns the first executable of that name in the directories.
func find(path []string, name string) string {
	for _, dir := range path {
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(file) {
			return file
		}
	}
	return ""
}

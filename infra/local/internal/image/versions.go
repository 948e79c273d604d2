package image

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// versionsFile lies beside the images: a line with name and version for each
// package and wheel in them.
const versionsFile = "versions.txt"

// readVersions returns the list that makeRootFS made.
func readVersions(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		versions[name] = version
	}
	return versions, nil
}

// check returns an error for each version that the definition does not allow.
func (d definition) check(ctx context.Context, versions map[string]string) error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(d.Versions)) {
		if versions[name] == "" {
			problems = append(problems, fmt.Errorf("%s is not in the image: add it to the packages in %s", name, d.dir))
			continue
		}
		ok, err := satisfies(ctx, versions[name], d.Versions[name])
		if err != nil {
			problems = append(problems, err)
		} else if !ok {
			problems = append(problems, fmt.Errorf("%s is %s but must be %s: choose another suite or pin in %s", name, versions[name], d.Versions[name], d.dir))
		}
	}
	return errors.Join(problems...)
}

// satisfies says whether the version is as wanted, "<operator> <version>", by
// Debian's order of versions.
func satisfies(ctx context.Context, version, wanted string) (bool, error) {
	operator, other, _ := strings.Cut(wanted, " ")
	err := exec.CommandContext(ctx, "dpkg", "--compare-versions", version, operator, other).Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("dpkg cannot compare %s with %q: %w", version, wanted, err)
	}
	return true, nil
}

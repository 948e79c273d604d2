// Package debian gets packages from Debian. Its one rule: it says what it
// installs, and why, before it changes the machine.
package debian

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"kvinfra/infra/local/internal/child"
	"kvinfra/infra/local/internal/step"
)

// Install installs those of the packages that the machine lacks; purpose ends
// the sentence "they are needed to ...".
func Install(ctx context.Context, log io.Writer, purpose string, packages ...string) error {
	lacking := missing(ctx, packages)
	if len(lacking) == 0 {
		return nil
	}
	args := append([]string{"install", "--yes", "--no-install-recommends"}, lacking...)
	advice := "apt-get " + strings.Join(args, " ")
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("the Debian packages %s are needed to %s, and this machine has no apt-get", strings.Join(lacking, ", "), purpose)
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("missing Debian packages, needed to %s: as root, run %s", purpose, advice)
	}
	step.Say("%s (needed to %s)", advice, purpose)
	if err := aptGet(ctx, log, "update"); err != nil {
		return err
	}
	return aptGet(ctx, log, args...)
}

// missing returns the packages that are not installed. It cannot fail: without
// dpkg-query all of them are missing.
func missing(ctx context.Context, packages []string) []string {
	args := append([]string{"--show", "--showformat", "${Package} ${db:Status-Status}\n"}, packages...)
	out, _ := exec.CommandContext(ctx, "dpkg-query", args...).Output()
	known := strings.Split(string(out), "\n")
	return slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		return slices.Contains(known, p+" installed")
	})
}

func aptGet(ctx context.Context, log io.Writer, args ...string) error {
	// Another apt, say the machine's own daily one, may hold the lock for a while.
	cmd := child.Command(ctx, "apt-get", append([]string{"--option", "DPkg::Lock::Timeout=300"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	return child.Run(cmd, log)
}

// Mirror returns the address of the Debian archive that this machine uses.
func Mirror(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets",
		"--format", "$(ORIGIN)/$(LABEL) $(SITE)", "Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("apt-get indextargets: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		// Debian's security archive, and those of others, have another label or origin.
		if site, ok := strings.CutPrefix(strings.TrimSpace(line), "Debian/Debian "); ok {
			return site, nil
		}
	}
	return "", errors.New("apt knows no Debian mirror: run apt-get update, and look at /etc/apt/sources.list.d if that does not help")
}

// Acquire returns the settings with which this machine's apt reaches its mirror,
// in the form of an apt.conf: proxies, certificates, and no check of dates where
// the mirror is a frozen copy.
func Acquire(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-config", "dump", "--no-empty", "Acquire").Output()
	if err != nil {
		return "", fmt.Errorf("apt-config dump: %w", err)
	}
	return connection(string(out)), nil
}

// connection returns the lines of an apt.conf that say how to fetch; the others
// say what.
func connection(conf string) string {
	var lines strings.Builder
	for line := range strings.Lines(conf) {
		for _, prefix := range []string{"http", "check-", "retries", "forceipv"} {
			if strings.HasPrefix(strings.ToLower(line), "acquire::"+prefix) {
				lines.WriteString(line)
			}
		}
	}
	return lines.String()
}

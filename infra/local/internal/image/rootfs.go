package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kvinfra/infra/local/internal/child"
	"kvinfra/infra/local/internal/debian"
)

// bootstrap returns what mmdebstrap is told, except for what differs between machines.
func (d definition) bootstrap() []string {
	return []string{
		"--variant=essential",
		"--include=" + strings.Join(d.Packages, ","),
		`--aptopt=APT::Install-Recommends "false"`,
		`--aptopt=Acquire::Languages "none"`,
		// Others may not look into a home directory, apt's own user neither.
		`--aptopt=APT::Sandbox::User "root"`,
		"--dpkgopt=path-exclude=/usr/share/doc/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*",
		"--dpkgopt=path-exclude=/usr/share/man/*",
		"--customize-hook=" + `"$DEFINITION/customize.sh" "$1"`,
		"--customize-hook=" + `dpkg-query --admindir="$1/var/lib/dpkg" --show --showformat '${Package} ${Version}\n' >>"$VERSIONS"`,
		// mmdebstrap leaves in there which machine and which mirror the files come from.
		"--customize-hook=" + `rm -f "$1/etc/apt/sources.list" "$1/etc/apt/apt.conf.d/99mmdebstrap" "$1/etc/hostname" "$1/etc/resolv.conf"`,
	}
}

// makeRootFS writes the root file system as a tar file, and the list of what is in
// it. What it leaves beside the tar file is of no use.
func (d definition) makeRootFS(ctx context.Context, rootFS, versions string, log io.Writer) error {
	if os.Geteuid() != 0 {
		return errors.New("only root can make a root file system: run this as root, or name images of a registry in the stack file")
	}
	needed := append([]string{"mmdebstrap"}, d.MachinePackages...)
	if err := debian.Install(ctx, log, "build the image "+d.name(), needed...); err != nil {
		return err
	}
	mirror, err := debian.Mirror(ctx)
	if err != nil {
		return err
	}
	acquire, err := debian.Acquire(ctx)
	if err != nil {
		return err
	}
	aptConf := rootFS + ".apt.conf"
	if err := os.WriteFile(aptConf, []byte(acquire), 0o644); err != nil {
		return err
	}
	args := append(isolated(), "mmdebstrap", "--mode=root", "--aptopt="+aptConf)
	args = append(args, d.bootstrap()...)
	// As a line of sources.list, because mmdebstrap does not take every address that apt takes.
	args = append(args, d.Suite, rootFS, fmt.Sprintf("deb %s %s main", mirror, d.Suite))
	cmd := child.Command(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(),
		"TMPDIR="+filepath.Dir(rootFS),
		"DEFINITION="+d.dir,
		"VERSIONS="+versions,
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", epoch.Unix()),
	)
	if err := child.Run(cmd, log); err != nil {
		return fmt.Errorf("make the root file system: %w", err)
	}
	return nil
}

// isolated returns the start of a command line whose program mounts only in a
// namespace of its own, and is killed with everything that it started when we
// are. (unshare alone would not be: it ignores a polite SIGTERM.)
func isolated() []string {
	return []string{"setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--"}
}

// Package pulumi finds or builds the Pulumi command line and runs it on the
// checkout's stacks. Its one rule: state, passphrase and settings are those of
// the checkout, under .local; what the user's shell exports changes nothing.
package pulumi

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"

	"kvinfra/infra/local/internal/checkout"
)

// sdk is what decides which pulumi a module needs.
const sdk = "github.com/pulumi/pulumi/sdk/v3"

// Toolchain is a Pulumi command line with all that it starts.
type Toolchain struct {
	Version  string
	Official bool // installed by the user; it downloads its plugins itself

	bin         string   // the command
	environment []string // what it needs besides the stack's
}

// String says which one it is, in words for the user.
func (t Toolchain) String() string {
	if t.Official {
		return fmt.Sprintf("pulumi %s at %s", t.Version, t.bin)
	}
	return fmt.Sprintf("pulumi %s, built from its Go modules", t.Version)
}

// Tools returns the pulumi that the user has installed when it is recent enough
// for the program, and builds ours otherwise.
func Tools(ctx context.Context, c checkout.Checkout, log io.Writer) (Toolchain, error) {
	module := filepath.Join(c.Root, "go.mod")
	needed, err := requiredVersion(module, sdk)
	if err != nil {
		return Toolchain{}, err
	}
	installed, err := findInstalled(ctx, c, needed)
	if err == nil {
		return installed, nil
	}
	fmt.Fprintf(log, "building pulumi: %v\n", err)
	return buildTools(ctx, c, module, log)
}

// requiredVersion reads from a go.mod which version of a dependency is used.
func requiredVersion(file, dependency string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	module, err := modfile.ParseLax(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, r := range module.Require {
		if r.Mod.Path == dependency {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", file, dependency)
}

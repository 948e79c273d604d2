package pulumi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/child"
)

// Stack is a stack of the checkout, with its state under .local.
//
// Pulumi writes into the stack file that it works on, so it gets a copy of the
// tracked one.
type Stack struct {
	Name string

	checkout checkout.Checkout
	tools    Toolchain
	settings []string // more of pulumi's environment
}

// Find returns a stack that the checkout has a file for.
func Find(c checkout.Checkout, name string) (Stack, error) {
	if !regexp.MustCompile(`^[\w.][\w.-]{0,99}$`).MatchString(name) {
		return Stack{}, fmt.Errorf("%q cannot be the name of a stack: it has at most 100 letters, digits, dashes, dots and underscores, and no dash first", name)
	}
	names, err := stackNames(c)
	if err != nil {
		return Stack{}, err
	}
	if !slices.Contains(names, name) {
		return Stack{}, fmt.Errorf("there is no stack %q (no file %s); there is: %s", name, stackFile(name), strings.Join(names, ", "))
	}
	return Stack{Name: name, checkout: c}, nil
}

// stackNames returns the stacks that the checkout has files for.
func stackNames(c checkout.Checkout) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(c.Root, stackFile("?*")))
	if err != nil {
		return nil, err
	}
	before, after, _ := strings.Cut(stackFile("*"), "*")
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), before), after))
	}
	return names, nil
}

func stackFile(name string) string { return "Pulumi." + name + ".yaml" }

// Open returns the stack ready to be worked on with the tools, and makes its
// state when there is none.
func (s Stack) Open(ctx context.Context, tools Toolchain, log io.Writer) (Stack, error) {
	s.tools = tools
	c := s.checkout
	if err := os.MkdirAll(c.Local("state"), 0o700); err != nil {
		return s, err
	}
	if err := makePassphrase(c.Local("passphrase")); err != nil {
		return s, err
	}
	for _, file := range []string{"Pulumi.yaml", stackFile(s.Name)} {
		if err := copyFile(filepath.Join(c.Root, file), c.Local(file)); err != nil {
			return s, err
		}
	}
	// This command alone takes no --config-file, but a directory.
	return s, child.Run(s.command(ctx, "-C", c.Local(), "stack", "select", "--create", s.Name), log)
}

// Compile makes the program, as the language host would. Doing it before tells
// the user what takes long the first time.
func (s Stack) Compile(ctx context.Context, log io.Writer) error {
	cmd := child.Command(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-w -s", "-o", s.checkout.Local("bin", "infra"), ".")
	cmd.Dir = filepath.Join(s.checkout.Root, "infra")
	cmd.Env = s.environment()
	return child.Run(cmd, log)
}

// Check has the compiled program read the stack's file. Its error says what is wrong
// with it.
func (s Stack) Check(ctx context.Context) error {
	cmd := child.Command(ctx, s.checkout.Local("bin", "infra"), "render", s.Name)
	cmd.Dir = s.checkout.Root
	var words strings.Builder
	cmd.Stderr = &words
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("stack %s: %w\n%s", s.Name, err, words.String())
	}
	return nil
}

// makePassphrase generates what the secrets in the state are encrypted with. It
// is there as a whole or not at all, and never replaced: it opens the state.
func makePassphrase(file string) error {
	f, err := os.CreateTemp(filepath.Dir(file), "passphrase-") // for its owner only
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(rand.Text())
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), file); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// environment is the user's without what would point pulumi, a plugin or the
// program at something else than this checkout and its stack file.
func (s Stack) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "KUBECONFIG=") || strings.HasPrefix(pair, "PULUMI_")
	})
	state := url.URL{Scheme: "file", Path: s.checkout.Local("state")}
	return slices.Concat(env, s.tools.environment, s.settings, []string{
		"PULUMI_BACKEND_URL=" + state.String(),
		"PULUMI_CONFIG_PASSPHRASE_FILE=" + s.checkout.Local("passphrase"),
		"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER=true", // the copied stack file has no salt, the state has
		"PULUMI_SKIP_UPDATE_CHECK=true",
		"CGO_ENABLED=0", // as in the tests, which then share the compiled packages
	})
}

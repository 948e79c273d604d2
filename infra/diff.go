package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"kvinfra/infra/internal/manifestdiff"
	"kvinfra/stacks"
)

// diffStack writes, as Markdown, what the working tree in root changes of a stack
// since a commit. The program of that commit renders the stack file of that commit.
func diffStack(ctx context.Context, out io.Writer, root, stack, commit string) error {
	dir, err := os.MkdirTemp("", "kvinfra-diff-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	name, err := command(ctx, root, "git", "rev-parse", "--short", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return fmt.Errorf("BASE: this checkout has no commit %q (or git cannot tell): %w", commit, err)
	}
	against := strings.TrimSpace(name)
	base, err := renderingAt(ctx, root, dir, stack, against)
	if err != nil {
		return err
	}

	var head strings.Builder
	switch err := renderStack(&head, root, stack); {
	case base == "" && err != nil:
		return err
	case base == "":
		against += ", which does not have it"
	case errors.Is(err, fs.ErrNotExist):
		_, err := fmt.Fprintf(out, "### Stack `%s`: its file is removed\n\nThat removes nothing from a cluster: `pulumi destroy` does, as long as the file is there.\n", stack)
		return err
	case err != nil:
		return err
	}
	unified, err := unifiedDiff(ctx, dir, stack, base, head.String())
	if err != nil {
		return err
	}
	report, err := manifestdiff.Report(stack, against, []byte(base), []byte(head.String()), unified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, report)
	return err
}

// renderingAt returns the rendering of a commit, made in dir, or nothing when the
// commit has no such stack.
func renderingAt(ctx context.Context, root, dir, stack, commit string) (string, error) {
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o700); err != nil {
		return "", err
	}
	archive := filepath.Join(dir, "source.tar")
	if _, err := command(ctx, root, "git", "archive", "--output", archive, "--end-of-options", commit); err != nil {
		return "", err
	}
	if _, err := command(ctx, source, "tar", "-xf", archive); err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(source, stacks.File(stack))); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return command(ctx, source, "go", "run", "./infra", "render", stack)
}

// unifiedDiff compares two renderings line by line. The head of each hunk names
// the object that it is in.
func unifiedDiff(ctx context.Context, dir, stack, base, head string) (string, error) {
	for name, text := range map[string]string{
		"base/" + stack + ".yaml": base,
		"head/" + stack + ".yaml": head,
		"attributes":              "*.yaml diff=manifests\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	cmd := exec.CommandContext(ctx, "git", "-c", "core.attributesFile=attributes", "-c", "diff.manifests.xfuncname=^# ([^ ].*)$",
		"diff", "--no-index", "--no-prefix", "--no-color", "--no-ext-diff", "base/"+stack+".yaml", "head/"+stack+".yaml")
	cmd.Dir = dir
	text, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1 says that they differ
		return "", failure(cmd, err)
	}
	// Git's own two lines say nothing here.
	if at := strings.Index(string(text), "--- "); at > 0 {
		text = text[at:]
	}
	return string(text), nil
}

// command runs a program and returns what it prints.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", failure(cmd, err)
	}
	return string(out), nil
}

// failure adds to an error what the program said.
func failure(cmd *exec.Cmd, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
}

// Package child starts other programs. Its one rule: what was started here is
// interrupted when we are, and when we are killed.
package child

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// patience is how long an interrupted program may take to tidy up after itself.
const patience = 30 * time.Second

// Command is exec.CommandContext for a program that starts others: when ctx
// ends, the whole family is interrupted, and its head killed when it does not
// listen.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = patience
	return cmd
}

// Run runs cmd with its words going to log. An error carries the last of them.
func Run(cmd *exec.Cmd, log io.Writer) error {
	fmt.Fprintf(log, "$ %s\n", cmd)
	var words bytes.Buffer
	cmd.Stdout = io.MultiWriter(log, &words)
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[:min(2, len(cmd.Args))], " "), err, lastLines(words.String()))
	}
	return nil
}

// lastLines returns the end of a program's words, which is where it says why it
// gave up.
func lastLines(words string) string {
	const most = 8
	lines := strings.Split(strings.TrimSpace(words), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}

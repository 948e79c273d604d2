package pulumi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"kvinfra/infra/local/internal/child"
)

// Run runs a pulumi command that works with the stack's settings (preview, up,
// refresh, destroy).
func (s Stack) Run(ctx context.Context, out, errs *os.File, command string, args ...string) error {
	return s.run(ctx, out, errs, slices.Concat([]string{command, "--config-file", s.settingsFile()}, args)...)
}

// Output prints what the program exports.
func (s Stack) Output(ctx context.Context, out, errs *os.File, args ...string) error {
	return s.run(ctx, out, errs, slices.Concat([]string{"stack", "output"}, args)...)
}

// Up makes the cluster what the program says. It returns what changed, in words.
func (s Stack) Up(ctx context.Context, log *os.File, args ...string) (string, error) {
	start, err := log.Seek(0, io.SeekCurrent)
	if err != nil {
		return "", err
	}
	failure := s.Run(ctx, log, log, "up", append([]string{"--yes"}, args...)...)
	words, err := io.ReadAll(io.NewSectionReader(log, start, math.MaxInt64-start))
	switch {
	case err != nil:
		return "", errors.Join(failure, err)
	case failure != nil:
		return "", fmt.Errorf("%w\n%s", failure, diagnostics(string(words)))
	}
	return changes(string(words)), nil
}

// Unlock brings a stack back whose run was killed: it ends what that run left,
// removes its lock, and finishes what it was making, so that no object is left half
// known to the state. It returns what it did, in words.
func (s Stack) Unlock(ctx context.Context, log *os.File) (string, error) {
	if err := s.idle(); err != nil {
		return "", err
	}
	if err := end(s.runs()); err != nil {
		return "", err
	}
	pending, err := s.pending()
	if err != nil {
		return "", err
	}
	did := "nothing to unlock"
	if s.locked() {
		if err := s.run(ctx, log, log, "cancel", "--yes"); err != nil {
			return "", err
		}
		did = "the lock is gone"
	}
	if len(pending) == 0 {
		return did, nil
	}
	if !slices.Contains(pending, "deleting") { // a destroy is not to be undone
		s.settings = []string{"PULUMI_K8S_ENABLE_PATCH_FORCE=true", "PULUMI_K8S_UPSERT_EXISTING_OBJECTS=true"}
		changes, err := s.Up(ctx, log)
		if err != nil {
			return "", err
		}
		did += ", and the up that was killed is finished: " + changes
	}
	return did, s.Run(ctx, log, log, "refresh", "--yes", "--skip-preview", "--clear-pending-creates")
}

// run runs a pulumi command on the stack and leaves none of its plugins behind.
//
// It writes to files and not to any writer: when we are killed, pulumi gets a
// signal and tidies up, and a pipe that nobody reads would kill it while it does.
func (s Stack) run(ctx context.Context, out, errs *os.File, args ...string) error {
	run := fmt.Sprintf("%s%d:", s.runs(), os.Getpid())
	cmd := s.command(ctx, append(args, "--stack", s.Name)...)
	cmd.Env = append(cmd.Env, mark+run)
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	if err := end(run); err != nil {
		return err
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if args[0] != "preview" && s.locked() {
		err = cmp.Or(s.idle(), fmt.Errorf("a run that was killed left the stack locked: make unlock STACK=%s", s.Name))
	}
	return fmt.Errorf("pulumi %s: %w", args[0], err)
}

// locked says whether a run has, or had when it was killed, the stack for itself.
func (s Stack) locked() bool {
	locks, err := filepath.Glob(s.checkout.Local("state", ".pulumi", "locks", "*", "*", s.Name, "*.json"))
	return err == nil && len(locks) > 0
}

// idle is an error when a run works on the stack.
func (s Stack) idle() error {
	found, err := processes(s.runs())
	if err != nil {
		return err
	}
	for _, p := range found {
		if p.name == "pulumi" {
			return fmt.Errorf("process %d works on stack %s: wait for it or interrupt it", p.id, s.Name)
		}
	}
	return nil
}

// runs is how the names of all runs on this stack start, and of no others.
func (s Stack) runs() string { return s.settingsFile() + ":" }

// settingsFile is the copy of the stack file that pulumi may write to.
func (s Stack) settingsFile() string { return s.checkout.Local(stackFile(s.Name)) }

// command is pulumi with the checkout's settings and without the user's.
func (s Stack) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := child.Command(ctx, s.tools.bin, append(args, "--non-interactive")...)
	cmd.Dir = s.checkout.Root
	cmd.Env = s.environment()
	return cmd
}

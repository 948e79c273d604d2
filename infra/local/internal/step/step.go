// Package step runs one step of a longer job and tells the user about it. Its
// one rule: a line when the step starts, a line with its time when it ends, and
// everything else in the step's log. Lines go to standard error: standard output
// is for what was asked for.
package step

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Run calls do with a log that it can write to. A failure comes back with the
// name of the step and the place of its log.
func Run(name, logFile string, do func(log io.Writer) error) error {
	return RunFile(name, logFile, func(log *os.File) error { return do(log) })
}

// RunFile is Run for what needs the log as a file.
func RunFile(name, logFile string, do func(log *os.File) error) error {
	if err := os.MkdirAll(filepath.Dir(logFile), 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	start := time.Now()
	fmt.Fprintf(os.Stderr, "==> %s\n", name)
	if err := do(log); err != nil {
		fmt.Fprintf(os.Stderr, "==> %s: failed after %.1f s\n", name, time.Since(start).Seconds())
		return fmt.Errorf("%s: %w\n(log: %s)", name, err, logFile)
	}
	fmt.Fprintf(os.Stderr, "==> %s: %.1f s\n", name, time.Since(start).Seconds())
	return nil
}

// Say tells the user something worth knowing while a step runs.
func Say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "    "+format+"\n", args...)
}

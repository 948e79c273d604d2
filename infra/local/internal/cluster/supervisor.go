//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// component is a program that must always run.
type component struct {
	name    string
	program string
	args    []string
	env     []string
}

// supervisor runs components, starts again what ends, and buries the orphans
// that a first process of a namespace inherits.
type supervisor struct {
	logs   string    // folder, a file per component
	log    io.Writer // of the supervisor itself
	wanted chan component
}

func newSupervisor(logs string, log io.Writer) *supervisor {
	return &supervisor{logs: logs, log: log, wanted: make(chan component)}
}

// start has run start the components.
func (s *supervisor) start(ctx context.Context, components ...component) {
	for _, c := range components {
		select {
		case s.wanted <- c:
		case <-ctx.Done():
		}
	}
}

// run works until ctx ends. The components end with this process: by its death,
// however it dies, the kernel kills them.
func (s *supervisor) run(ctx context.Context) error {
	runtime.LockOSThread() // the kernel takes the end of the thread that started a program for the end of its parent
	defer runtime.UnlockOSThread()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	running := map[int]component{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case c := <-s.wanted:
			pid, err := s.launch(c)
			if err != nil {
				return fmt.Errorf("start %s: %w", c.name, err)
			}
			running[pid] = c
		case <-ended:
			s.bury(ctx, running)
		}
	}
}

func (s *supervisor) launch(c component) (pid int, err error) {
	log, err := os.OpenFile(filepath.Join(s.logs, c.name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	cmd := exec.Command(c.program, c.args...)
	cmd.Args[0] = c.name // one binary holds all programs of Kubernetes and goes by this name
	cmd.Env = append([]string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, c.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release() // bury waits for it
}

// bury collects every child that ended. Those of them that must run are started
// again after a pause, which a program that fails at once would fill with work.
func (s *supervisor) bury(ctx context.Context, running map[int]component) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid == 0 {
			return
		}
		c, ok := running[pid]
		if !ok {
			continue
		}
		delete(running, pid)
		fmt.Fprintf(s.log, "%s %s ended (%s): starting it again\n", time.Now().Format(time.TimeOnly), c.name, reason(status))
		time.AfterFunc(time.Second, func() { s.start(ctx, c) })
	}
}

func reason(status syscall.WaitStatus) string {
	if status.Signaled() {
		return status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

package pulumi

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mark is the variable by which we recognise the processes of one run: pulumi
// hands its environment on to the plugins and to the program, which outlive it
// when it is killed (they are in process groups of their own).
const mark = "KVINFRA_RUN="

// process is a running program of one of our runs.
type process struct {
	id   int
	name string
}

// processes returns those whose mark starts with run. There are none where the
// system does not show processes as files.
func processes(run string) ([]process, error) {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, err
	}
	var found []process
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil { // it ended, or it is somebody else's
			continue
		}
		if !bytes.Contains(append([]byte{0}, environment...), []byte("\x00"+mark+run)) {
			continue
		}
		dir := filepath.Dir(file)
		id, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			return nil, err
		}
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err != nil {
			continue
		}
		found = append(found, process{id, strings.TrimSpace(string(name))})
	}
	return found, nil
}

// end ends what is left of a run whose pulumi is gone. A plugin has nothing to
// tidy up: what it was asked to do is either done or noted in the state as
// pending.
func end(run string) error {
	for range 50 {
		left, err := processes(run)
		if err != nil || len(left) == 0 {
			return err
		}
		for _, p := range left {
			_ = syscall.Kill(p.id, syscall.SIGKILL) // it fails when the process has just ended, as it should
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("processes of the run %s do not end", run)
}

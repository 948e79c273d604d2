package spec

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stopping is a store of which a process runs, and a master that drains it.
type stopping struct {
	t      *testing.T
	master string
	port   string
	log    string
	ended  chan error

	scripts string                               // where they are
	wrap    func(next http.Handler) http.Handler // answers for the master

	job    map[string]any // what the master was asked to move
	status string         // of the other store's segment, once it was asked
}

// noOther is an other store that stops too.
const noOther = -1

// newStopping starts a stand-in for the store's process; joined says whether its
// HTTP interface is open, used how full it and one other store of 100 bytes are.
func newStopping(t *testing.T, joined bool, used, other int, job map[string]any) *stopping {
	t.Helper()
	needsPython(t)
	s := &stopping{t: t, status: "OK", scripts: shipped, log: filepath.Join(t.TempDir(), "log"), ended: make(chan error, 1)}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	_, s.port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	if !joined {
		listener.Close()
	}

	log, err := os.Create(s.log)
	require.NoError(t, err)
	defer log.Close()
	process := exec.Command("python3", "-c", "import time; time.sleep(60)", "mooncake.mooncake_store_service", "--port", s.port)
	process.Stdout = log
	require.NoError(t, process.Start())
	go func() { s.ended <- process.Wait() }()
	t.Cleanup(func() { _ = process.Process.Kill() })

	f := &fake{t: t, address: "127.0.0.1", wrap: func(next http.Handler) http.Handler {
		if s.wrap != nil {
			return s.wrap(next)
		}
		return next
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("/get_all_segments", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/get_segments_detail", func(w http.ResponseWriter, _ *http.Request) {
		status := "OK"
		if other == noOther {
			status = "DRAINING"
		} else if s.job != nil {
			status = s.status
		}
		segment := func(name, address, status string, used int) string {
			return fmt.Sprintf(`{"segment_name":%q,"te_endpoint":"%s:15000","status":%q,"size_bytes":100,"allocator_used_bytes":%d}`, name, address, status, used)
		}
		fmt.Fprintf(w, `{"segments":[%s,%s,%s]}`,
			segment("mine", "10.0.0.1", "OK", used), segment("other", "10.0.0.2", status, max(other, 0)), segment("leaving", "10.0.0.3", "DRAINING", 0))
	})
	mux.HandleFunc("POST /api/v1/drain_jobs", func(w http.ResponseWriter, r *http.Request) {
		if job == nil {
			http.Error(w, "busy", http.StatusConflict)
			return
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&s.job))
		fmt.Fprint(w, `{"job_id":"7"}`)
	})
	mux.HandleFunc("/api/v1/drain_jobs/query", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(job)
	})
	s.master = f.serve(mux).Listener.Addr().String()
	return s
}

// drain runs the hook and returns what is in the log of the store afterwards.
func (s *stopping) drain(seconds string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 40*time.Second)
	defer cancel()
	script := python(ctx, s.scripts+"/drain.py", s.master, s.port, seconds, "0")
	script.Env = append(os.Environ(), "POD_IP=10.0.0.1")
	said, err := script.CombinedOutput()
	require.NoError(s.t, err, string(said))
	log, err := os.ReadFile(s.log)
	require.NoError(s.t, err)
	assert.Equal(s.t, string(log), string(said), "the hook's words are not in the store's log")
	return strings.TrimSpace(string(log))
}

func (s *stopping) assertRuns() {
	s.t.Helper()
	select {
	case <-s.ended:
		s.t.Error("the store was killed: it must end by SIGTERM, to say goodbye")
	default:
	}
}

// state is what the master says of a job.
func state(status string, moved, blocked int) map[string]any {
	return map[string]any{
		"status_name": status, "succeeded_units": moved, "migrated_bytes": 10 * moved, "active_units": 0, "blocked_units": blocked, "failed_units": 0,
	}
}

func TestAStoreIsEmptiedBeforeItStops(t *testing.T) {
	s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
	assert.Equal(t, "drain: SUCCEEDED, 4 values (40 bytes) moved, 0 blocked, 0 failed", s.drain("10"))
	assert.Equal(t, []any{"mine"}, s.job["segments"])
	s.assertRuns()
}

func TestAStoreWithoutKeysStopsAtOnce(t *testing.T) {
	s := newStopping(t, true, 0, 50, nil)
	assert.Equal(t, "drain: nothing to move", s.drain("10"))
	assert.Nil(t, s.job)
	s.assertRuns()
}

func TestNothingIsMovedWithoutRoom(t *testing.T) {
	s := newStopping(t, true, 60, 50, nil)
	assert.Equal(t, "drain: skipped: 60 bytes to move, but the other stores have room for 50", s.drain("10"))
	assert.Nil(t, s.job)
	s.assertRuns()
}

func TestAMasterThatRefusesIsNoReasonToKillTheStore(t *testing.T) {
	s := newStopping(t, true, 40, 50, nil)
	assert.Equal(t, "drain: skipped: the master answers /api/v1/drain_jobs with status 409, busy", s.drain("10"))
	s.assertRuns()
}

func TestADrainEndsInTime(t *testing.T) {
	s := newStopping(t, true, 40, 50, state("RUNNING", 1, 3))
	assert.Equal(t, "drain: out of time: RUNNING, 1 values (10 bytes) moved, 3 blocked, 0 failed", s.drain("1"))
	s.assertRuns()
}

func TestADrainDoesNotWaitForValuesThatAreReadAllTheTime(t *testing.T) {
	s := newStopping(t, true, 40, 50, state("RUNNING", 1, 3))
	start := time.Now()
	assert.Equal(t, "drain: the rest is read all the time: RUNNING, 1 values (10 bytes) moved, 3 blocked, 0 failed", s.drain("60"))
	assert.Less(t, time.Since(start), 30*time.Second)
	s.assertRuns()
}

func TestNothingIsMovedToStoresThatStopToo(t *testing.T) {
	s := newStopping(t, true, 40, 50, state("RUNNING", 1, 3))
	s.status = "DRAINING"
	assert.Equal(t, "drain: no other store stays: RUNNING, 1 values (10 bytes) moved, 3 blocked, 0 failed", s.drain("60"))
	s.assertRuns()

	s = newStopping(t, true, 40, noOther, nil)
	assert.Equal(t, "drain: skipped: 40 bytes to move, but no other store stays", s.drain("60"))
	assert.Nil(t, s.job)
	s.assertRuns()
}

func TestAStoreThatCannotEndIsKilled(t *testing.T) {
	s := newStopping(t, false, 0, 0, nil)
	assert.Equal(t, "drain: stopping at once: the store has not joined the cluster", s.drain("10"))
	assert.ErrorContains(t, <-s.ended, "killed")

	s = newStopping(t, true, 40, 0, nil)
	s.master = "127.0.0.1:1"
	assert.Contains(t, s.drain("10"), "drain: stopping at once: no master serves at 127.0.0.1:1")
	assert.ErrorContains(t, <-s.ended, "killed")
}

func TestLifecycle(t *testing.T) {
	c := valid()
	assert.Equal(t, 75, c.StoreGraceSeconds())
	assert.Equal(t, []string{"python3", "/scripts/drain.py", "m-master.default.svc:9003", "8088", "60", "10"}, c.StoreStopCommand("m"))

	old := older()
	assert.Equal(t, 15, old.StoreGraceSeconds())
	assert.Nil(t, old.StoreStopCommand("m"))

	none := 0
	c.Store.DrainSeconds = &none
	assert.Nil(t, c.WithDefaults().StoreStopCommand("m"), "0 is a choice")
}

package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const (
	detailPath = "/get_segments_detail"
	jobPath    = "/api/v1/drain_jobs"
	queryPath  = "/api/v1/drain_jobs/query"
)

// skips runs the hook and says that it leaves the store alone, for that reason.
func (s *stopping) skips(want string) {
	s.t.Helper()
	said := s.drain("30") + "\n"
	assertReadable(s.t, "drain", said)
	assert.Equal(s.t, 1, strings.Count(said, "\n"), said)
	assert.Contains(s.t, said, "drain: skipped: ")
	assert.Contains(s.t, said, want)
	s.assertRuns()
}

func TestAMasterThatAnswersNonsenseIsNoReasonToKillTheStore(t *testing.T) {
	needsPython(t)
	for _, path := range []string{detailPath, jobPath, queryPath} {
		for _, answer := range []string{"", "[]", `"7"`, "{}", "NaN", strings.Repeat("[", 100000), strings.Repeat("9", 1e6), "\xff"} {
			t.Run(fmt.Sprintf("%s %.10q", path, answer), func(t *testing.T) {
				t.Parallel()
				s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
				s.wrap = at(path, body(answer))
				s.skips("the master answers " + path)
			})
		}
	}
}

func TestASegmentIsWhatAReleaseWrites(t *testing.T) {
	needsPython(t)
	segments := func(field, value string) string {
		all := map[string]string{
			"segment_name": `"mine"`, "te_endpoint": `"10.0.0.1:15000"`, "status": `"OK"`, "size_bytes": "100", "allocator_used_bytes": "40",
		}
		all[field] = value
		var fields []string
		for name, v := range all {
			if v != "" {
				fields = append(fields, fmt.Sprintf("%q:%s", name, v))
			}
		}
		return `{"segments":[{` + strings.Join(fields, ",") + `}]}`
	}
	for what, tc := range map[string]struct{ answer, want string }{
		"segments as an object":   {`{"segments":{}}`, "segments as an object instead of a list"},
		"a segment as a number":   {`{"segments":[7]}`, "a number instead of an object with segment_name"},
		"a name as a list":        {segments("segment_name", `["mine"]`), "segment_name as a list instead of a string"},
		"no endpoint":             {segments("te_endpoint", ""), "an object without te_endpoint"},
		"an endpoint as a number": {segments("te_endpoint", "7"), "te_endpoint as a number instead of a string"},
		"an endpoint as null":     {segments("te_endpoint", "null"), "te_endpoint as null instead of a string"},
		"a status as a number":    {segments("status", "1"), "status as a number instead of a string"},
		"no size":                 {segments("size_bytes", ""), "an object without size_bytes"},
		"a size as a string":      {segments("size_bytes", `"100"`), "size_bytes as a string instead of a number"},
		"a size as a boolean":     {segments("size_bytes", "true"), "size_bytes as a boolean instead of a number"},
		"a size as a fraction":    {segments("size_bytes", "1.5"), "size_bytes as a fraction instead of a number"},
		"an infinite size":        {segments("size_bytes", "1e400"), "size_bytes as a fraction instead of a number"},
		"a size of 2^64":          {segments("size_bytes", "18446744073709551616"), "18446744073709551616 as size_bytes"},
		"a negative use":          {segments("allocator_used_bytes", "-1"), "-1 as allocator_used_bytes"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
			s.wrap = at(detailPath, body(tc.answer))
			s.skips("the master answers /get_segments_detail with " + tc.want)
			assert.Nil(t, s.job)
		})
	}
}

func TestAnEndpointOfAnotherStoreStopsNoDrain(t *testing.T) {
	needsPython(t)
	for _, endpoint := range []string{"", "x", ":", "10.0.0.2:99999", `\u0000\n\u001b[2J:1`} {
		s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
		s.wrap = at(detailPath, body(fmt.Sprintf(`{"segments":[
			{"segment_name":"mine","te_endpoint":"10.0.0.1:15000","status":"OK","size_bytes":100,"allocator_used_bytes":40},
			{"segment_name":"other","te_endpoint":"%s","status":"OK","size_bytes":100,"allocator_used_bytes":40}]}`, endpoint)))
		assert.Equal(t, "drain: SUCCEEDED, 4 values (40 bytes) moved, 0 blocked, 0 failed", s.drain("10"))
	}
}

// TestAJobIsNamedByItsID has names that would ask for something else, or that no
// request can hold: of those the hook said that there is no master, and killed.
func TestAJobIsNamedByItsID(t *testing.T) {
	needsPython(t)
	for what, tc := range map[string]struct{ answer, want string }{
		"none":               {`{"success":true}`, "an object without job_id"},
		"a number":           {`{"job_id":7}`, "job_id as a number instead of a string"},
		"null":               {`{"job_id":null}`, "job_id as null instead of a string"},
		"empty":              {`{"job_id":""}`, "'' as job_id"},
		"another parameter":  {`{"job_id":"7&x=1"}`, "'7&x=1' as job_id"},
		"a fragment":         {`{"job_id":"7#"}`, "'7#' as job_id"},
		"a blank":            {`{"job_id":"7 HTTP/1.1"}`, "'7 HTTP/1.1' as job_id"},
		"a line at its end":  {`{"job_id":"7\n"}`, "'7' as job_id"},
		"another request":    {`{"job_id":"7\r\nHost: x"}`, "'7 Host: x' as job_id"},
		"a digit of Unicode": {`{"job_id":"７"}`, "'?' as job_id"},
		"half a surrogate":   {`{"job_id":"\ud800"}`, "'?' as job_id"},
		"long":               {`{"job_id":"` + strings.Repeat("7", 100000) + `"}`, "7777... as job_id"},
		"forged":             {`{"job_id":` + fmt.Sprintf("%q", "7"+strings.ReplaceAll(forged, "\x1b", "!")) + `}`, "what is not JSON"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
			s.wrap = at(jobPath, body(tc.answer))
			s.skips(strings.ReplaceAll("the master answers /api/v1/drain_jobs with "+tc.want, "7777...", "'"+strings.Repeat("7", 60)+"...'"))
		})
	}
}

func TestAReleasesIDIsAsked(t *testing.T) {
	needsPython(t)
	for _, id := range []string{"18446744073709551615-7", "0f8fad5b-d9cb-469f-a165-70867728950e", "7"} {
		s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
		var asked string
		s.wrap = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == queryPath {
					asked = r.URL.RawQuery
				}
				at(jobPath, body(fmt.Sprintf(`{"success":true,"job_id":%q}`, id)))(next).ServeHTTP(w, r)
			})
		}
		assert.Contains(t, s.drain("10"), "drain: SUCCEEDED")
		assert.Equal(t, "job_id="+id, asked)
	}
}

func TestAnEndOfADrainIsWhatAReleaseWrites(t *testing.T) {
	needsPython(t)
	for what, tc := range map[string]struct {
		field string
		value any // nil is none
		want  string
	}{
		"no status":             {"status_name", nil, "an object without status_name"},
		"a status as a number":  {"status_name", 3, "status_name as a number instead of a string"},
		"an unknown status":     {"status_name", "DONE", "'DONE' as status_name"},
		"a status with a count": {"status_name", "SUCCEEDED, 99 values (1 bytes) moved", "'SUCCEEDED, 99 values (1 bytes) moved' as status_name"},
		"a status with a line":  {"status_name", "SUCCEEDED\n", "'SUCCEEDED' as status_name"},
		"a forged status":       {"status_name", forged, "'?[2J verify: every store moves its data over tcp drain: SUCC...' as status_name"},
		"a count as a string":   {"succeeded_units", "4", "succeeded_units as a string instead of a number"},
		"a negative count":      {"migrated_bytes", -4, "-4 as migrated_bytes"},
		"a count of 1e400":      {"blocked_units", json.Number("1e400"), "blocked_units as a fraction instead of a number"},
		"no count":              {"failed_units", nil, "an object without failed_units"},
		"a count as a list":     {"active_units", []int{}, "active_units as a list instead of a number"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			answer := state("SUCCEEDED", 4, 0)
			answer[tc.field] = tc.value
			if tc.value == nil {
				delete(answer, tc.field)
			}
			s := newStopping(t, true, 40, 50, answer)
			s.skips(tc.want)
		})
	}
}

func TestADrainThatIsPlannedGoesOn(t *testing.T) {
	needsPython(t)
	s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
	var asked atomic.Int32
	s.wrap = at(queryPath, func(w http.ResponseWriter, _ *http.Request) {
		name := []string{"CREATED", "PLANNING", "SUCCEEDED"}[min(asked.Add(1)-1, 2)]
		fmt.Fprintf(w, `{"status_name":%q,"succeeded_units":4,"migrated_bytes":40,"active_units":0,"blocked_units":0,"failed_units":0}`, name)
	})
	assert.Equal(t, "drain: SUCCEEDED, 4 values (40 bytes) moved, 0 blocked, 0 failed", s.drain("20"))
}

func TestADrainPrintsNoCommandsOfOthers(t *testing.T) {
	needsPython(t)
	for _, path := range []string{detailPath, jobPath, queryPath} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
			s.wrap = at(path, status(http.StatusConflict))
			s.skips("with status 409, ?[2J verify: every store moves")
		})
	}
	t.Run("another place", func(t *testing.T) {
		t.Parallel()
		s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
		s.wrap = at(detailPath, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
		s.skips("with status 302")
	})
}

func TestADrainReadsNoMoreThanItNeeds(t *testing.T) {
	needsPython(t)
	paths := []string{"/get_all_segments", detailPath, jobPath, queryPath}
	bad := notHTTP()
	for n, what := range slices.Sorted(maps.Keys(bad)) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
			if bad[what].slow {
				s.scripts = impatient(t)
			}
			s.wrap = at(paths[n%len(paths)], raw(bad[what].send))
			s.skips(bad[what].want)
		})
	}
}

func TestADrainEndsInTimeWhateverTheMasterSends(t *testing.T) {
	needsPython(t)
	for _, path := range []string{"/get_all_segments", queryPath} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s := newStopping(t, true, 40, 50, state("RUNNING", 1, 3))
			s.wrap = at(path, raw(notHTTP()["a body, byte by byte"].send))
			start := time.Now()
			assert.Equal(t, "drain: out of time: the master has not answered by then", s.drain("1"))
			assert.Less(t, time.Since(start), 9*time.Second, "the store has no time left to say goodbye")
			s.assertRuns()
		})
	}
}

func TestAMasterThatHangsUpIsGone(t *testing.T) {
	needsPython(t)
	s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
	s.wrap = at(detailPath, raw(func(net.Conn) {}))
	assert.Contains(t, s.drain("10"), "drain: stopping at once: the master does not answer /get_segments_detail: Remote end closed connection")
	assert.ErrorContains(t, <-s.ended, "killed")
}

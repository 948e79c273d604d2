package spec

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mutator changes some answers at random, the same ones for the same seed when they
// are asked for in the same order.
type mutator struct {
	mu     sync.Mutex
	random *rand.Rand
}

// newMutator takes its seed from SEED, or a new one, and prints it.
func newMutator(t *testing.T, n int) *mutator {
	t.Helper()
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SEED"), fmt.Sprint(rand.Uint32())), 10, 64)
	require.NoError(t, err)
	t.Logf("SEED=%d", seed)
	return &mutator{random: rand.New(rand.NewPCG(seed, uint64(n)))}
}

// mutate returns an answer with up to three changes, in seven of eight cases the answer itself.
func (m *mutator) mutate(answer []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	answer = slices.Clone(answer)
	if m.random.IntN(8) > 0 {
		return answer
	}
	insertions := []string{
		forged, "NaN", "1e400", "-1", "null", "{}", "[", "]", `"`, ",", "\\", "\\ud800", "\x00", "\xff", "\r\n", "\r\n\r\n",
		strings.Repeat("[", 3000), strings.Repeat("9", 5000), strings.Repeat("x", 1<<17), ":99999", "127.0.0.1:", "\u202e",
	}
	for range 1 + m.random.IntN(3) {
		from := m.random.IntN(len(answer) + 1)
		to := min(len(answer), from+m.random.IntN(8))
		switch m.random.IntN(5) {
		case 0: // cut
			answer = answer[:from]
		case 1: // lose
			answer = slices.Delete(answer, from, to)
		case 2: // repeat
			answer = slices.Insert(answer, to, slices.Repeat(answer[from:to], 3)...)
		case 3: // flip
			for i := from; i < to; i++ {
				answer[i] ^= 1 << m.random.IntN(8)
			}
		case 4: // insert
			answer = slices.Insert(answer, from, []byte(insertions[m.random.IntN(len(insertions))])...)
		}
	}
	return answer
}

// wrap answers what next does, changed from the first letter of its status on.
func (m *mutator) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		next.ServeHTTP(recorder, r)
		body := recorder.Body.Bytes()
		answer := append(fmt.Appendf(nil, "HTTP/1.1 %d OK\r\nContent-Length: %d\r\n\r\n", recorder.Code, len(body)), body...)
		raw(func(c net.Conn) { _, _ = c.Write(m.mutate(answer)) })(w, r)
	})
}

// TestNoAnswerBreaksAScript changes answers that are right at random. Whatever comes
// of it, a script ends with a reason, in its time.
func TestNoAnswerBreaksAScript(t *testing.T) {
	needsPython(t)
	scripts := impatient(t)
	for n := range 12 {
		t.Run(fmt.Sprint("drain ", n), func(t *testing.T) {
			t.Parallel()
			m := newMutator(t, n)
			s := newStopping(t, true, 40, 50, state("SUCCEEDED", 4, 0))
			s.scripts, s.wrap = scripts, m.wrap
			start := time.Now()
			said := s.drain("5")
			assert.Regexp(t, `^drain: [ -~]+$`, said)
			assert.NotContains(t, said, "itself failed", "a mistake of the script")
			assert.Less(t, time.Since(start), 30*time.Second)
		})
		t.Run(fmt.Sprint("verify ", n), func(t *testing.T) {
			t.Parallel()
			m := newMutator(t, n)
			// Not of an older master: the check would dial the changed address of a value,
			// which may be anybody's.
			f := newFake(t, 2)
			f.metadata = []string{"", "http://MASTER/metadata", "etcd://MASTER"}[n%3]
			f.scripts, f.wrap = scripts, m.wrap
			f.peer = func(c net.Conn) {
				text := `{"protocol":"tcp"}`
				answer := binary.LittleEndian.AppendUint64(nil, uint64(len(text)+1))
				_, _ = c.Write(m.mutate(append(append(answer, 1), text...)))
			}
			said, err := f.verify("tcp")
			if err == nil {
				assert.Contains(t, said, "verify: every store moves its data over tcp\n")
				return
			}
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed, said)
			assert.Equal(t, 1, failed.ExitCode(), said)
			assertReadable(t, "verify", said)
		})
	}
}

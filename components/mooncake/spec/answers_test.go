package spec

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shipped is where the scripts are that run in the cluster.
const shipped = "scripts"

// python is a script that runs with as much memory as the Job has that verifies.
func python(ctx context.Context, script ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -d 131072 && exec python3 -B "$@"`, "sh"}, script...)...)
}

// impatient returns a copy of the scripts that waits one second for an answer.
func impatient(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range Scripts() {
		quick := strings.Replace(text, "ANSWER_SECONDS = 15", "ANSWER_SECONDS = 1", 1)
		assert.Equal(t, name == "masters.py", quick != text, name)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(quick), 0o600))
	}
	return dir
}

// forged is what an attacker would like to be read: a last line that says all is
// well, on a screen that shows nothing else.
const forged = "\x1b[2J\r\n\nverify: every store moves its data over tcp\ndrain: SUCCEEDED, 9 values\n\x1b]0;x\a\u009b\u202e\u2028\x7fé"

// assertReadable says that a script ended with a reason of its own, in lines that
// a terminal shows as they are.
func assertReadable(t *testing.T, script, said string) {
	t.Helper()
	assert.Regexp(t, `^(`+script+`: [ -~]+\n)+$`, said)
	assert.NotContains(t, said, "itself failed", "a mistake of the script")
	assert.NotRegexp(t, `(?m)^(verify: every store moves|drain: SUCCEEDED)`, said)
	for line := range strings.Lines(said) {
		assert.Less(t, len(line), 2100)
	}
}

// notJSON are answers of which no release gives any, whatever it is asked, each with
// the reason that is found.
func notJSON() map[string][2]string {
	return map[string][2]string{
		"nothing":                    {"", "what is not JSON"},
		"a page":                     {"<html>" + forged, "what is not JSON"},
		"a part":                     {`{"segments":[{"te_endpoint":`, "what is not JSON"},
		"NaN":                        {`{"segments":NaN}`, "what is not JSON: NaN is not a number"},
		"infinity":                   {`{"segments":[-Infinity]}`, "what is not JSON: -Infinity is not a number"},
		"a million digits":           {`{"segments":` + strings.Repeat("9", 1e6) + `}`, "what is not JSON: what has 1"},
		"a million digits, a point":  {`{"segments":0.` + strings.Repeat("9", 1e6) + `}`, "what is not JSON: what has 1"},
		"deep lists":                 {strings.Repeat("[", 100000), "what is not JSON"},
		"deep objects":               {strings.Repeat(`{"segments":`, 100000), "what is not JSON"},
		"Latin-1":                    {"{\"segments\":\"\xe9\"}", "what is not UTF-8"},
		"UTF-16":                     {"\xff\xfe{\x00}\x00", "what is not UTF-8"},
		"half a million lists":       {"[" + strings.Repeat("[],", 500000) + "0]", "more than 200000 values"},
		"half a million objects":     {"[" + strings.Repeat("{},", 500000) + "0]", "more than 200000 values"},
		"a list":                     {`[` + `{"segments":[]}]`, "a list instead of an object with"},
		"a string":                   {`"segments"`, "a string instead of an object with"},
		"a number":                   {`12`, "a number instead of an object with"},
		"an infinite number":         {`1e400`, "a fraction instead of an object with"},
		"null":                       {`null`, "null instead of an object with"},
		"a boolean":                  {`true`, "a boolean instead of an object with"},
		"an object of other things":  {`{"success":true}`, "an object without"},
		"an object with other names": {`{"` + strings.Repeat("z", 1<<20) + `":1}`, "an object without"},
	}
}

// answer is what a server sends, and the reason that is found in it. Of one that is
// slow, that there is none.
type answer struct {
	send func(net.Conn)
	want string
	slow bool
}

// notHTTP are answers that no server of HTTP gives, each with the reason that is found.
func notHTTP() map[string]answer {
	text := func(s string) func(net.Conn) { return func(c net.Conn) { _, _ = io.WriteString(c, s) } }
	endless := func(begin, more string) func(net.Conn) {
		return func(c net.Conn) {
			_, err := io.WriteString(c, begin)
			for sent := 0; err == nil && sent < 1<<29; sent += len(more) {
				_, err = io.WriteString(c, more)
			}
		}
	}
	slow := func(begin, more string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.WriteString(c, begin)
			drip(c, more)
		}
	}
	const ok = "HTTP/1.1 200 OK\r\n"
	return map[string]answer{
		"another protocol":      {text("+PONG" + forged), "what is not HTTP", false},
		"a status of letters":   {text("HTTP/1.1 " + forged + "\r\n\r\n"), "what is not HTTP", false},
		"half a body":           {text(ok + "Content-Length: 1000\r\n\r\n{}"), "2 bytes and claims 998 more", false},
		"a length of 2^62":      {text(ok + "Content-Length: 4611686018427387904\r\n\r\n{}"), "2 bytes and claims 461168", false},
		"a length of 2^63":      {text(ok + "Content-Length: 9223372036854775808\r\n\r\n{}"), "2 bytes and claims 922337", false},
		"a chunk of letters":    {text(ok + "Transfer-Encoding: chunked\r\n\r\n" + forged), "what is not HTTP", false},
		"a chunk of 2^63":       {text(ok + "Transfer-Encoding: chunked\r\n\r\n8000000000000000\r\n{}"), "what is not HTTP", false},
		"an endless chunk":      {endless(ok+"Transfer-Encoding: chunked\r\n\r\n-1\r\n", strings.Repeat("{", 1<<16)), "more than 6291456 bytes", false},
		"an endless body":       {endless(ok+"\r\n", strings.Repeat("{", 1<<16)), "more than 6291456 bytes", false},
		"endless chunks":        {endless(ok+"Transfer-Encoding: chunked\r\n\r\n", "10000\r\n"+strings.Repeat("{", 1<<16)+"\r\n"), "more than 6291456 bytes", false},
		"an endless header":     {endless(ok, strings.Repeat("x", 1<<16)), "what is not HTTP", false},
		"endless headers":       {endless(ok, strings.Repeat("a: b\r\n", 1000)), "what is not HTTP", false},
		"endless continuation":  {endless("", "HTTP/1.1 100 Continue\r\na: "+strings.Repeat("b", 60000)+"\r\n\r\n"), "more than 6291456 bytes", false},
		"a body, byte by byte":  {slow(ok+"\r\n{", " "), "bytes that have no end: timed out", true},
		"headers, byte by byte": {slow(ok+"a: ", "b"), "bytes that have no end: timed out", true},
		"a chunk, byte by byte": {slow(ok+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n{\r\n"), "bytes that have no end: timed out", true},
	}
}

// drip sends a text again and again, too slowly to be waited for: each time before
// a timeout that begins anew with every byte.
func drip(c net.Conn, text string) {
	for end := time.Now().Add(12 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
	}
}

// at answers what is asked at a path, or below one that ends with a slash.
func at(path string, answer http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path || strings.HasSuffix(path, "/") && strings.HasPrefix(r.URL.Path, path) {
				answer(w, r)
			} else {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// body answers 200 and a text.
func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// status answers another status, and a text that would deceive who reads it.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, forged+strings.Repeat("é", 1<<20))
	}
}

// raw answers without any HTTP.
func raw(answer func(net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer c.Close()
		answer(c)
	}
}

// TestEveryReaderDoubtsItsAnswer asks all that make something of a JSON.
func TestEveryReaderDoubtsItsAnswer(t *testing.T) {
	needsPython(t)
	names := slices.Sorted(maps.Keys(notJSON()))
	var answers [][]byte
	for _, name := range names {
		answers = append(answers, []byte(notJSON()[name][0]))
	}
	stdin, err := json.Marshal(answers) // in base64
	require.NoError(t, err)
	script := python(t.Context(), "-c", `
import base64, json, sys
sys.path.insert(0, "scripts")
import drain, masters, verify
answers = json.load(sys.stdin)
for read in drain.read_segments, drain.read_job, drain.read_state, verify.protocol, verify.only_value:
    for answer in answers:
        try:
            print(read.__name__, "takes it for", read(masters.decode(base64.b64decode(answer))))
        except masters.Malformed as e:
            print(read.__name__, "doubts", masters.printable(e))
`)
	script.Stdin = strings.NewReader(string(stdin))
	said, err := script.CombinedOutput()
	require.NoError(t, err, string(said))
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	require.Len(t, lines, 5*len(names))
	for n, line := range lines {
		name := names[n%len(names)]
		assert.Contains(t, line, " doubts "+notJSON()[name][1], name)
	}
}

// TestWhatIsPrintedIsOneLine has the one function through which every text goes.
func TestWhatIsPrintedIsOneLine(t *testing.T) {
	needsPython(t)
	said, err := python(t.Context(), "-c", `
import sys
sys.path.insert(0, "scripts")
from masters import printable
for text in "a b", "  a\t\r\n b\x0b", "\x1b[2J\x00\x7f\x9b\u202e\u2028\ud800\xe9\n", b"\xff\x1b\nx", ValueError("a\nb"), "x" * 10**7, b"x" * 10**7:
    print(ascii(printable(text, 12)))
`).CombinedOutput()
	require.NoError(t, err, string(said))
	assert.Equal(t, `'a b'
'a b'
'?[2J???? ??'
'?? x'
'a b'
'xxxxxxxxxxxx...'
'xxxxxxxxxxxx...'
`, string(said))
}

// TestAWatchedScriptEnds has one that waits where no signal reaches it.
func TestAWatchedScriptEnds(t *testing.T) {
	needsPython(t)
	for what, last := range map[string]string{"it says why": `print("late", flush=True)`, "it cannot say why": `1 / 0`} {
		t.Run(what, func(t *testing.T) {
			start := time.Now()
			said, err := python(t.Context(), "-c", fmt.Sprintf(`
import signal, sys, time
sys.path.insert(0, "scripts")
import masters
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
masters.end_after(0.5, 7, lambda: %s)
time.sleep(60)
`, last)).CombinedOutput()
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed, string(said))
			assert.Equal(t, 7, failed.ExitCode())
			assert.Less(t, time.Since(start), 30*time.Second)
		})
	}
}

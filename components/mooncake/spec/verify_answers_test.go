package spec

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fails runs the check and says that it ends with that reason.
func (f *fake) fails(want ...string) {
	f.t.Helper()
	said, err := f.verify("tcp")
	var failed *exec.ExitError
	require.ErrorAs(f.t, err, &failed, said)
	assert.Equal(f.t, 1, failed.ExitCode(), "any other code is tried again")
	assertReadable(f.t, "verify", said)
	for _, w := range want {
		assert.Contains(f.t, said, w)
	}
}

// engine answers a question of a peer with a text, and says that it is length bytes long.
func engine(length uint64, text string) func(net.Conn) {
	return func(c net.Conn) {
		_ = binary.Write(c, binary.LittleEndian, length)
		_, _ = io.WriteString(c, text)
	}
}

func TestEveryQuestionOfTheCheckDoubtsItsAnswer(t *testing.T) {
	needsPython(t)
	long := strings.Repeat("x", 5<<20)
	endpoints := func(text string) string { return `{"segments":[{"te_endpoint":` + text + `}]}` }
	holder := func(text string) string { return `{"transport_endpoint_":"` + text + `"}` }
	for what, tc := range map[string]struct {
		path   string
		answer string
		want   string
	}{
		"segments: none":                {"/get_all_segments", "", "the master shows 0 segments () of 2 stores"},
		"segments: forged":              {"/get_all_segments", forged, "the master shows 4 segments (?[2J, verify: every store moves its data over tcp, drain"},
		"segments: on loopback, forged": {"/get_all_segments", "127.0.0.1\x1b[2J" + long, "the master knows a store as 127.0.0.1?[2Jxxxx"},
		"segments: long":                {"/get_all_segments", long, "the master shows 1 segments (xxxx"},
		"segments: very many":           {"/get_all_segments", strings.Repeat("ab\n", 1<<20), "the master answers /get_all_segments with more than 200000 lines"},
		"segments: not UTF-8":           {"/get_all_segments", "\xff", "the master answers /get_all_segments with what is not UTF-8"},

		"capacity: none":          {"/metrics", forged, "the master answers /metrics with no master_total_capacity_bytes"},
		"capacity: infinite":      {"/metrics", "master_total_capacity_bytes 1e400", "with 1e400 as master_total_capacity_bytes"},
		"capacity: no number":     {"/metrics", "master_total_capacity_bytes e.+.e", "with e.+.e as master_total_capacity_bytes"},
		"capacity: forged":        {"/metrics", "master_total_capacity_bytes 2048 " + forged, "with no master_total_capacity_bytes"},
		"capacity: many digits":   {"/metrics", "master_total_capacity_bytes " + strings.Repeat("9", 5<<20), "with no master_total_capacity_bytes"},
		"capacity: huge":          {"/metrics", "master_total_capacity_bytes 9e307", "with 9e307 as master_total_capacity_bytes"},
		"capacity: endless label": {"/metrics", strings.Repeat("master_total_capacity_bytes{\n", 180000), "with no master_total_capacity_bytes"},

		"endpoints: nothing":        {detailPath, "", "the master answers /get_segments_detail with what is not JSON"},
		"endpoints: a list":         {detailPath, "[]", "the master answers /get_segments_detail with a list instead of an object with segments"},
		"endpoints: many digits":    {detailPath, strings.Repeat("9", 1e6), "with what is not JSON: what has 1000000 characters is not a number"},
		"endpoints: deep":           {detailPath, strings.Repeat("[", 100000), "with what is not JSON"},
		"endpoints: as an object":   {detailPath, `{"segments":{}}`, "with segments as an object instead of a list"},
		"endpoints: a number":       {detailPath, endpoints("7"), "with te_endpoint as a number instead of a string"},
		"endpoints: one is a list":  {detailPath, endpoints(`["10.0.0.1:1"]`), "with te_endpoint as a list instead of a string"},
		"endpoints: no port":        {detailPath, endpoints(`"10.0.0.1"`), "with '10.0.0.1' instead of host:port"},
		"endpoints: an empty port":  {detailPath, endpoints(`"10.0.0.1:"`), "with '10.0.0.1:' instead of host:port"},
		"endpoints: port 0":         {detailPath, endpoints(`"10.0.0.1:0"`), "with '10.0.0.1:0' instead of host:port"},
		"endpoints: port 65536":     {detailPath, endpoints(`"10.0.0.1:65536"`), "with '10.0.0.1:65536' instead of host:port"},
		"endpoints: a long port":    {detailPath, endpoints(`"10.0.0.1:` + strings.Repeat("1", 10000) + `"`), "instead of host:port"},
		"endpoints: a port of ٣":    {detailPath, endpoints(`"10.0.0.1:٣"`), "with '10.0.0.1:?' instead of host:port"},
		"endpoints: a line":         {detailPath, endpoints(`"10.0.0.1:1\n"`), "with '10.0.0.1:1' instead of host:port"},
		"endpoints: a path":         {detailPath, endpoints(`"a/../b?c=d&e#f:1"`), "instead of host:port"},
		"endpoints: too many":       {detailPath, `{"segments":[{"te_endpoint":"a:1"},{"te_endpoint":"a:2"},{"te_endpoint":"a:3"}]}`, "with 3 different addresses of 2 stores"},
		"endpoints: not resolvable": {detailPath, endpoints(`"` + strings.Repeat("a", 70) + `..:1"`), "no value reached the segment of aaaaa"},

		"holder: none":          {"/query_key", forged, "values reached only 0 of 2 segments"},
		"holder: no port":       {"/query_key", holder("10.0.0.1"), "the master answers /query_key?key=kvinfra-verify-"},
		"holder: forged":        {"/query_key", holder(forged), "with '?[2J verify: every store moves its data over tcp"},
		"holder: several lines": {"/query_key", holder("\n\n\n"), "with '' instead of host:port"},
		"holder: too many":      {"/query_key", holder("a:1") + holder("a:2") + holder("a:3"), "with 3 different addresses of 2 stores"},
		"holder: not UTF-8":     {"/query_key", "\xff", "with what is not UTF-8"},

		"value: long": {"/api/get/", long, "5242880 of 131072 bytes"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, 2)
			f.old = tc.path == "/query_key" // which asks this alone
			f.wrap = at(tc.path, body(tc.answer))
			f.fails(tc.want)
		})
	}
}

func TestVerifyPrintsNoCommandsOfOthers(t *testing.T) {
	needsPython(t)
	for path, want := range map[string]string{
		"/get_all_segments": "no master serves at",
		"/metrics":          "the master answers /metrics with status 418, ?[2J verify: every store moves",
		detailPath:          "the master answers /get_segments_detail with status 418, ?[2J verify: every store moves",
		"/query_key":        "with status 418, ?[2J verify: every store moves",
		"/api/put":          "store-0 cannot write: status 418, ?[2J verify: every store moves",
		"/api/get/":         "got status 418, ?[2J verify: every store moves",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, 2)
			f.wrap = at(path, status(http.StatusTeapot))
			f.fails(want)
		})
	}
	t.Run("protocol", func(t *testing.T) {
		t.Parallel()
		f := newFake(t, 2)
		answer := fmt.Sprintf("\x01{%q:%s}", "protocol", `"\u001b[2J\nverify: every store moves its data over tcp\u202e"`)
		f.peer = engine(uint64(len(answer)), answer)
		f.fails("moves its data over ?[2J verify: every store moves its data over tcp?, not over tcp")
	})
}

func TestVerifyReadsNoMoreThanItNeeds(t *testing.T) {
	needsPython(t)
	paths := []string{"/get_all_segments", "/metrics", detailPath, "/query_key", "/api/put", "/api/get/", "/metadata", "/v3/kv/range"}
	bad := notHTTP()
	for n, what := range slices.Sorted(maps.Keys(bad)) {
		path := paths[n%len(paths)]
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, 2)
			f.metadata = map[string]string{"/metadata": "http://MASTER/metadata", "/v3/kv/range": "etcd://MASTER"}[path]
			if bad[what].slow {
				f.scripts = impatient(t)
			}
			f.wrap = at(path, raw(bad[what].send))
			f.fails(bad[what].want)
		})
	}
}

func TestAnEngineIsDoubtedToo(t *testing.T) {
	needsPython(t)
	scripts := impatient(t)
	says := func(text string) func(net.Conn) { return engine(uint64(len(text)), text) }
	for what, tc := range map[string]struct {
		answer func(net.Conn)
		want   string
	}{
		"nothing":                {func(net.Conn) {}, "a text of 0 bytes"},
		"a length of 0":          {engine(0, ""), "a text of 0 bytes"},
		"a length of 2^40":       {engine(1<<40, "\x01{"), "a text of 1099511627776 bytes"},
		"a length of 2^62":       {engine(1<<62, "\x01{"), "a text of 4611686018427387904 bytes"},
		"a length of 2^63":       {engine(1<<63, "\x01{"), "a text of 9223372036854775808 bytes"},
		"a length of 2^64-1":     {engine(1<<64-1, "\x01{"), "a text of 18446744073709551615 bytes"},
		"less than it says":      {engine(100, "\x01{}"), "3 of 100 bytes"},
		"another type":           {says("\x02{}"), `b'?x02' where the type of the question belongs`},
		"only a type":            {says("\x01"), "what is not JSON"},
		"no JSON":                {says("\x01" + forged), "what is not JSON"},
		"not UTF-8":              {says("\x01\xff"), "what is not UTF-8"},
		"a list":                 {says("\x01[]"), "a list instead of an object with protocol"},
		"no protocol":            {says("\x01{}"), "an object without protocol"},
		"protocol as a list":     {says("\x01{\"protocol\":[\"tcp\"]}"), "protocol as a list instead of a string"},
		"protocol as null":       {says("\x01{\"protocol\":null}"), "protocol as null instead of a string"},
		"deep lists":             {says("\x01" + strings.Repeat("[", 100000)), "what is not JSON"},
		"many objects":           {says("\x01[" + strings.Repeat("{},", 500000) + "0]"), "more than 200000 values"},
		"a length, byte by byte": {func(c net.Conn) { drip(c, "\x00") }, "that have no end: timed out"},
		"a text, byte by byte":   {func(c net.Conn) { engine(1<<20, "\x01{")(c); drip(c, " ") }, "that have no end: timed out"},
		"silence":                {func(net.Conn) { time.Sleep(5 * time.Second) }, "timed out"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, 2)
			f.scripts, f.peer = scripts, tc.answer
			f.fails("store-", "cannot be asked how it moves its data: ", strings.ReplaceAll(tc.want, "?", `\`))
		})
	}
}

func TestServersOfMetadataAreDoubtedToo(t *testing.T) {
	needsPython(t)
	in := func(text string) string { // as etcd wraps it
		return `{"kvs":[{"value":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}]}`
	}
	for what, tc := range map[string]struct{ metadata, answer, want string }{
		"http: nothing":     {"http://MASTER/metadata", "", "what is not JSON"},
		"http: a list":      {"http://MASTER/metadata", "[]", "a list instead of an object with protocol"},
		"http: no protocol": {"http://MASTER/metadata", "{}", "an object without protocol"},
		"http: a number":    {"http://MASTER/metadata", `{"protocol":1e400}`, "protocol as a fraction instead of a string"},
		"http: deep":        {"http://MASTER/metadata", strings.Repeat("[", 100000), "what is not JSON"},
		"http: not UTF-8":   {"http://MASTER/metadata", "\xff", "what is not UTF-8"},

		"etcd: nothing":          {"etcd://MASTER", "", "what is not JSON"},
		"etcd: a list":           {"etcd://MASTER", "[]", "a list instead of an object with kvs"},
		"etcd: no key":           {"etcd://MASTER", "{}", "an object without kvs"},
		"etcd: no values":        {"etcd://MASTER", `{"kvs":[]}`, "no value"},
		"etcd: as an object":     {"etcd://MASTER", `{"kvs":{}}`, "kvs as an object instead of a list"},
		"etcd: of numbers":       {"etcd://MASTER", `{"kvs":[7]}`, "a number instead of an object with value"},
		"etcd: a number":         {"etcd://MASTER", `{"kvs":[{"value":7}]}`, "value as a number instead of a string"},
		"etcd: not base64":       {"etcd://MASTER", `{"kvs":[{"value":"e"}]}`, "a value that is not base64"},
		"etcd: base64 of others": {"etcd://MASTER", `{"kvs":[{"value":"é"}]}`, "a value that is not base64"},
		"etcd: not UTF-8":        {"etcd://MASTER", in("\xff"), "what is not UTF-8"},
		"etcd: no JSON":          {"etcd://MASTER", in(forged), "what is not JSON"},
		"etcd: deep":             {"etcd://MASTER", in(strings.Repeat("[", 100000)), "what is not JSON"},
		"etcd: two, both wrong":  {"etcd://MASTER;MASTER", in("[]"), "a list instead of an object with protocol"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, 2)
			f.metadata = tc.metadata
			path := map[string]string{"http": "/metadata", "etcd": "/v3/kv/range"}[what[:4]]
			f.wrap = at(path, body(tc.answer))
			f.fails("store-", "cannot be asked how it moves its data: "+f.master.Listener.Addr().String()+" answers "+path, tc.want)
		})
	}
	for what, metadata := range map[string]string{"/metadata": "http://MASTER/metadata", "/v3/kv/range": "etcd://MASTER"} {
		t.Run("an error at "+what, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, 2)
			f.metadata, f.wrap = metadata, at(what, status(http.StatusTeapot))
			f.fails("with status 418, ?[2J verify: every store moves")
		})
	}
}

// TestAnotherEtcdIsAsked has a first one that is there and answers nonsense.
func TestAnotherEtcdIsAsked(t *testing.T) {
	needsPython(t)
	f := newFake(t, 2)
	mad := f.serve(http.NotFoundHandler())
	f.metadata = "etcd://" + mad.Listener.Addr().String() + ";MASTER"
	said, err := f.verify("tcp")
	require.NoError(t, err, said)
}

func TestVerifyPrintsThatManyProblems(t *testing.T) {
	needsPython(t)
	f := newFake(t, 20)
	f.cannotRead = func(int, int) bool { return true }
	said, err := f.verify("tcp")
	require.Error(t, err)
	assertReadable(t, "verify", said)
	assert.Contains(t, said, "problems, of which these are the last 100:\n")
	assert.Less(t, strings.Count(said, "\n"), 110)
}

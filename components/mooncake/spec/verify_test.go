package spec

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fake answers as a master and its stores do, with the faults that it is told.
type fake struct {
	t       *testing.T
	address string // one that is not on loopback
	stores  []*httptest.Server
	engines []string // where peers dial each store
	master  *httptest.Server
	mu      sync.Mutex
	values  map[string]string
	holder  map[string]int // of a key
	puts    int

	old        bool                    // a master before 0.3.12 does not list where peers dial
	listing    int                     // the status with which a newer one answers that question
	dialled    func(string) string     // where a value is said to be
	settings   []string                // further variables of the script
	metadata   string                  // where the stores tell how to reach them; "" is each itself
	segments   func([]string) []string // what the master shows
	protocol   string                  // what the stores really use
	cannotPut  func(store, holder int) bool
	cannotRead func(store, holder int) bool // 200 with an empty body
	garble     func(store int, v string) string

	scripts string                               // where they are, "" for those that are shipped
	wrap    func(next http.Handler) http.Handler // answers for the master and the stores
	peer    func(net.Conn)                       // answers for the engines
}

func newFake(t *testing.T, stores int) *fake {
	t.Helper()
	f := &fake{
		t: t, address: ownAddress(t), values: map[string]string{}, holder: map[string]int{}, protocol: "tcp",
		listing:    http.StatusOK,
		dialled:    func(s string) string { return s },
		segments:   func(s []string) []string { return s },
		cannotPut:  func(int, int) bool { return false },
		cannotRead: func(int, int) bool { return false },
		garble:     func(_ int, v string) string { return v },
	}
	f.master = f.serve(f.masterHandler())
	for store := range stores {
		f.stores = append(f.stores, f.serve(f.storeHandler(store)))
		f.engines = append(f.engines, f.engine())
	}
	return f
}

// ownAddress returns an address of this machine on which it can be dialled and
// which a store may register.
func ownAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range all {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && ip.To4() != nil && ip.IsGlobalUnicast() {
			return ip.String()
		}
	}
	t.Skip("this machine has no address but loopback")
	return ""
}

func (f *fake) serve(h http.Handler) *httptest.Server {
	f.t.Helper()
	listener, err := net.Listen("tcp", f.address+":0")
	require.NoError(f.t, err)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answering := h
		if f.wrap != nil {
			answering = f.wrap(h)
		}
		answering.ServeHTTP(w, r)
	}))
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	f.t.Cleanup(s.Close)
	return s
}

// engine is the port of a store's Transfer Engine.
func (f *fake) engine() string {
	listener, err := net.Listen("tcp", f.address+":0")
	require.NoError(f.t, err)
	f.t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			var length uint64
			_ = binary.Read(c, binary.LittleEndian, &length)
			_, _ = io.CopyN(io.Discard, c, int64(length))
			if f.peer != nil {
				f.peer(c)
				c.Close()
				continue
			}
			answer := fmt.Sprintf("\x01{\"protocol\":%q}", f.protocol)
			_ = binary.Write(c, binary.LittleEndian, uint64(len(answer)))
			_, _ = io.WriteString(c, answer)
			c.Close()
		}
	}()
	return listener.Addr().String()
}

func (f *fake) masterHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/get_all_segments", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Join(f.segments(f.engines), "\n"))
	})
	mux.HandleFunc("/get_segments_detail", func(w http.ResponseWriter, r *http.Request) {
		if f.old {
			http.NotFound(w, r)
			return
		}
		if f.listing != http.StatusOK {
			http.Error(w, "busy", f.listing)
			return
		}
		var segments []map[string]string
		for _, e := range f.segments(f.engines) {
			segments = append(segments, map[string]string{"te_endpoint": e, "protocol": "rdma"})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"segments": segments})
	})
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE master_total_capacity_bytes gauge\nmaster_total_capacity_bytes %d\n", len(f.engines)*1024)
	})
	mux.HandleFunc("GET /metadata", func(w http.ResponseWriter, r *http.Request) {
		f.describe(w, r.URL.Query().Get("key"), "mooncake/ram/", func(text string) string { return text })
	})
	mux.HandleFunc("POST /v3/kv/range", func(w http.ResponseWriter, r *http.Request) {
		var question struct{ Key []byte }
		assert.NoError(f.t, json.NewDecoder(r.Body).Decode(&question))
		f.describe(w, string(question.Key), "mooncake/kv.mooncake/ram/", func(text string) string {
			return fmt.Sprintf(`{"kvs":[{"value":%q}]}`, base64.StdEncoding.EncodeToString([]byte(text)))
		})
	})
	mux.HandleFunc("/query_key", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		fmt.Fprintf(w, `{"size_":1,"transport_endpoint_":%q}`, f.dialled(f.engines[f.holder[r.URL.Query().Get("key")]]))
	})
	return mux
}

func (f *fake) storeHandler(store int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /api/put", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Key, Value string }
		assert.NoError(f.t, json.NewDecoder(r.Body).Decode(&body))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.puts++
		holder := f.puts / 2 % len(f.stores)
		if f.cannotPut(store, holder) {
			http.Error(w, `{"error": "PUT operation failed"}`, http.StatusInternalServerError)
			return
		}
		f.values[body.Key], f.holder[body.Key] = body.Value, holder
	})
	mux.HandleFunc("GET /api/get/{key}", func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if key := r.PathValue("key"); !f.cannotRead(store, f.holder[key]) {
			fmt.Fprint(w, f.garble(store, f.values[key]))
		}
	})
	mux.HandleFunc("DELETE /api/remove/{key}", func(_ http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.values, r.PathValue("key"))
	})
	return mux
}

// describe answers as a server of metadata what the store told it that registered
// there under prefix and its address.
func (f *fake) describe(w http.ResponseWriter, key, prefix string, wrap func(string) string) {
	if engine, found := strings.CutPrefix(key, prefix); !found || !slices.Contains(f.engines, engine) {
		http.NotFound(w, nil)
		return
	}
	fmt.Fprint(w, wrap(fmt.Sprintf(`{"protocol":%q}`, f.protocol)))
}

// verify runs the script and returns what it says.
func (f *fake) verify(protocol string) (string, error) {
	f.t.Helper()
	var stores []string
	for i, s := range f.stores {
		stores = append(stores, fmt.Sprintf("store-%d=%s", i, s.Listener.Addr()))
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	metadata := cmp.Or(f.metadata, "P2PHANDSHAKE")
	script := python(ctx, cmp.Or(f.scripts, shipped)+"/verify.py")
	script.Env = append(os.Environ(),
		"STORES="+strings.Join(stores, " "), "MASTER="+f.master.Listener.Addr().String(),
		"SEGMENT_BYTES=1024", "PROTOCOL="+protocol, fmt.Sprint("LISTS_ENDPOINTS=", !f.old), "METADATA="+strings.ReplaceAll(metadata, "MASTER", f.master.Listener.Addr().String()), "CLUSTER_ID=kv.mooncake",
		"LEASE_SECONDS=0", "FORGET_SECONDS=0", "SETTLE_SECONDS=0", "DEADLINE_SECONDS=20")
	script.Env = append(script.Env, f.settings...)
	said, err := script.CombinedOutput()
	return string(said), err
}

func needsPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("python3 is not on PATH")
		}
		t.Skip("python3 is not on PATH")
	}
}

func TestVerifyAcceptsAClusterThatMovesData(t *testing.T) {
	needsPython(t)
	for what, tc := range map[string]struct {
		stores   int
		old      bool
		metadata string
		want     string
	}{
		"three stores":               {stores: 3, want: "every store moves its data over tcp"},
		"one store":                  {stores: 1, want: "0 reads through other stores"},
		"many stores":                {stores: 12, want: "every byte equal"},
		"a master before 0.3.12":     {stores: 3, old: true, want: "every store moves its data over tcp"},
		"an older one with metadata": {stores: 3, old: true, metadata: "http://MASTER/metadata", want: "every store moves its data over tcp"},
		"metadata in the master":     {stores: 3, metadata: "http://MASTER/metadata", want: "every store moves its data over tcp"},
		"metadata in etcd":           {stores: 3, metadata: "etcd://MASTER", want: "every store moves its data over tcp"},
		"metadata in several etcds":  {stores: 3, metadata: "etcd://127.0.0.1:1;MASTER", want: "every store moves its data over tcp"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, tc.stores)
			f.old, f.metadata = tc.old, tc.metadata
			said, err := f.verify("tcp")
			require.NoError(t, err, said)
			assert.Contains(t, said, tc.want)
			assert.Empty(t, f.values, "it leaves values behind")
		})
	}
}

func TestVerifyWaitsForNoLongLease(t *testing.T) {
	needsPython(t)
	for what, settings := range map[string][]string{
		"of ten minutes":               {"LEASE_SECONDS=600", "DEADLINE_SECONDS=1200"},
		"of what is left for the rest": {"LEASE_SECONDS=15", "DEADLINE_SECONDS=20"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, 3)
			f.settings = settings
			start := time.Now()
			said, err := f.verify("tcp")
			require.NoError(t, err, said)
			assert.Less(t, time.Since(start), 15*time.Second)
			assert.Contains(t, said, "values of this check stay until they are evicted")
			assert.Contains(t, said, "every store moves its data over tcp")
			assert.NotEmpty(t, f.values)
		})
	}
}

func TestVerifySaysWhatIsWrong(t *testing.T) {
	needsPython(t)
	for what, tc := range map[string]struct {
		damage   func(*fake)
		protocol string
		want     []string
	}{
		"stores registered as localhost": {
			func(f *fake) { f.segments = func([]string) []string { return []string{"localhost:15001"} } },
			"tcp", []string{"localhost:15001, which every peer takes for itself"},
		},
		"a store that is not there": {
			func(f *fake) { f.segments = func(s []string) []string { return s[1:] } },
			"tcp", []string{"the master shows 2 segments", "of 3 stores"},
		},
		"a store without a buffer": {
			func(f *fake) { f.cannotPut = func(store, _ int) bool { return store == 1 } },
			"tcp", []string{"store-1 cannot write: status 500", "PUT operation failed"},
		},
		"a pair that cannot connect, with status 200": {
			func(f *fake) {
				f.cannotPut = func(store, holder int) bool { return store == 0 && holder == 2 }
				f.cannotRead = f.cannotPut
			},
			"tcp", []string{"store-0 cannot read what store-", "wrote to the segment of", "got 0 of 131072 bytes"},
		},
		"a value of other bytes": {
			func(f *fake) {
				f.garble = func(store int, v string) string {
					if store == 2 {
						return v[1:] + "x"
					}
					return v
				}
			},
			"tcp", []string{"store-2 cannot read what store-", "131072 bytes that differ"},
		},
		"RDMA that became TCP": {
			func(*fake) {}, "rdma", []string{"moves its data over tcp, not over rdma"},
		},
		"RDMA that became TCP, metadata in the master": {
			func(f *fake) { f.metadata = "http://MASTER/metadata" }, "rdma", []string{"store-", "moves its data over tcp, not over rdma"},
		},
		"RDMA that became TCP, metadata in etcd": {
			func(f *fake) { f.metadata = "etcd://MASTER" }, "rdma", []string{"store-", "moves its data over tcp, not over rdma"},
		},
		"RDMA that became TCP, before 0.3.12": {
			func(f *fake) { f.old = true }, "rdma", []string{"store-", "moves its data over tcp, not over rdma"},
		},
		"data on loopback, before 0.3.12": {
			func(f *fake) {
				f.old, f.dialled = true, func(s string) string { return "127.0.0.1" + s[strings.LastIndex(s, ":"):] }
			},
			"tcp", []string{"a store registered 127.0.0.1:", "which every peer takes for itself"},
		},
		"a master that does not list where peers dial": {
			func(f *fake) { f.listing = http.StatusServiceUnavailable },
			"tcp", []string{"the master answers /get_segments_detail with status 503, busy"},
		},
		"a release that should list it and does not": {
			func(f *fake) { f.listing = http.StatusNotFound },
			"tcp", []string{"the master answers /get_segments_detail with status 404"},
		},
		"stores that are not in the metadata": {
			func(f *fake) { f.metadata = "http://MASTER/elsewhere" }, "tcp", []string{"store-", "cannot be asked how it moves its data"},
		},
		"an etcd that is not there": {
			func(f *fake) { f.metadata = "etcd://127.0.0.1:1" }, "tcp", []string{"cannot be asked how it moves its data", "refused"},
		},
		"a time that is too short for the master": {
			func(f *fake) {
				f.segments = func(s []string) []string { time.Sleep(3 * time.Second); return s[1:] }
				f.settings = []string{"DEADLINE_SECONDS=2", "SETTLE_SECONDS=600"}
			},
			"tcp", []string{"verify: the check did not end in time"},
		},
		"a time that is too short for a value": {
			func(f *fake) {
				f.cannotRead = func(int, int) bool { time.Sleep(3 * time.Second); return false }
				f.settings = []string{"DEADLINE_SECONDS=2"}
			},
			"tcp", []string{"verify: the check did not end in time"},
		},
		"a master that is not there": {
			func(f *fake) { f.master.Close() }, "tcp", []string{"no master serves at", "refused"},
		},
		"a store whose HTTP port is closed": {
			func(f *fake) { f.stores[1].Close() }, "tcp", []string{"store-1 does not answer on"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, 3)
			tc.damage(f)
			said, err := f.verify(tc.protocol)
			var failed *exec.ExitError
			require.ErrorAs(t, err, &failed, said)
			assert.Equal(t, 1, failed.ExitCode(), "any other code is tried again")
			for _, want := range tc.want {
				assert.Contains(t, said, want)
			}
			assert.NotContains(t, said, "Traceback")
		})
	}
}

func TestVerifyAsksAReleaseWhatItCanTell(t *testing.T) {
	assert.Contains(t, valid().VerifyVariables("m"), Variable{Name: "LISTS_ENDPOINTS", Value: "true"})
	assert.Contains(t, older().VerifyVariables("m"), Variable{Name: "LISTS_ENDPOINTS", Value: "false"})
}

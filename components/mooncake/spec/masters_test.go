package spec

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheMasterThatServesIsAsked has several masters behind one name, as a headless
// Service has them.
func TestTheMasterThatServesIsAsked(t *testing.T) {
	needsPython(t)
	waiting := func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "service plane is not active", http.StatusServiceUnavailable)
	}
	leading := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host, " answers ", r.URL.Path) }
	for what, tc := range map[string]struct {
		masters []http.HandlerFunc // at 127.0.0.1, 127.0.0.2 and so on; nil is one that is down
		want    string
	}{
		"the first":         {[]http.HandlerFunc{leading, waiting, waiting}, "127.0.0.1:PORT answers /x"},
		"the last":          {[]http.HandlerFunc{waiting, waiting, leading}, "127.0.0.3:PORT answers /x"},
		"the one that runs": {[]http.HandlerFunc{nil, leading}, "127.0.0.2:PORT answers /x"},
		"none yet":          {[]http.HandlerFunc{waiting, nil}, "no master serves at masters:PORT: 127.0.0.1: status 503; 127.0.0.2: [Errno 111] Connection refused"},
		"none at all":       {nil, "no master serves at masters:PORT: the name has no IPv4 address"},
	} {
		t.Run(what, func(t *testing.T) {
			port, addresses := freePort(t), "["
			for n, master := range tc.masters {
				address := fmt.Sprintf("127.0.0.%d", n+1)
				addresses += fmt.Sprintf("%q,", address)
				if master != nil {
					serveAt(t, net.JoinHostPort(address, port), master)
				}
			}
			said, err := exec.Command("python3", "-B", "-c", fmt.Sprintf(`
import sys
sys.path.insert(0, "scripts")
import masters
masters.addresses = lambda host: %s]
try:
    print(masters.ask_leader("masters:%s", "/x"), end="")
except masters.NoMaster as e:
    print(e, end="")
`, addresses, port)).CombinedOutput()
			require.NoError(t, err, string(said))
			assert.Equal(t, strings.ReplaceAll(tc.want, "PORT", port), string(said))
		})
	}
}

// TestAnIPv6AddressIsNone has a name that stands for ::1 alone.
func TestAnIPv6AddressIsNone(t *testing.T) {
	needsPython(t)
	said, err := exec.Command("python3", "-B", "-c", `
import sys
sys.path.insert(0, "scripts")
import masters
try:
    masters.ask_leader("::1:9003", "/x")
except masters.NoMaster as e:
    print(e, end="")
`).CombinedOutput()
	require.NoError(t, err, string(said))
	assert.Equal(t, "no master serves at ::1:9003: the name has no IPv4 address", string(said))
}

// freePort returns a port that is free on every address of this machine.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

func serveAt(t *testing.T, address string, handler http.Handler) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	s := httptest.NewUnstartedServer(handler)
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
}

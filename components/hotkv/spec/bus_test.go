package spec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What anybody can send to a server's bus port, without a password.

// Types of messages, as the servers write them.
const (
	busPing uint16 = 0
	busMeet uint16 = 2
)

// busMessage returns a message of the node with an id, which says that it is at an
// address. A server keeps the 46 bytes of the address as they are, and the name
// without any limit.
func busMessage(kind uint16, id, address, hostname string) []byte {
	const header = 2256
	var extension []byte
	if hostname != "" {
		length := (8 + len(hostname) + 1 + 7) / 8 * 8
		extension = make([]byte, length)
		binary.BigEndian.PutUint32(extension, uint32(length))
		copy(extension[8:], hostname)
	}
	m := make([]byte, header, header+len(extension))
	copy(m, "RCmb")
	binary.BigEndian.PutUint32(m[4:], uint32(header+len(extension)))
	binary.BigEndian.PutUint16(m[8:], 1) // version
	binary.BigEndian.PutUint16(m[10:], 6379)
	binary.BigEndian.PutUint16(m[12:], kind)
	copy(m[40:80], id)
	copy(m[2168:2214], address)
	if hostname != "" {
		binary.BigEndian.PutUint16(m[2214:], 1) // extensions
		m[2253] = 4                             // there are some
	}
	binary.BigEndian.PutUint16(m[2248:], 16379)
	binary.BigEndian.PutUint16(m[2250:], 2) // a primary
	return append(m, extension...)
}

// send sends each message to node i's bus port, over a connection of its own. A server that
// closes it is no reason to fail.
func (l *lab) send(i int, messages ...[]byte) {
	port, err := strconv.Atoi(l.port)
	if err != nil {
		return
	}
	for _, m := range messages {
		bus, err := net.Dial("tcp", net.JoinHostPort(l.hosts[i], strconv.Itoa(port+BusPort-ClientPort)))
		if err != nil {
			return
		}
		if _, err := bus.Write(m); err == nil {
			_ = bus.SetReadDeadline(time.Now().Add(time.Second))
			_, _ = bus.Read(make([]byte, 1)) // its answer: it has read the message
		}
		_ = bus.Close()
	}
}

// flood sends messages to all nodes again and again, until the function that it returns
// is called.
func (l *lab) flood(messages ...[]byte) (stop func()) {
	l.t.Helper()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			for i := range l.hosts {
				l.send(i, messages...)
			}
			select {
			case <-end:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	var once sync.Once
	stop = func() { once.Do(func() { close(end) }); <-ended }
	l.t.Cleanup(stop)
	return stop
}

// stranger is a stock server without a password, of a network that is not the lab's.
type stranger struct {
	*lab
	announced string // where it says that clients find it
	heard     *recorder
}

// newStranger starts one. It announces a port for clients at which nothing answers, but
// all that is sent there is recorded.
func newStranger(t *testing.T, l *lab) stranger {
	t.Helper()
	octets := strings.Split(l.network, ".") // the last one is at most 250
	address := fmt.Sprintf("127.%s.251.%s", octets[1], octets[2])
	announced := net.JoinHostPort(address, l.port)
	heard := record(t, announced)
	s := newStrangerAt(t, address, "--cluster-announce-port", l.port)
	s.announced, s.heard = announced, heard
	return s
}

// newStrangerAt starts one at an address, where a server of the lab may be too.
func newStrangerAt(t *testing.T, address string, arguments ...string) stranger {
	t.Helper()
	s := stranger{lab: &lab{t: t, dir: t.TempDir(), hosts: []string{address}, port: freePort(t, address)}}
	server := exec.Command("valkey-server", append([]string{"--dir", s.dir, "--bind", address, "--port", s.port, "--protected-mode", "no",
		"--cluster-enabled", "yes", "--cluster-node-timeout", nodeTimeout, "--save", "", "--cluster-announce-ip", address,
		// Else it follows the node that takes its slots back.
		"--cluster-allow-replica-migration", "no"}, arguments...)...)
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, server.Start())
	s.servers = []*exec.Cmd{server}
	t.Cleanup(func() { s.stop(0) })
	require.Eventually(t, func() bool { return s.tell("ping") == "PONG" }, 20*time.Second, 50*time.Millisecond)
	return s
}

// tell gives the stranger a command, without a password.
func (s stranger) tell(words ...string) string {
	s.t.Helper()
	out, _ := exec.Command("valkey-cli", append([]string{"-h", s.hosts[0], "-p", s.port}, words...)...).CombinedOutput()
	return strings.TrimSpace(string(out))
}

func (s stranger) id() string { return s.tell("cluster", "myid") }

// join makes the stranger a node of the lab's cluster.
func (s stranger) join(l *lab) {
	s.t.Helper()
	require.Equal(s.t, "OK", s.tell("cluster", "meet", l.hosts[0], l.port))
	id := s.id()
	for i := range l.hosts {
		require.Eventually(s.t, func() bool {
			for line := range strings.Lines(l.ask(i, "cluster", "nodes")) {
				if strings.HasPrefix(line, id) && !strings.Contains(line, "handshake") {
					return true
				}
			}
			return false
		}, 20*time.Second, 50*time.Millisecond, "node %d knows the stranger", i)
	}
}

// takeSlots makes the stranger the owner of slots 0 to 2, and waits until all agree.
func (s stranger) takeSlots(l *lab) {
	s.t.Helper()
	require.Contains(s.t, s.tell("cluster", "bumpepoch"), "BUMPED")
	for slot := range 3 {
		require.Equal(s.t, "OK", s.tell("cluster", "setslot", strconv.Itoa(slot), "node", s.id()))
	}
	owns := regexp.MustCompile(s.id() + `.* connected 0-2\n`)
	for i := range l.hosts {
		require.Eventually(s.t, func() bool { return owns.MatchString(l.ask(i, "cluster", "nodes") + "\n") }, 20*time.Second, 50*time.Millisecond)
	}
}

// waitForHandshakes waits until no node tries to meet another: attempts end by themselves.
func (l *lab) waitForHandshakes() {
	l.t.Helper()
	for i, host := range l.hosts {
		require.Eventually(l.t, func() bool { return !strings.Contains(l.ask(i, "cluster", "nodes"), "handshake") }, 20*time.Second, 50*time.Millisecond, host)
	}
}

// recorder keeps what is sent to an address.
type recorder struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func record(t *testing.T, address string) *recorder {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	r := &recorder{}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				_ = connection.SetDeadline(time.Now().Add(time.Second))
				buffer := make([]byte, 4096)
				n, _ := connection.Read(buffer)
				r.mu.Lock()
				defer r.mu.Unlock()
				fmt.Fprintf(&r.text, "from %s: %q\n", connection.RemoteAddr(), buffer[:n])
			}()
		}
	}()
	return r
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// assertNothing requires that nobody said anything.
func (r *recorder) assertNothing(t *testing.T, who string) {
	t.Helper()
	assert.Empty(t, r.String(), "%s talked to a stranger", who)
}

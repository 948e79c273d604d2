package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// memory is a store in which fault decides about each write.
type memory struct {
	mutex  sync.Mutex
	values map[string]string
	fault  func(key string, n int) (keep bool, err error)
}

func (m *memory) Set(_ context.Context, key, value string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	n, err := strconv.Atoi(value)
	if err != nil {
		return err
	}
	keep, err := m.fault(key, n)
	if keep {
		m.values[key] = value
	}
	return err
}

func (m *memory) Get(_ context.Context, key string) (string, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.values[key], nil
}

func TestLoad(t *testing.T) {
	refused := fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	tests := map[string]struct {
		fault  func(start time.Time, key string, n int) (bool, error)
		errors map[string]int
		lost   int
		gaps   []time.Duration
	}{
		"a healthy cluster": {
			fault: func(time.Time, string, int) (bool, error) { return true, nil },
			gaps:  []time.Duration{pause, pause},
		},
		"a shard that is away for a second": {
			fault: func(start time.Time, key string, _ int) (bool, error) {
				if away := time.Since(start) - 10*pause; strings.Contains(key, "{b}") && away >= 0 && away < time.Second {
					return false, refused
				}
				return true, nil
			},
			errors: map[string]int{"connection refused": writersPerShard * int(time.Second/pause)},
			gaps:   []time.Duration{pause, time.Second + pause},
		},
		"a write that was acknowledged and forgotten": {
			fault: func(_ time.Time, key string, n int) (bool, error) { return key != "load:{a}:0:0:7" || n < 357, nil },
			lost:  1,
			gaps:  []time.Duration{pause, pause},
		},
		"a write that failed and was done all the same": {
			fault: func(_ time.Time, key string, n int) (bool, error) {
				if key == "load:{a}:0:0:7" && n == 57 {
					return true, errors.New("CLUSTERDOWN The cluster is down")
				}
				return true, nil
			},
			errors: map[string]int{"CLUSTERDOWN": 1},
			gaps:   []time.Duration{2 * pause, pause},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				store := &memory{values: map[string]string{}, fault: func(key string, n int) (bool, error) { return tt.fault(start, key, n) }}
				load := Start(t.Context(), store, []string{"a", "b"})
				time.Sleep(2*time.Second - pause/2)
				r, err := load.Stop(t.Context())
				require.NoError(t, err)
				assert.Equal(t, 2*writersPerShard*int(2*time.Second/pause), r.Operations)
				if tt.errors == nil {
					tt.errors = map[string]int{}
				}
				assert.Equal(t, tt.errors, r.Errors)
				assert.Len(t, r.Lost, tt.lost)
				assert.Equal(t, tt.gaps, r.Gaps)
			})
		})
	}
}

func TestKind(t *testing.T) {
	for want, err := range map[string]error{
		"deadline exceeded":  fmt.Errorf("set: %w", context.DeadlineExceeded),
		"connection refused": fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
		"name not found":     &net.OpError{Op: "dial", Err: &net.DNSError{Name: "hotkv-0"}},
		"MOVED":              errors.New("MOVED 1 hotkv-0:6379"),
		"no such thing":      errors.New("no such thing"),
	} {
		assert.Equal(t, want, kind(err))
	}
}

func TestReportInWords(t *testing.T) {
	assert.Equal(t, "7 writes; failed: 1 CLUSTERDOWN, 2 connection refused; longest gap of each shard: 0.01 s, 1.50 s; lost: 1", Report{
		Operations: 7, Errors: map[string]int{"connection refused": 2, "CLUSTERDOWN": 1},
		Gaps: []time.Duration{10 * time.Millisecond, 1500 * time.Millisecond}, Lost: []string{"x"},
	}.String())
	assert.Equal(t, "1 writes; failed: none; longest gap of each shard: 0.01 s; lost: 0",
		Report{Operations: 1, Gaps: []time.Duration{10 * time.Millisecond}}.String())
}

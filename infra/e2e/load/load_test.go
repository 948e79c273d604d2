package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
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

// busy is a store that cannot be read for a while.
type busy struct {
	Store
	until time.Time
}

func (b busy) Get(ctx context.Context, key string) (string, error) {
	if time.Now().Before(b.until) {
		return "", errors.New("LOADING")
	}
	return b.Store.Get(ctx, key)
}

// healthy keeps everything.
func healthy(string, int) (bool, error) { return true, nil }

func TestLoad(t *testing.T) {
	refused := fmt.Errorf("dial: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	type errs = map[string]int
	tests := map[string]struct {
		fault  func(start time.Time, key string, n int) (bool, error)
		errors []errs // of each shard
		lost   int
		gaps   []time.Duration
	}{
		"a healthy cluster": {
			fault:  func(_ time.Time, key string, n int) (bool, error) { return healthy(key, n) },
			errors: []errs{{}, {}},
			gaps:   []time.Duration{pause, pause},
		},
		"a shard that is away for a second": {
			fault: func(start time.Time, key string, _ int) (bool, error) {
				if away := time.Since(start) - 10*pause; strings.Contains(key, "{b}") && away >= 0 && away < time.Second {
					return false, refused
				}
				return true, nil
			},
			errors: []errs{{}, {"connection refused": int(time.Second / pause)}},
			gaps:   []time.Duration{pause, time.Second + pause},
		},
		"a write that was acknowledged and forgotten": {
			fault:  func(_ time.Time, key string, n int) (bool, error) { return key != "load:{a}:x:0:7" || n < 387, nil },
			errors: []errs{{"stale read": 1}, {}},
			lost:   1,
			gaps:   []time.Duration{pause, pause},
		},
		"a write that failed and was done all the same": {
			fault: func(_ time.Time, key string, n int) (bool, error) {
				if key == "load:{a}:x:0:7" && n == 27 {
					return true, errors.New("CLUSTERDOWN The cluster is down")
				}
				return true, nil
			},
			errors: []errs{{"CLUSTERDOWN": 1}, {}},
			gaps:   []time.Duration{2 * pause, pause},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				store := &memory{values: map[string]string{}, fault: func(key string, n int) (bool, error) { return tt.fault(start, key, n) }}
				load := Start(t.Context(), []Client{{"x", store}, {"y", &memory{values: map[string]string{}, fault: healthy}}}, []string{"a", "b"})
				time.Sleep(2*time.Second - pause/2)
				r, err := load.Stop(t.Context())
				require.NoError(t, err)
				assert.Equal(t, 4*int(2*time.Second/pause), r.Operations())
				assert.Empty(t, r.Of("y").Failed())
				x := r.Of("x")
				for shard, row := range x {
					assert.Equal(t, shard, row.Shard)
					assert.Equal(t, tt.errors[shard], row.Errors)
					assert.Equal(t, tt.gaps[shard], row.Gap)
				}
				assert.Len(t, x, 2)
				assert.Len(t, x.Lost(), tt.lost)
			})
		})
	}
}

func TestReadBackIsPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{values: map[string]string{}, fault: healthy}
		load := Start(t.Context(), []Client{{"x", busy{store, time.Now().Add(3 * time.Second)}}}, []string{"a"})
		time.Sleep(2*time.Second - pause/2)
		r, err := load.Stop(t.Context())
		require.NoError(t, err)
		assert.Empty(t, r.Lost())
		assert.Equal(t, map[string]int{"LOADING": int(2 * time.Second / pause)}, r[0].Errors)
		assert.Equal(t, pause, r.Gap(), "a read that fails is no gap in the writes")
	})
	synctest.Test(t, func(t *testing.T) {
		store := &memory{values: map[string]string{}, fault: healthy}
		load := Start(t.Context(), []Client{{"x", busy{store, time.Now().Add(time.Hour)}}}, []string{"a"})
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := load.Stop(ctx)
		assert.ErrorContains(t, err, "read load:{a}:x:0:0 back: LOADING")
	})
}

func TestKind(t *testing.T) {
	for want, err := range map[string]error{
		"deadline exceeded":  fmt.Errorf("set: %w", context.DeadlineExceeded),
		"connection refused": fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
		"connection reset":   fmt.Errorf("read: %w", syscall.ECONNRESET),
		"connection closed":  fmt.Errorf("read: %w", io.EOF),
		"timeout":            &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"name not found":     &net.OpError{Op: "dial", Err: &net.DNSError{Name: "hotkv-0"}},
		"MOVED":              errors.New("MOVED 1 hotkv-0:6379"),
		"no such thing":      errors.New("no such thing"),
	} {
		assert.Equal(t, want, kind(err))
	}
}

func TestReportInWords(t *testing.T) {
	r := Report{
		{Client: GoRedis, Shard: 0, Operations: 7, Gap: 10 * time.Millisecond, P99: 2 * time.Millisecond},
		{Client: GoRedis, Shard: 1, Operations: 5, Gap: 1500 * time.Millisecond, P99: time.Second,
			Errors: map[string]int{"connection refused": 2, "CLUSTERDOWN": 1}, Lost: []string{"x"}},
		{Client: Raw, Shard: 0, Operations: 1, Gap: 20 * time.Millisecond, P99: 1234 * time.Microsecond},
	}
	assert.Equal(t, `go-redis            12 operations; failed: 1 CLUSTERDOWN (shard 1), 2 connection refused (shard 1); longest gap 0.01 1.50 s; p99 2.0 1000.0 ms; lost 1
raw                  1 operations; failed: none; longest gap 0.02 s; p99 1.2 ms; lost 0
`, r.String())
	assert.Equal(t, 13, r.Operations())
	assert.Equal(t, 3, r.Failed())
	assert.Equal(t, 1500*time.Millisecond, r.Gap())
	assert.Equal(t, []string{"x"}, r.Lost())
	assert.Zero(t, r.Of(Tuned()...).Failed())
	assert.Equal(t, 1500*time.Millisecond, r.Own(GoRedis))
	r = append(r, Row{Client: Control, Gap: 30 * time.Millisecond})
	assert.Equal(t, 1470*time.Millisecond, r.Own(GoRedis))
	assert.Zero(t, r.Own(Raw))

	assert.Zero(t, r.Excused(GoRedis))
	r = append(r, Row{Client: Control, Gap: 600 * time.Millisecond})
	assert.Equal(t, 2, r.Excused(GoRedis), "it has two writers")
}

func TestBallastIsOfItsSize(t *testing.T) {
	key, value := Bulk{Keys: 1000, Size: 8}.ballast(123)
	assert.Equal(t, "bulk:123", key)
	assert.Equal(t, "123.....", value)
	_, value = Bulk{Size: 2}.ballast(123)
	assert.Equal(t, "123", value)
}

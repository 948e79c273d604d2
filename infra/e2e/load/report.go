package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Report says what the clients noticed.
type Report struct {
	Operations int
	Errors     map[string]int  // by kind
	Gaps       []time.Duration // of each shard, the longest of any writer between two acknowledged writes
	Lost       []string        // a line for each key that has less than what was acknowledged
}

// report reads back what was written.
func (l *Load) report(ctx context.Context) (Report, error) {
	r := Report{Errors: map[string]int{}}
	for _, w := range l.writers {
		r.Operations += w.operations
		for kind, n := range w.errors {
			r.Errors[kind] += n
		}
		for len(r.Gaps) <= w.shard {
			r.Gaps = append(r.Gaps, 0)
		}
		r.Gaps[w.shard] = max(r.Gaps[w.shard], w.gap)
		for _, key := range slices.Sorted(maps.Keys(w.acked)) {
			value, err := l.store.Get(ctx, key)
			if err != nil {
				return r, fmt.Errorf("read %s back: %w", key, err)
			}
			if n, err := strconv.Atoi(value); err != nil || n < w.acked[key] {
				r.Lost = append(r.Lost, fmt.Sprintf("%s is %q, %d was acknowledged", key, value, w.acked[key]))
			}
		}
	}
	return r, nil
}

func (r Report) String() string {
	var failed []string
	for _, kind := range slices.Sorted(maps.Keys(r.Errors)) {
		failed = append(failed, fmt.Sprintf("%d %s", r.Errors[kind], kind))
	}
	var gaps []string
	for _, gap := range r.Gaps {
		gaps = append(gaps, fmt.Sprintf("%.2f s", gap.Seconds()))
	}
	return fmt.Sprintf("%d writes; failed: %s; longest gap of each shard: %s; lost: %d",
		r.Operations, strings.Join(append(failed, "none")[:max(1, len(failed))], ", "), strings.Join(gaps, ", "), len(r.Lost))
}

// kind names an error without the address that it is about.
func kind(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline exceeded"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, io.EOF):
		return "connection closed"
	case errors.As(err, &dns):
		return "name not found"
	}
	// What a server answers starts with a word in capitals.
	if word, _, _ := strings.Cut(err.Error(), " "); word == strings.ToUpper(word) {
		return word
	}
	return err.Error()
}

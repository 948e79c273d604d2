package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Row says what one client noticed of one shard.
type Row struct {
	Client     string
	Shard      int
	Operations int
	Errors     map[string]int // by kind
	Gap        time.Duration  // the longest between two acknowledged writes
	P99        time.Duration  // of an operation
	Lost       []string       // a line for each key that has less than what was acknowledged
}

// Report says what all clients noticed.
type Report []Row

// Of returns what the named clients noticed.
func (r Report) Of(clients ...string) Report {
	return slices.DeleteFunc(slices.Clone(r), func(row Row) bool { return !slices.Contains(clients, row.Client) })
}

// Operations returns how many there were.
func (r Report) Operations() int {
	sum := 0
	for _, row := range r {
		sum += row.Operations
	}
	return sum
}

// Failed returns how many operations failed.
func (r Report) Failed() int {
	sum := 0
	for _, row := range r {
		for _, n := range row.Errors {
			sum += n
		}
	}
	return sum
}

// Gap returns the longest of any row.
func (r Report) Gap() time.Duration {
	var longest time.Duration
	for _, row := range r {
		longest = max(longest, row.Gap)
	}
	return longest
}

// Own returns the longest gap of the named clients beyond that of the control: what the
// cluster costs them, not a machine on which this program itself had to wait.
func (r Report) Own(clients ...string) time.Duration {
	return max(0, r.Of(clients...).Gap()-r.Of(Control).Gap())
}

// Excused returns how many operations of the named clients may fail for no fault of
// the cluster: none, unless the machine stood still for a good part of an operation's
// deadline; then the one that each writer had under way.
func (r Report) Excused(clients ...string) int {
	if r.Of(Control).Gap() < deadline/2 {
		return 0
	}
	return len(r.Of(clients...))
}

// Lost returns what any client lost.
func (r Report) Lost() []string {
	var lost []string
	for _, row := range r {
		lost = append(lost, row.Lost...)
	}
	return lost
}

// String has a line for each client, with what differs between shards in their order.
func (r Report) String() string {
	var text strings.Builder
	for len(r) > 0 {
		of := r.Of(r[0].Client)
		r = r[len(of):]
		var failed, gaps, p99s []string
		for _, row := range of {
			for _, kind := range slices.Sorted(maps.Keys(row.Errors)) {
				failed = append(failed, fmt.Sprintf("%d %s (shard %d)", row.Errors[kind], kind, row.Shard))
			}
			gaps = append(gaps, fmt.Sprintf("%.2f", row.Gap.Seconds()))
			p99s = append(p99s, fmt.Sprintf("%.1f", 1000*row.P99.Seconds()))
		}
		if len(failed) == 0 {
			failed = []string{"none"}
		}
		fmt.Fprintf(&text, "%-15s %6d operations; failed: %s; longest gap %s s; p99 %s ms; lost %d\n",
			of[0].Client, of.Operations(), strings.Join(failed, ", "), strings.Join(gaps, " "), strings.Join(p99s, " "), len(of.Lost()))
	}
	return text.String()
}

func (w *writer) report() Row {
	slices.Sort(w.took)
	w.row.P99 = w.took[len(w.took)*99/100]
	return w.row
}

// readBack compares what the keys have now. A cluster that is still being repaired
// may take a while to tell.
func (w *writer) readBack(ctx context.Context) error {
	for _, key := range slices.Sorted(maps.Keys(w.acked)) {
		value, err := w.store.Get(ctx, key)
		for err != nil {
			select {
			case <-ctx.Done():
				return fmt.Errorf("read %s back: %w", key, err)
			case <-time.After(pause):
			}
			value, err = w.store.Get(ctx, key)
		}
		if n, err := strconv.Atoi(value); err != nil || n < w.acked[key] {
			w.row.Lost = append(w.row.Lost, fmt.Sprintf("%s is %q, %d was acknowledged", key, value, w.acked[key]))
		}
	}
	return nil
}

// kind names an error without the address that it is about.
func kind(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline exceeded"
	case errors.As(err, &dns):
		return "name not found"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.Is(err, io.EOF):
		return "connection closed"
	}
	// What a server answers starts with a word in capitals.
	if word, _, _ := strings.Cut(err.Error(), " "); word == strings.ToUpper(word) {
		return word
	}
	return err.Error()
}

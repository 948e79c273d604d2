package load

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

const (
	keysPerWriter = 20
	pause         = 5 * time.Millisecond
	deadline      = time.Second // of one operation
)

// Store is the cluster as a client library shows it. A key that is missing reads
// as an empty text.
type Store interface {
	Set(ctx context.Context, key, value string) error
	Get(ctx context.Context, key string) (string, error)
}

// Client is a client library with the options that its name tells.
type Client struct {
	Name  string
	Store Store
}

// Load is writing that goes on.
type Load struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	writers []*writer
}

// Start has every client write to every shard until Stop. The tags are one of each
// shard: a key with {tag} in it is in the tag's slot.
func Start(ctx context.Context, clients []Client, tags []string) *Load {
	ctx, cancel := context.WithCancel(ctx)
	l := &Load{cancel: cancel}
	for _, client := range clients {
		for shard, tag := range tags {
			w := &writer{
				store:  client.Store,
				prefix: fmt.Sprintf("load:{%s}:%s", tag, client.Name),
				row:    Row{Client: client.Name, Shard: shard, Errors: map[string]int{}},
				acked:  map[string]int{},
			}
			l.writers = append(l.writers, w)
			l.running.Go(func() { w.run(ctx) })
		}
	}
	return l
}

// Stop ends the writing, reads every key once more and reports.
func (l *Load) Stop(ctx context.Context) (Report, error) {
	l.cancel()
	l.running.Wait()
	errs := make([]error, len(l.writers))
	for n, w := range l.writers {
		l.running.Go(func() { errs[n] = w.readBack(ctx) })
	}
	l.running.Wait()
	var report Report
	for _, w := range l.writers {
		report = append(report, w.report())
	}
	return report, errors.Join(errs...)
}

// writer is the only one to write its keys, each time a larger number than before.
type writer struct {
	store  Store
	prefix string

	row   Row
	acked map[string]int  // the last number that the cluster acknowledged, by key
	last  time.Time       // the last acknowledged write
	took  []time.Duration // each operation
}

func (w *writer) run(ctx context.Context) {
	w.last = time.Now()
	// After a write that failed nobody knows whether the key has it: such a key is not
	// written again, so that what is in acked stays exact.
	generation := 0
	for n := 1; ctx.Err() == nil; n++ {
		start := time.Now()
		written, err := w.operate(fmt.Sprintf("%s:%d:%d", w.prefix, generation, n%keysPerWriter), n)
		if !written {
			generation++
		}
		if err != nil {
			w.row.Errors[kind(err)]++
		}
		w.row.Operations++
		w.took = append(w.took, time.Since(start))
		time.Sleep(pause)
	}
	w.row.Gap = max(w.row.Gap, time.Since(w.last))
}

var errStale = errors.New("stale read")

// operate writes and reads. It is not ended by the load's own end, which is no
// failure of the cluster.
func (w *writer) operate(key string, n int) (written bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if err := w.store.Set(ctx, key, strconv.Itoa(n)); err != nil {
		return false, err
	}
	w.acked[key] = n
	w.row.Gap = max(w.row.Gap, time.Since(w.last))
	w.last = time.Now()
	value, err := w.store.Get(ctx, key)
	if err == nil && value != strconv.Itoa(n) {
		err = errStale
	}
	return true, err
}

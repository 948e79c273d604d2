package load

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"
)

const (
	writersPerShard = 4
	keysPerWriter   = 50
	pause           = 5 * time.Millisecond
	deadline        = time.Second // of one operation
)

// Store is the cluster as a client library shows it. A key that is missing reads
// as an empty text.
type Store interface {
	Set(ctx context.Context, key, value string) error
	Get(ctx context.Context, key string) (string, error)
}

// Load is writing that goes on.
type Load struct {
	store   Store
	cancel  context.CancelFunc
	running sync.WaitGroup
	writers []*writer
}

// Start writes to every shard until Stop. The tags are one of each shard: a key
// with {tag} in it is in the tag's slot.
func Start(ctx context.Context, store Store, tags []string) *Load {
	ctx, cancel := context.WithCancel(ctx)
	l := &Load{store: store, cancel: cancel}
	for shard, tag := range tags {
		for n := range writersPerShard {
			w := &writer{
				shard:  shard,
				prefix: fmt.Sprintf("load:{%s}:%d", tag, n),
				acked:  map[string]int{},
				errors: map[string]int{},
			}
			l.writers = append(l.writers, w)
			l.running.Go(func() { w.run(ctx, store) })
		}
	}
	return l
}

// Stop ends the writing, reads every key once more and reports.
func (l *Load) Stop(ctx context.Context) (Report, error) {
	l.cancel()
	l.running.Wait()
	return l.report(ctx)
}

// writer is the only one to write its keys, each time a larger number than before.
type writer struct {
	shard  int
	prefix string

	operations int
	acked      map[string]int // the last number that the cluster acknowledged, by key
	errors     map[string]int // by kind
	gap        time.Duration  // the longest between two acknowledged writes
}

func (w *writer) run(ctx context.Context, store Store) {
	last := time.Now()
	// After a write that failed nobody knows whether the key has it: such a key is not
	// written again, so that what is in acked stays exact.
	generation := 0
	for n := 1; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("%s:%d:%d", w.prefix, generation, n%keysPerWriter)
		err := w.write(store, key, n)
		if err != nil {
			w.errors[kind(err)]++
			generation++
		} else {
			w.acked[key] = n
			w.gap = max(w.gap, time.Since(last))
			last = time.Now()
		}
		w.operations++
		time.Sleep(pause)
	}
	w.gap = max(w.gap, time.Since(last))
}

// write is not ended by the load's own end, which is no failure of the cluster.
func (w *writer) write(store Store, key string, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	return store.Set(ctx, key, strconv.Itoa(n))
}

package load

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Cluster is where clients outside of Kubernetes find one.
type Cluster struct {
	Addresses []string // names that the nodes announce, with their port
	Password  string
	DNS       string // address of the name service that knows them
}

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// dialer asks the cluster's own name service, as a pod does, and completes a name
// as a pod's resolver does.
func (c Cluster) dialer(timeout time.Duration) dial {
	dialer := net.Dialer{Timeout: timeout, Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(c.DNS, "53"))
		},
	}}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if net.ParseIP(host) == nil {
			host += ".cluster.local."
		}
		return dialer.DialContext(ctx, network, net.JoinHostPort(host, port))
	}
}

// Tags returns a text for each of that many equal ranges of slots, in their order.
func (c Cluster) Tags(ctx context.Context, ranges int) ([]string, error) {
	client := c.goRedisTuned()
	defer client.Close()
	const slots = 16384
	tags := make([]string, ranges)
	for n, found := 0, 0; found < ranges; n++ {
		tag := fmt.Sprint(n)
		slot, err := client.ClusterKeySlot(ctx, tag).Result()
		if err != nil {
			return nil, err
		}
		if r := int(slot) * ranges / slots; tags[r] == "" {
			tags[r] = tag
			found++
		}
	}
	return tags, nil
}

// Bulk is data that lies in a cluster while others write.
type Bulk struct {
	Keys int
	Size int // of each value, in bytes
}

// ballast is the key and the value with that number.
func (b Bulk) ballast(n int) (key, value string) {
	number := fmt.Sprint(n)
	return "bulk:" + number, number + strings.Repeat(".", max(0, b.Size-len(number)))
}

// Fill writes it.
func (c Cluster) Fill(ctx context.Context, b Bulk) error {
	return c.each(ctx, b, func(pipe redis.Pipeliner, key, value string) func() error {
		return pipe.Set(ctx, key, value, 0).Err
	})
}

// Check fails when a key is missing or is not as Fill wrote it.
func (c Cluster) Check(ctx context.Context, b Bulk) error {
	return c.each(ctx, b, func(pipe redis.Pipeliner, key, value string) func() error {
		answer := pipe.Get(ctx, key)
		return func() error {
			if answer.Err() == nil && answer.Val() != value {
				return fmt.Errorf("%s has another value: %.40q", key, answer.Val())
			}
			return answer.Err()
		}
	})
}

// each asks something for every key, many at a time, and then looks at the answers.
func (c Cluster) each(ctx context.Context, b Bulk, ask func(pipe redis.Pipeliner, key, value string) func() error) error {
	const workers, batch = 4, 500
	client := c.goRedisTuned()
	defer client.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var working sync.WaitGroup
	for worker := range workers {
		working.Go(func() {
			for from := worker * batch; from < b.Keys && ctx.Err() == nil; from += workers * batch {
				pipe := client.Pipeline()
				var answers []func() error
				for n := from; n < min(from+batch, b.Keys); n++ {
					key, value := b.ballast(n)
					answers = append(answers, ask(pipe, key, value))
				}
				_, _ = pipe.Exec(ctx) // each answer has its own error
				for n, answer := range answers {
					if err := answer(); err != nil {
						cancel(fmt.Errorf("bulk:%d: %w", from+n, err))
					}
				}
			}
		})
	}
	working.Wait()
	return context.Cause(ctx)
}

// Info returns what one node says of its cluster and of its replication.
func (c Cluster) Info(ctx context.Context, address string) (string, error) {
	node := redis.NewClient(&redis.Options{
		Addr:                  address,
		Password:              c.Password,
		Dialer:                c.dialer(attempt),
		ContextTimeoutEnabled: true,
		MaxRetries:            -1,
		DialerRetries:         1,
	})
	defer node.Close()
	cluster, err := node.ClusterInfo(ctx).Result()
	if err != nil {
		return "", err
	}
	replication, err := node.Info(ctx, "replication").Result()
	return cluster + replication, err
}

package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/valkey-io/valkey-go"
)

// The clients. Raw tries one node after the other until an operation's deadline, so
// it shows what the servers allow; the libraries show what applications get, with
// the options that nobody sets and with those that the components' page recommends.
// Control writes to nothing: its gap is what the machine itself costs all of them.
const (
	Control      = "control"
	Raw          = "raw"
	ValkeyGo     = "valkey-go"
	ValkeyGoTune = "valkey-go tuned"
	GoRedis      = "go-redis"
	GoRedisTune  = "go-redis tuned"
)

// Every are the names of all but the control.
func Every() []string { return []string{Raw, ValkeyGo, ValkeyGoTune, GoRedis, GoRedisTune} }

// Tuned are the names of those with recommended options, and of the raw one.
func Tuned() []string { return []string{Raw, ValkeyGoTune, GoRedisTune} }

// Clients returns one of each. Close ends their connections.
func (c Cluster) Clients() (clients []Client, closeAll func(), err error) {
	plain, err := c.valkeyGo()
	if err != nil {
		return nil, nil, err
	}
	tuned, err := c.valkeyGoTuned()
	if err != nil {
		plain.Close()
		return nil, nil, err
	}
	logging.Disable() // go-redis would print every failed dial
	raw := &raw{cluster: c, nodes: map[string]valkey.Client{}, serves: map[string]string{}}
	redisPlain, redisTuned := c.goRedis(), c.goRedisTuned()
	return []Client{
			{Control, &nothing{}},
			{Raw, raw},
			{ValkeyGo, valkeyStore{plain, false}},
			{ValkeyGoTune, valkeyStore{tuned, true}},
			{GoRedis, redisStore{redisPlain}},
			{GoRedisTune, redisStore{redisTuned}},
		}, func() {
			raw.close()
			plain.Close()
			tuned.Close()
			_ = redisPlain.Close()
			_ = redisTuned.Close()
		}, nil
}

func valkeyDial(d dial) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
	return func(ctx context.Context, address string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
		return d(ctx, "tcp", address)
	}
}

// defaultDial is how long both libraries wait for a connection by default.
const defaultDial = 5 * time.Second

func (c Cluster) valkeyGo() (valkey.Client, error) {
	return valkey.NewClient(valkey.ClientOption{
		InitAddress: c.Addresses,
		Password:    c.Password,
		DialCtxFn:   valkeyDial(c.dialer(defaultDial)),
	})
}

func (c Cluster) valkeyGoTuned() (valkey.Client, error) {
	return valkey.NewClient(valkey.ClientOption{
		InitAddress:      c.Addresses,
		Password:         c.Password,
		DialCtxFn:        valkeyDial(c.dialer(300 * time.Millisecond)),
		ConnWriteTimeout: 500 * time.Millisecond,
		ClusterOption:    valkey.ClusterOption{ShardsRefreshInterval: time.Second},
		RetryDelay:       func(int, valkey.Completed, error) time.Duration { return 20 * time.Millisecond },
	})
}

func (c Cluster) goRedis() *redis.ClusterClient {
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:    c.Addresses,
		Password: c.Password,
		Dialer:   c.dialer(defaultDial),
	})
}

func (c Cluster) goRedisTuned() *redis.ClusterClient {
	return redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:                      c.Addresses,
		Password:                   c.Password,
		Dialer:                     c.dialer(300 * time.Millisecond),
		DialerRetries:              1,
		ContextTimeoutEnabled:      true,
		MaxRedirects:               40,
		MinRetryBackoff:            5 * time.Millisecond,
		MaxRetryBackoff:            40 * time.Millisecond,
		ReadTimeout:                400 * time.Millisecond,
		WriteTimeout:               400 * time.Millisecond,
		ClusterStateReloadInterval: time.Second,
	})
}

type nothing struct{ values sync.Map }

func (s *nothing) Set(_ context.Context, key, value string) error {
	s.values.Store(key, value)
	return nil
}

func (s *nothing) Get(_ context.Context, key string) (string, error) {
	value, _ := s.values.Load(key)
	text, _ := value.(string)
	return text, nil
}

type valkeyStore struct {
	client    valkey.Client
	retryable bool // the same value may be written again
}

func (s valkeyStore) Set(ctx context.Context, key, value string) error {
	command := s.client.B().Set().Key(key).Value(value).Build()
	if s.retryable {
		command = command.ToRetryable()
	}
	return s.client.Do(ctx, command).Error()
}

func (s valkeyStore) Get(ctx context.Context, key string) (string, error) {
	value, err := s.client.Do(ctx, s.client.B().Get().Key(key).Build()).ToString()
	if valkey.IsValkeyNil(err) {
		return "", nil
	}
	return value, err
}

type redisStore struct{ client *redis.ClusterClient }

func (s redisStore) Set(ctx context.Context, key, value string) error {
	return s.client.Set(ctx, key, value, 0).Err()
}

func (s redisStore) Get(ctx context.Context, key string) (string, error) {
	value, err := s.client.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return value, err
}

// raw has a connection to each node, and no idea of the cluster but where a tag was
// last served.
type raw struct {
	cluster Cluster
	mutex   sync.Mutex
	nodes   map[string]valkey.Client // by address
	serves  map[string]string        // address by tag
}

// attempt is how long one node may take for an answer.
const attempt = 400 * time.Millisecond

func (r *raw) Set(ctx context.Context, key, value string) error {
	return r.ask(ctx, key, func(ctx context.Context, node valkey.Client) error {
		return valkeyStore{client: node}.Set(ctx, key, value)
	})
}

func (r *raw) Get(ctx context.Context, key string) (value string, err error) {
	err = r.ask(ctx, key, func(ctx context.Context, node valkey.Client) error {
		value, err = valkeyStore{client: node}.Get(ctx, key)
		return err
	})
	return value, err
}

func (r *raw) ask(ctx context.Context, key string, question func(context.Context, valkey.Client) error) error {
	tag, _, _ := strings.Cut(key, "}")
	r.mutex.Lock()
	address := r.serves[tag]
	r.mutex.Unlock()
	for n := 0; ; n++ {
		if address == "" {
			address = r.cluster.Addresses[n%len(r.cluster.Addresses)]
		}
		err := r.askOne(ctx, address, question)
		if err == nil {
			r.mutex.Lock()
			r.serves[tag] = address
			r.mutex.Unlock()
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: the last answer was: %w", ctx.Err(), err)
		}
		address = ""
		if answer, ok := valkey.IsValkeyErr(err); ok {
			address, _ = answer.IsMoved()
		}
		if address == "" {
			time.Sleep(pause)
		}
	}
}

func (r *raw) askOne(ctx context.Context, address string, question func(context.Context, valkey.Client) error) error {
	node, err := r.node(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	return question(ctx, node)
}

// node returns the connection to an address; one that broke is made anew by itself.
func (r *raw) node(address string) (valkey.Client, error) {
	r.mutex.Lock()
	node := r.nodes[address]
	r.mutex.Unlock()
	if node != nil {
		return node, nil
	}
	node, err := valkey.NewClient(valkey.ClientOption{
		InitAddress:       []string{address},
		Password:          r.cluster.Password,
		DialCtxFn:         valkeyDial(r.cluster.dialer(attempt / 2)),
		ConnWriteTimeout:  attempt,
		ForceSingleClient: true,
		DisableRetry:      true,
		DisableCache:      true,
	})
	if err != nil {
		return nil, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if other := r.nodes[address]; other != nil { // another shard's writer was faster
		node.Close()
		return other, nil
	}
	r.nodes[address] = node
	return node, nil
}

func (r *raw) close() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, node := range r.nodes {
		node.Close()
	}
}

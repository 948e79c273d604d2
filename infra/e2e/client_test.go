package e2e

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valkey-io/valkey-go"
)

// client is a HotKV cluster as the client library of the Valkey project shows it.
// It dials the names that the nodes announce, which it asks the cluster's own DNS
// for, as a pod does.
type client struct{ valkey.Client }

// newClient returns a client with the options that a careful user sets: dead
// addresses and old layouts are noticed within a second.
func newClient(t *testing.T, password string, hosts ...string) client {
	t.Helper()
	dns, err := kubectl("-n", "kube-system", "get", "service", "kube-dns", "-o", "jsonpath={.spec.clusterIP}")
	require.NoError(t, err)
	dialer := net.Dialer{Timeout: 300 * time.Millisecond, Resolver: &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(dns, "53"))
		},
	}}
	c, err := valkey.NewClient(valkey.ClientOption{
		InitAddress: hosts,
		Password:    password,
		DialCtxFn: func(ctx context.Context, address string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return dialer.DialContext(ctx, "tcp", net.JoinHostPort(host+".cluster.local.", port))
		},
		ConnWriteTimeout: 500 * time.Millisecond,
		ClusterOption:    valkey.ClusterOption{ShardsRefreshInterval: time.Second},
		RetryDelay:       func(int, valkey.Completed, error) time.Duration { return 20 * time.Millisecond },
		DisableCache:     true,
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return client{c}
}

// Set may be repeated by the library: it writes the same value again.
func (c client) Set(ctx context.Context, key, value string) error {
	return c.Do(ctx, c.B().Set().Key(key).Value(value).Build().ToRetryable()).Error()
}

func (c client) Get(ctx context.Context, key string) (string, error) {
	value, err := c.Do(ctx, c.B().Get().Key(key).Build()).ToString()
	if errors.Is(err, valkey.Nil) {
		return "", nil
	}
	return value, err
}

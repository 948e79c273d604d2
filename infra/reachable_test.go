package main

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/stacks"
)

func TestAServerThatSaysAnythingAnswers(t *testing.T) {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Empty(t, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	})
	server := httptest.NewTLSServer(refuse)
	defer server.Close()
	assert.NoError(t, reachable(t.Context(), stacks.Endpoint{Server: server.URL}))

	picky := httptest.NewUnstartedServer(refuse)
	picky.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	picky.StartTLS()
	defer picky.Close()
	assert.NoError(t, reachable(t.Context(), stacks.Endpoint{Server: picky.URL}), "it wants a certificate")

	proxy := httptest.NewServer(refuse)
	defer proxy.Close()
	assert.NoError(t, reachable(t.Context(), stacks.Endpoint{Server: "http://behind-the-proxy.invalid", ProxyURL: proxy.URL}))
}

func TestAServerThatSaysNothingDoesNotAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and nothing else
	require.NoError(t, err)
	t.Cleanup(func() { silent.Close() })
	for what, at := range map[string]stacks.Endpoint{
		"a closed port":       {Server: "https://127.0.0.1:1"},
		"a name of nobody":    {Server: "https://nobody.invalid:6443"},
		"a closed proxy":      {Server: "https://127.0.0.1:2", ProxyURL: "http://127.0.0.1:1"},
		"a server that hangs": {Server: "https://" + silent.Addr().String()},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			assert.ErrorContains(t, reachable(t.Context(), at), "cluster.context: the API server does not answer")
			assert.Less(t, time.Since(start), patience+2*time.Second)
		})
	}
}

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"kvinfra/stacks"
)

// patience is for an API server, which says something within a second wherever it is.
const patience = 3 * time.Second

// reachable reports an API server that says nothing for as long as patience lasts. The
// provider would find out object by object, when passwords are generated already, and
// waits for a minute at an address that swallows packets.
//
// Any answer will do, also one that refuses: who the server is and what it permits is
// the provider's to judge. So no certificate is checked, and nothing secret sent.
func reachable(ctx context.Context, at stacks.Endpoint) error {
	transport := &http.Transport{
		Proxy:             http.ProxyFromEnvironment, // as the provider does
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}
	if at.ProxyURL != "" {
		proxy, err := url.Parse(at.ProxyURL)
		if err != nil {
			return errors.New("cluster.context: its proxy-url is no URL") // the reason would quote its password
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.Server+"/version", nil)
	if err != nil {
		return errors.New("cluster.context: its server is no URL; write it as https://HOST:PORT")
	}
	request.URL.RawQuery = "" // nothing that belongs into a log
	response, err := (&http.Client{Transport: transport, Timeout: patience}).Do(request)
	if err == nil {
		return response.Body.Close()
	}
	if remote := new(net.OpError); errors.As(err, &remote) && remote.Op == "remote error" {
		return nil // it does not talk to us without a certificate
	}
	return fmt.Errorf("cluster.context: the API server does not answer; start it, or correct its address in the kubeconfig (nothing was changed): %w", err)
}

//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// server is the API server that a kubeconfig leads to.
type server struct {
	address string
	client  *http.Client
}

func connect(kubeconfig string) (server, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return server{}, fmt.Errorf("read %s: %w", kubeconfig, err)
	}
	config.Timeout = 5 * time.Second
	client, err := rest.HTTPClientFor(config)
	return server{address: config.Host, client: client}, err
}

// get decodes the object at path into object.
func (s server) get(ctx context.Context, path string, object any) error {
	body, err := s.read(ctx, path)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, object)
}

func (s server) read(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", path, response.Status)
	}
	return body, nil
}

// waitReady waits until the API server serves.
func (s server) waitReady(ctx context.Context, patience time.Duration) error {
	return wait(ctx, patience, "the API server is not ready", func(ctx context.Context) error {
		_, err := s.read(ctx, "/readyz")
		return err
	})
}

// waitNode waits until the node is Ready by a report that is younger than since:
// a kept node still carries what its last run said.
func (s server) waitNode(ctx context.Context, patience time.Duration, since time.Time) error {
	return wait(ctx, patience, "node "+nodeName+" is not Ready", func(ctx context.Context) error {
		var node struct {
			Status struct {
				Conditions []struct {
					Type, Status, Message string
					LastHeartbeatTime     time.Time
				}
			}
		}
		if err := s.get(ctx, "/api/v1/nodes/"+nodeName, &node); err != nil {
			return err
		}
		for _, c := range node.Status.Conditions {
			if c.Type != "Ready" || c.LastHeartbeatTime.Before(since.Truncate(time.Second)) {
				continue
			}
			if c.Status == "True" {
				return nil
			}
			return fmt.Errorf("it says: %s", c.Message)
		}
		return errors.New("its kubelet has not reported yet")
	})
}

// wait tries until try succeeds. When patience ends before, the error says what
// failed and why the last attempt did.
func wait(ctx context.Context, patience time.Duration, problem string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, context.DeadlineExceeded) {
				err = cause
			}
			return fmt.Errorf("%s: %w", problem, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

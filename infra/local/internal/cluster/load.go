//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/child"
)

// Load imports image archives, of the kind that `docker save` writes, into the
// running node. Those that it loaded before and that did not change since are skipped.
func Load(ctx context.Context, c checkout.Checkout, log io.Writer, archives ...string) error {
	running, err := runningHere(ctx, c, nodeSocket)
	if err != nil {
		return err
	}
	if running == nil {
		return errors.New("load images: the local cluster is not running: make up starts it")
	}
	loaded := c.Local("cluster", "loaded.json")
	marks := map[string]string{}
	content, err := kept(loaded, func() ([]byte, error) { return []byte("{}"), nil })
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &marks); err != nil {
		return fmt.Errorf("read %s: %w", loaded, err)
	}
	for _, archive := range archives {
		info, err := os.Stat(archive)
		if err != nil {
			return fmt.Errorf("load images: %w", err)
		}
		mark := fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime().UTC())
		if marks[archive] == mark {
			continue
		}
		ctr := child.Command(ctx, "ctr", "--address", running.containerd(), "--namespace", "k8s.io", "images", "import", archive)
		if err := child.Run(ctr, log); err != nil {
			return fmt.Errorf("load %s: %w", archive, err)
		}
		marks[archive] = mark
		content, err := json.MarshalIndent(marks, "", "  ")
		if err != nil {
			return err
		}
		if err := writeFile(loaded, content); err != nil {
			return err
		}
	}
	return nil
}

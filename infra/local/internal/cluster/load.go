//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

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
		if err := child.Run(running.images(ctx, "import", archive), log); err != nil {
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
	return running.nameByDigest(ctx, log)
}

// nameByDigest lets pods name every image by its digest too. A registry answers to
// both names, and these images come from none.
func (p *presence) nameByDigest(ctx context.Context, log io.Writer) error {
	list, err := p.images(ctx, "list").Output()
	if err != nil {
		return fmt.Errorf("list the images of the node: %w", err)
	}
	for line := range strings.Lines(string(list)) {
		columns := strings.Fields(line) // name, media type, digest and more
		if len(columns) < 3 {
			continue
		}
		name, digest := columns[0], columns[2]
		tag := strings.LastIndex(name, ":")
		if tag < strings.LastIndex(name, "/") || !strings.Contains(name, "/") || strings.Contains(name, "@") {
			continue // the table's head, or a name of containerd's own
		}
		if err := child.Run(p.images(ctx, "tag", "--force", name, name[:tag]+"@"+digest), log); err != nil {
			return fmt.Errorf("name %s by its digest: %w", name, err)
		}
	}
	return nil
}

// images is a command for the images that the kubelet sees.
func (p *presence) images(ctx context.Context, args ...string) *exec.Cmd {
	return child.Command(ctx, "ctr", append([]string{"--address", p.containerd(), "--namespace", "k8s.io", "images"}, args...)...)
}

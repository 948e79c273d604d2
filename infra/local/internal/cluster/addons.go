//go:build linux

package cluster

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"text/template"

	"kvinfra/infra/local/internal/checkout"
	"kvinfra/infra/local/internal/child"
)

//go:embed addons/*.yaml
var addonFiles embed.FS

// renderAddons returns the objects of the cluster's add-ons as one YAML stream.
func renderAddons() ([]byte, error) {
	values := map[string]string{
		"BusyboxImage":     busyboxImage,
		"CorednsImage":     corednsImage,
		"DNSService":       dnsService,
		"ProvisionerImage": provisionerImage,
	}
	t, err := template.New("").Option("missingkey=error").ParseFS(addonFiles, "addons/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("add-ons: %w", err)
	}
	names, err := fs.Glob(addonFiles, "addons/*.yaml")
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	for _, name := range names {
		all.WriteString("---\n")
		if err := t.ExecuteTemplate(&all, name[len("addons/"):], values); err != nil {
			return nil, fmt.Errorf("add-ons: %w", err)
		}
	}
	return all.Bytes(), nil
}

// applyAddons makes the add-ons what they are here, whatever was done to them.
func applyAddons(ctx context.Context, c checkout.Checkout, log io.Writer) error {
	objects, err := renderAddons()
	if err != nil {
		return err
	}
	apply := kubectl(ctx, c, c.Local("kubeconfig"), "apply", "--server-side", "--force-conflicts", "--filename=-")
	apply.Stdin = bytes.NewReader(objects)
	return child.Run(apply, log)
}

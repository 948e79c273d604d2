package stacks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

func (c Cluster) validate(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c.Kubeconfig == "" {
		errs = append(errs, field.Required(at.Child("kubeconfig"), "name the file that says how to reach the Kubernetes cluster; KUBECONFIG is not looked at"))
	}
	if !c.Inline() && (len(c.Kubeconfig) > longestPath || strings.Contains(c.Kubeconfig, ": ")) {
		errs = append(errs, field.Invalid(at.Child("kubeconfig"), Hidden, "is neither a path nor the text of a kubeconfig: give the text as it is in the file, with its lines"))
	}
	if c.Context == "" {
		errs = append(errs, field.Required(at.Child("context"), "name a context of the kubeconfig; its current context is not looked at"))
	}
	for _, why := range validation.IsDNS1123Label(c.Namespace) {
		errs = append(errs, field.Invalid(at.Child("namespace"), c.Namespace, why))
	}
	return errs
}

// longestPath is shorter than any kubeconfig, also as one line or in base64.
const longestPath = 500

// Hidden stands where a stack file has something encrypted and nobody has the key.
const Hidden = "[secret]"

// Inline says whether the kubeconfig is given as text and not as a path. It has
// keys in it, so it is a secret.
func (c Cluster) Inline() bool {
	return strings.ContainsAny(c.Kubeconfig, "\n{") // the text may be JSON on one line
}

// KubeconfigFor returns what to give a provider whose working directory is dir, a
// directory of the project in root: a relative path stays relative, so that the
// state holds no path of one machine.
func (c Cluster) KubeconfigFor(root, dir string) (string, error) {
	if c.Inline() || filepath.IsAbs(c.Kubeconfig) {
		return c.Kubeconfig, nil
	}
	return filepath.Rel(dir, filepath.Join(root, c.Kubeconfig))
}

// Endpoint is where the API server of a Kubernetes cluster is.
type Endpoint struct {
	// Server is its URL.
	Server string `json:"server"`
	// ProxyURL leads to it. Empty: what the shell says, as for any program.
	ProxyURL string `json:"proxy-url"`
}

// kubeconfig is the part of such a file that says where a context leads.
type kubeconfig struct {
	Contexts []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
		} `json:"context"`
	} `json:"contexts"`
	Clusters []struct {
		Name    string   `json:"name"`
		Cluster Endpoint `json:"cluster"`
	} `json:"clusters"`
}

// Endpoint returns where the kubeconfig's context leads, or why it cannot be used;
// the engine would preview with such a one as if all were well. A file that does
// not exist is reported as fs.ErrNotExist.
func (c Cluster) Endpoint(root string) (Endpoint, error) {
	text := []byte(c.Kubeconfig)
	where := "the text of cluster.kubeconfig"
	if !c.Inline() {
		where = c.Kubeconfig
		if !filepath.IsAbs(where) {
			where = filepath.Join(root, where)
		}
		var err error
		text, err = readRegular(where)
		if errors.Is(err, fs.ErrNotExist) {
			return Endpoint{}, fmt.Errorf("cluster.kubeconfig: %s: %w; put the cluster's kubeconfig there or name another file", c.Kubeconfig, fs.ErrNotExist)
		}
		if err != nil {
			return Endpoint{}, fmt.Errorf("cluster.kubeconfig: %w", err)
		}
	}
	var config kubeconfig
	// The reason could quote a key.
	if err := yaml.Unmarshal(text, &config); err != nil {
		return Endpoint{}, fmt.Errorf("cluster.kubeconfig: %s is no kubeconfig", where)
	}
	var names []string
	for _, context := range config.Contexts {
		names = append(names, context.Name)
	}
	if len(names) == 0 {
		return Endpoint{}, fmt.Errorf("cluster.kubeconfig: %s has no contexts", where)
	}
	chosen := slices.Index(names, c.Context)
	if chosen < 0 {
		return Endpoint{}, fmt.Errorf("cluster.context: %s has no context %q; it has %s", where, c.Context, strings.Join(names, ", "))
	}
	for _, cluster := range config.Clusters {
		if cluster.Name == config.Contexts[chosen].Context.Cluster && cluster.Cluster.Server != "" {
			return cluster.Cluster, nil
		}
	}
	return Endpoint{}, fmt.Errorf("cluster.context: context %q of %s leads nowhere: its cluster %q has no server there", c.Context, where, config.Contexts[chosen].Context.Cluster)
}

// readRegular is os.ReadFile for what is surely a file: a pipe would be waited for, and
// a device have no end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() { // of a directory, reading says so
		return nil, fmt.Errorf("%s is no file", path)
	}
	return os.ReadFile(path)
}

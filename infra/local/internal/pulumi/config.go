package pulumi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Config is what we need to know of a stack's file. The program reads all of it,
// and is strict about it.
type Config struct {
	Cluster struct {
		Kubeconfig clearText `json:"kubeconfig"` // a path, relative to the stack's file, or the text itself
		Context    string    `json:"context"`
		Namespace  string    `json:"namespace"`
	} `json:"kvinfra:cluster"`
	HotKV map[string]struct {
		Server    string `json:"server"`
		Namespace string `json:"namespace"`
	} `json:"kvinfra:hotkv"`
}

// clearText is a text, or empty where the file has it encrypted.
type clearText string

// UnmarshalJSON leaves t empty for anything but a text.
func (t *clearText) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*t = clearText(text)
	}
	return nil
}

// localKubeconfig is what a stack that runs on the checkout's own cluster names.
const localKubeconfig = ".local/kubeconfig"

// Config reads the stack's file.
func (s Stack) Config() (Config, error) {
	file := filepath.Join(s.checkout.Root, stackFile(s.Name))
	content, err := os.ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	var stack struct {
		Config Config `json:"config"`
	}
	err = yaml.Unmarshal(content, &stack)
	if _, wrongForm := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !wrongForm { // of which the program says more
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	return stack.Config, nil
}

// OnLocalCluster says whether the stack runs on the checkout's own cluster.
func (c Config) OnLocalCluster() bool {
	return filepath.Clean(string(c.Cluster.Kubeconfig)) == localKubeconfig
}

// Kubectl returns commands that show what runs, to be typed in the checkout.
func (c Config) Kubectl() []string {
	kubeconfig := string(c.Cluster.Kubeconfig)
	if kubeconfig == "" || strings.ContainsAny(kubeconfig, "\n{") {
		return nil // no file to name, and its keys are nothing to print
	}
	kubectl := func(namespace, arguments string) string {
		program := "kubectl"
		if c.OnLocalCluster() {
			program = ".local/bin/kubectl"
		}
		return fmt.Sprintf("%s --kubeconfig %s --context %s -n %s %s", program, kubeconfig, c.Cluster.Context,
			cmp.Or(namespace, c.Cluster.Namespace, "default"), arguments)
	}
	commands := []string{kubectl("", "get pods")}
	for _, name := range slices.Sorted(maps.Keys(c.HotKV)) {
		cluster := c.HotKV[name]
		commands = append(commands, kubectl(cluster.Namespace,
			fmt.Sprintf("exec svc/%s -- %s-cli cluster info", name, cmp.Or(cluster.Server, "hotkv"))))
	}
	return commands
}

package spec

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
)

// ConvergeFile is the script of ConvergeScripts that makes the running servers one
// cluster of the wanted layout. It reads the variables of ConvergeVariables and the
// password's.
const ConvergeFile = "converge.sh"

//go:embed converge.sh observe.sh slots.sh
var converge embed.FS

// ConvergeScripts returns the script and those that it reads, by their file names.
func ConvergeScripts() (map[string]string, error) {
	scripts := map[string]string{}
	entries, err := converge.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := converge.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		scripts[e.Name()] = string(text)
	}
	return scripts, nil
}

// Variable is an environment variable of a container.
type Variable struct{ Name, Value string }

// Mode is what a run of the script may do beyond repair.
type Mode string

// Modes of the script. Only a run that may bootstrap gives out slots that nobody
// owns: six empty servers look the same whether they are new or lost everything.
const (
	Bootstrap  Mode = "bootstrap"   // make a new cluster
	AcceptLoss Mode = "accept-loss" // and begin lost shards empty
	Converge   Mode = "converge"    // bring a cluster to the wanted layout
	Repair     Mode = "repair"      // bring it back to the layout it has
)

// RepairSeconds is the longest that a repair takes: the next one is not far.
const RepairSeconds = 240

// ConvergeVariables tells the script about the cluster called name.
// The version is the one that the servers' VersionArguments have.
func (c Cluster) ConvergeVariables(name, version string, mode Mode) []Variable {
	var shards []string
	for _, m := range c.Members(name) {
		shards = append(shards, m.Shard)
	}
	seconds := c.TimeoutSeconds
	if mode == Repair {
		seconds = min(seconds, RepairSeconds)
	}
	return []Variable{
		{"CLI", c.Server.Programs().CLI},
		{"PORT", strconv.Itoa(ClientPort)},
		{"HOSTS", strings.Join(c.Hosts(name), " ")},
		{"SHARDS", strings.TrimSpace(strings.Join(shards, " "))},
		{"FAMILY", fmt.Sprintf("%s-*.%s.%s.svc", name, name, c.Namespace)},
		{"PRIMARIES", strconv.Itoa(c.Primaries)},
		{"REPLICAS", strconv.Itoa(c.ReplicasPerPrimary)},
		{"NODE_TIMEOUT", strconv.Itoa(c.NodeTimeoutSeconds * 1000)},
		{"VERSION", version},
		{"DEADLINE_SECONDS", strconv.Itoa(seconds)},
		{"MODE", string(mode)},
	}
}

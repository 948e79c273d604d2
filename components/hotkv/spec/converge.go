package spec

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ConvergeFile is the script of ConvergeScripts that makes the running servers one
// cluster of the wanted layout. It reads the variables of ConvergeVariables and
// PasswordFileVariable, or has some of them from a file that is its argument.
const ConvergeFile = "converge.sh"

// PasswordFileVariable is the variable that names the file with the password. A Job that
// an older version made has the password itself instead, in the client program's variable.
const PasswordFileVariable = "PASSWORD_FILE"

// InitFile is the file with InitVariables.
const InitFile = "init.env"

//go:embed converge.sh observe.sh slots.sh answers.sh
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
		{"FAMILY", c.family(name)},
		{"PRIMARIES", strconv.Itoa(c.Primaries)},
		{"REPLICAS", strconv.Itoa(c.ReplicasPerPrimary)},
		{"NODE_TIMEOUT", strconv.Itoa(c.NodeTimeoutSeconds * 1000)},
		{"VERSION", version},
		{"DEADLINE_SECONDS", strconv.Itoa(seconds)},
		{"MODE", string(mode)},
	}
}

// InitVariables is a file with those variables that a Job which is only ever made once
// must have as they are now, when a run of it is repeated. It has no version: an update
// of the pods that is under way is waited for by the Job that comes next.
func (c Cluster) InitVariables(name string) string {
	return variablesFile(slices.DeleteFunc(c.ConvergeVariables(name, "", ""), inInitEnvironment))
}

// InitEnvironment are the variables of such a Job that belong to it and to its image.
func (c Cluster) InitEnvironment(mode Mode) []Variable {
	return slices.DeleteFunc(c.ConvergeVariables("", "", mode), func(v Variable) bool { return !inInitEnvironment(v) })
}

func inInitEnvironment(v Variable) bool { return v.Name == "CLI" || v.Name == "MODE" }

func variablesFile(variables []Variable) string {
	var lines strings.Builder
	for _, v := range variables {
		fmt.Fprintf(&lines, "%s='%s'\n", v.Name, v.Value) // no value has a quote in it
	}
	return lines.String()
}

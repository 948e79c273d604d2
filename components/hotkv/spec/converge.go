package spec

import (
	_ "embed"
	"strconv"
	"strings"
)

// ConvergeScript makes the running servers one cluster of the wanted layout. It
// reads the variables of ConvergeVariables and the password's.
//
//go:embed converge.sh
var ConvergeScript string

// Variable is an environment variable of a container.
type Variable struct{ Name, Value string }

// ConvergeVariables tells the script about the cluster called name. Only a run
// that may bootstrap gives out slots that nobody owns: six empty servers look
// the same whether they are new or lost everything.
func (c Cluster) ConvergeVariables(name string, bootstrap bool) []Variable {
	return []Variable{
		{"CLI", c.Server.Programs().CLI},
		{"HOSTS", strings.Join(c.Hosts(name), " ")},
		{"PORT", strconv.Itoa(ClientPort)},
		{"PRIMARIES", strconv.Itoa(c.Primaries)},
		{"BOOTSTRAP", strconv.FormatBool(bootstrap)},
		{"DEADLINE_SECONDS", strconv.Itoa(c.TimeoutSeconds)},
	}
}

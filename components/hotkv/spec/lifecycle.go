package spec

import (
	_ "embed"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Scripts that each server's pod runs, by the name of their file. They are not
// part of the pod, so that a better one restarts nothing.
const (
	StartFile    = "start.sh"
	ReadyFile    = "ready.sh"
	HandoverFile = "handover.sh"
	RejoinFile   = "rejoin.sh"
	RepairFile   = "repair.env"
	AnswersFile  = "answers.sh"
	FamilyFile   = "family.env"
)

// startScript starts the server. Its arguments are the file with the password, and
// the server's program and Arguments.
//
//go:embed start.sh
var startScript string

// readyScript says whether a node is ready. Its arguments are the client program and,
// without volumes, rejoinScript's marker.
//
//go:embed ready.sh
var readyScript string

// handoverScript makes a replica the primary before this node stops. Its arguments
// are the client program and HandoverSeconds.
//
//go:embed handover.sh
var handoverScript string

// rejoinScript brings a node without a volume back into the cluster. Its arguments are
// RepairFile, ConvergeFile, a file that it makes when there is nothing to come back to,
// and the command that starts the server.
//
//go:embed rejoin.sh
var rejoinScript string

// answersScript takes apart what servers answer. The other scripts read it.
//
//go:embed answers.sh
var answersScript string

// LifecycleScripts returns the scripts of a server's pod by the name of their file.
func (c Cluster) LifecycleScripts(name string) map[string]string {
	files := map[string]string{
		StartFile: startScript, ReadyFile: readyScript, HandoverFile: handoverScript, AnswersFile: answersScript,
		FamilyFile: variablesFile([]Variable{{"FAMILY", c.family(name)}}),
	}
	if c.Storage.None {
		files[RejoinFile] = rejoinScript
		files[RepairFile] = variablesFile(c.ConvergeVariables(name, "", Repair))
	}
	return files
}

// HandoverSeconds is how long a primary that is to stop waits for a replica that
// has its data. That replica may be on its way back: a minute to start on another
// node, and the data at a speed that a busy node still reaches.
func (c Cluster) HandoverSeconds() int { return 60 + c.memoryMiB()/20 }

// GraceSeconds is what Kubernetes waits before it kills a pod: beside the handover,
// the time in which clients learn of it (3 s), the server's own wait for its
// replicas (10 s), and as much again for a slow disk.
func (c Cluster) GraceSeconds() int { return c.HandoverSeconds() + 30 }

// StartSeconds is how long a server may take to load its data before it is taken
// for broken and restarted, which would only begin the load anew.
func (c Cluster) StartSeconds() int { return 120 + c.memoryMiB()/5 }

// memoryMiB is the most data that a server can hold.
func (c Cluster) memoryMiB() int {
	limit, err := resource.ParseQuantity(c.Resources.Limits.Memory)
	if err != nil {
		return 0 // reported by Validate
	}
	return int(limit.Value() >> 20)
}

// Command kwok-stages prints the stages that kwok takes nodes and pods through.
// kwok's own module has them, but its program comes without.
package main

import (
	"fmt"
	"os"

	node "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	heartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

func main() {
	stages := []string{
		node.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease,
		pod.DefaultPodReady, pod.DefaultPodComplete, pod.DefaultPodDelete,
	}
	for _, stage := range stages {
		if _, err := fmt.Println("---\n" + stage); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

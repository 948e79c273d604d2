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

// podDelete is kwok's stage of that name, but a pod takes a second to end. One that is
// gone and back by the same name before the controller of disruption budgets looked is
// taken for one that was evicted and does not go: for two minutes its budget allows no
// further eviction.
const podDelete = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-delete
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchExpressions:
    - key: .metadata.deletionTimestamp
      operator: Exists
  delay:
    durationMilliseconds: 1000
  next:
    delete: true
`

func main() {
	stages := []string{
		node.DefaultNodeInit, heartbeat.DefaultNodeHeartbeatWithLease,
		pod.DefaultPodReady, pod.DefaultPodComplete, podDelete,
	}
	for _, stage := range stages {
		if _, err := fmt.Println("---\n" + stage); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

package cluster

import "fmt"

// instead adds to the reason why this machine cannot run the local cluster what
// its user can do.
func instead(reason error) error {
	return fmt.Errorf("%w\nAny other cluster does as well, for example one made by kind: copy Pulumi.dev.yaml to Pulumi.mine.yaml, name its kubeconfig and context there, and run make up STACK=mine", reason)
}

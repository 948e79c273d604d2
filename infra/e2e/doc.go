// Package e2e runs both systems on a real Kubernetes by the commands that a user
// types, and does to them what happens there: pods are deleted, an image is
// updated, a run is killed. Its one rule: it works in a copy of the checkout, on
// stacks and in namespaces of its own, and touches nothing of the user's.
//
// "make e2e" starts the local cluster that it needs: these tests talk to pods from
// this machine, and update to an image that is only there. What takes several nodes
// runs on fake ones, in an API server of its own beside that cluster. "make chaos" runs the
// long stories too, which are in the files chaos_*_test.go, one in each.
package e2e

// Package router pins kube-router, which enforces the cluster's NetworkPolicies,
// together with the client libraries that the rest of the cluster is compiled
// with. It can be deleted when the official binary can be downloaded.
package router

// Package cluster runs a real Kubernetes on one bare Linux machine: a node in
// namespaces of its own, and an API tier without a node for tests of scheduling
// and scale.
//
// Its one rule: the machine stays as it was. All that the node mounts, routes,
// filters and starts lives in its namespaces and ends with its first process;
// outside are one small process, one end of a virtual cable, the routes to it
// and empty cgroups, which Down removes. What the node keeps is in .local/cluster.
package cluster

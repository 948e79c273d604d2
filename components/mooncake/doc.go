// Package mooncake is the component MooncakeCluster: every Kubernetes object of a
// Mooncake Store. Its one rule: what can be known from plain values is decided in
// package spec; here it becomes objects.
package mooncake

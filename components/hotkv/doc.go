// Package hotkv is the component HotKVCluster: every Kubernetes object of a
// HotKV (Valkey, Redis protocol) cluster. Its one rule: what can be known from
// plain values is decided in package spec; here it becomes objects.
package hotkv

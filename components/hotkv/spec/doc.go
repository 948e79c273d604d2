// Package spec says what a HotKV cluster is: its settings, their defaults, what
// is wrong with them, its members, and the script that joins these. Its one
// rule: everything here is computed from plain values, without Pulumi and
// without a Kubernetes cluster.
package spec

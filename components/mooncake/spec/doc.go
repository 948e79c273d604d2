// Package spec says what a Mooncake Store cluster is: its settings, their
// defaults, what is wrong with them, and what each process is told. Its one
// rule: everything here is computed from plain values, without Pulumi and
// without a Kubernetes cluster.
package spec

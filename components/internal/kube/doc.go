// Package kube holds what both specs say in the same way: pod resources,
// quantities, names and how a list of problems is reported. Its one rule: plain
// values only, no Pulumi.
package kube

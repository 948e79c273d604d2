// Package stacks reads a stack's configuration into the components' specs. Its
// one rule: whatever is wrong is reported all at once, each problem with the
// stack file and the key, before the engine sees a resource.
package stacks

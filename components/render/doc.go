// Package render runs a Pulumi program without an engine and without a cluster,
// and says what it would create: every object as YAML, with its Pulumi options.
// It is for tests, for pull requests and for a look before an up. Its one rule:
// the same program renders to the same bytes, and no secret is in them.
package render

// Package pulumi pins the Pulumi command line, the official one, and holds a Go
// language host for it, in language-go.
//
// It exists for machines that can reach a Go module proxy but not Pulumi's own
// downloads; a pulumi that is installed already is preferred to it. The host is
// our own because Pulumi's moved to a module that the proxies do not serve,
// github.com/pulumi/pulumi/sdk/go/pulumi-language-go/v3: once they do, make that
// a second tool line in go.mod and delete language-go.
package pulumi

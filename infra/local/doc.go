// Command local gives a bare Linux machine what a platform team already has: a
// Kubernetes cluster with images to run on it, and the Pulumi command line.
//
// Its one rule: it is scaffolding. Nothing of the product knows about it, and
// whoever has a cluster and an official pulumi needs none of it.
package main

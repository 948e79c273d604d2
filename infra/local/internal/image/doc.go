// Package image makes container images without a container engine. Its one
// rule: the same inputs give the same image, bit by bit, so that an image is
// made, and loaded into the cluster, only when one of its inputs changed.
package image

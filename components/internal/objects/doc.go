// Package objects makes what every Kubernetes object of a component has in
// common: metadata, labels and pod hygiene. Its one rule: it builds values and
// registers nothing.
package objects

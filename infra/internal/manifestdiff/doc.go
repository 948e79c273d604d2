// Package manifestdiff says in words what the difference of two renderings of a stack
// does to the cluster that runs the first: what restarts, what is replaced. Its one
// rule: it knows the manifests and nothing else, and says what it cannot know.
package manifestdiff

// Package load writes to a cluster without a pause and says afterwards what its
// clients noticed. Its one rule: a write is lost only when the cluster had
// acknowledged it.
package load

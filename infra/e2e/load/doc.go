// Package load writes to a cluster without a pause, through the client libraries
// that applications use, and says afterwards what each of them noticed. Its one
// rule: a write is lost only when the cluster had acknowledged it.
package load

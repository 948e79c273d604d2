// Package kwok pins kwok, which plays the nodes of the API tier, together with the
// client libraries that the rest of the cluster is compiled with. It can be
// deleted when the official binary can be downloaded.
package kwok

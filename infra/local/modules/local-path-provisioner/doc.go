// Package provisioner pins local-path-provisioner, the cluster's default storage,
// together with the client libraries that the rest of the cluster is compiled
// with. It can be deleted when the official image can be pulled.
package provisioner

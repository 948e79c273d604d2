// Command coredns is CoreDNS with the plugins that a cluster's DNS needs and none
// of the cloud SDKs of the official build: a tenth of the compilation. It can be
// deleted when the official image can be pulled.
package main

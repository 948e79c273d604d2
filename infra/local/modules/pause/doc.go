// Command pause is the first process of every pod: it holds the pod's namespaces
// and buries its orphans. It exists because no registry can be reached for the
// official image, and can be deleted when one can.
package main

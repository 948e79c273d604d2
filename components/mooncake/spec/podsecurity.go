package spec

// PodSecurity is the strictest level of Kubernetes' Pod Security Standards at which
// every pod of a cluster runs. Over TCP none needs a privilege. With RDMA a store
// locks its memory, and neither of the stricter levels grants the capability for
// that; the network and the devices of the node neither.
func (c Cluster) PodSecurity() string {
	if c.Fabric.RDMA() {
		return "privileged"
	}
	return "restricted"
}

package spec

// PodSecurity is the strictest level of Kubernetes' Pod Security Standards at which
// every pod of a cluster runs: none needs a privilege.
func (c Cluster) PodSecurity() string { return "restricted" }

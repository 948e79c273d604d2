package hotkv

import (
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
)

// registerOutputs makes the cluster's outputs known when the last Job succeeded:
// then, and only then, the shape that later changes are compared with is real.
func (b *builder) registerOutputs(c *Cluster) error {
	complete := b.converge.ID().ToStringOutput()
	afterwards := func(s string) pulumi.StringOutput {
		return complete.ApplyT(func(string) string { return s }).(pulumi.StringOutput)
	}
	var addresses pulumi.StringArray
	for _, host := range b.spec.Hosts(b.name) {
		addresses = append(addresses, afterwards(host+":"+strconv.Itoa(spec.ClientPort)))
	}
	c.Addresses = addresses.ToStringArrayOutput()
	c.ServiceName = afterwards(b.name)
	c.SecretName = afterwards(b.passwordFrom().Name)
	c.SecretKey = afterwards(b.passwordFrom().Key)
	c.Password = b.password

	shape := b.spec.Shape()
	count := func(n int) pulumi.IntOutput {
		return complete.ApplyT(func(string) int { return n }).(pulumi.IntOutput)
	}
	return b.ctx.RegisterResourceOutputs(c, pulumi.Map{
		"addresses":   c.Addresses,
		"serviceName": c.ServiceName,
		"secretName":  c.SecretName,
		"secretKey":   c.SecretKey,
		"password":    c.Password,
		"namespace":   afterwards(shape.Namespace),
		"layout":      afterwards(string(shape.Layout)),
		"primaries":   count(shape.Primaries),
		"replicas":    count(shape.Replicas),
		"storageSize": afterwards(shape.StorageSize),
		passwordKey:   afterwards(shape.Password),
	})
}

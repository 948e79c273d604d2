package hotkv

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/objects"
)

func (b *builder) createService() (err error) {
	b.service, err = corev1.NewService(b.ctx, b.name, b.headlessService(), b.child())
	return err
}

// headlessService gives each pod a name that stays when its address changes. The
// names of pods that are not ready are published too: nodes find each other by
// them while the cluster forms and while it heals.
func (b *builder) headlessService() *corev1.ServiceArgs {
	return &corev1.ServiceArgs{
		Metadata: b.owner.Meta(b.name, b.server()),
		Spec: &corev1.ServiceSpecArgs{
			ClusterIP:                pulumi.String("None"),
			PublishNotReadyAddresses: pulumi.Bool(true),
			Selector:                 pulumi.ToStringMap(b.owner.Selector(b.server())),
			Ports: corev1.ServicePortArray{
				objects.ServicePort("client", spec.ClientPort),
				objects.ServicePort("bus", spec.BusPort),
			},
		},
	}
}

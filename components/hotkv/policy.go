package hotkv

import (
	networkingv1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/networking/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
)

func (b *builder) createNetworkPolicy() (err error) {
	if b.spec.NetworkPolicy.Off {
		return nil
	}
	b.policy, err = networkingv1.NewNetworkPolicy(b.ctx, b.name, b.networkPolicy(), b.child())
	return err
}

// networkPolicy opens the bus to the cluster's own servers and to nobody else. The bus
// asks for no password: a process that reaches it may join the cluster, take slots and
// redirect clients. The client port stays open, because the password protects it.
//
// Policies add up, and none can forbid what another allows. So a sidecar's port is
// opened by a policy of the user's own, and this one needs no setting for it.
func (b *builder) networkPolicy() *networkingv1.NetworkPolicyArgs {
	servers := b.owner.LabelSelector(b.server())
	return &networkingv1.NetworkPolicyArgs{
		Metadata: b.owner.Meta(b.name, b.server()),
		Spec: &networkingv1.NetworkPolicySpecArgs{
			PodSelector: servers,
			PolicyTypes: pulumi.ToStringArray([]string{"Ingress"}),
			Ingress: networkingv1.NetworkPolicyIngressRuleArray{
				&networkingv1.NetworkPolicyIngressRuleArgs{
					Ports: policyPort(spec.BusPort),
					// Without a namespaceSelector: pods of this namespace only. In another one
					// anybody may give a pod these labels.
					From: networkingv1.NetworkPolicyPeerArray{&networkingv1.NetworkPolicyPeerArgs{PodSelector: servers}},
				},
				&networkingv1.NetworkPolicyIngressRuleArgs{Ports: policyPort(spec.ClientPort)},
			},
		},
	}
}

// policyPort uses a number: some network plugins do not resolve named ports.
func policyPort(number int) networkingv1.NetworkPolicyPortArray {
	return networkingv1.NetworkPolicyPortArray{&networkingv1.NetworkPolicyPortArgs{
		Port: pulumi.Int(number), Protocol: pulumi.String("TCP"),
	}}
}

package mooncake

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/objects"
)

// client is what others use of the cluster; no pod of ours is part of it.
func (b *builder) client() objects.Part {
	return objects.Part{Component: "client", App: b.name + "-client"}
}

func (b *builder) clientName() string      { return b.name + "-client" }
func (b *builder) clientFilesName() string { return b.name + "-client-files" }

// createClientConfig makes what a client needs: its variables, to be taken as a
// whole with envFrom, and the files of those that read files.
func (b *builder) createClientConfig() error {
	_, err := corev1.NewConfigMap(b.ctx, b.clientName(), &corev1.ConfigMapArgs{
		Metadata: b.owner.Meta(b.clientName(), b.client()),
		Data:     pulumi.ToStringMap(b.spec.ClientVariables(b.name)),
	}, b.child())
	if err != nil {
		return err
	}
	vllm, err := b.spec.VLLMConfig(b.name)
	if err != nil {
		return err
	}
	_, err = corev1.NewConfigMap(b.ctx, b.clientFilesName(), &corev1.ConfigMapArgs{
		Metadata: b.owner.Meta(b.clientFilesName(), b.client()),
		Data:     pulumi.StringMap{"mooncake_config.json": pulumi.String(vllm)},
	}, b.child())
	return err
}

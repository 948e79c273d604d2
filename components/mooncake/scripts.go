package mooncake

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/internal/objects"
	"kvinfra/components/mooncake/spec"
)

const scriptsDir = "/scripts"

func (b *builder) scriptsName() string { return b.name + "-scripts" }

// createScripts keeps the scripts under a name without a hash: a changed one
// reaches the running stores, and restarts none.
func (b *builder) createScripts() (err error) {
	b.scripts, err = corev1.NewConfigMap(b.ctx, b.scriptsName(), &corev1.ConfigMapArgs{
		Metadata: b.owner.Meta(b.scriptsName(), b.store()),
		Data:     pulumi.ToStringMap(spec.Scripts()),
	}, b.child())
	return err
}

func (b *builder) scriptsVolume() *corev1.VolumeArgs {
	return objects.ConfigMapVolume("scripts", b.scriptsName())
}

func scriptsMount() *corev1.VolumeMountArgs { return objects.Mount("scripts", scriptsDir) }

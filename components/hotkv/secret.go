package hotkv

import (
	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
)

// Keys of the Secret.
const (
	passwordKey   = "password"
	authConfigKey = "auth.conf" // the password as the server's configuration
)

// createPassword takes the caller's password or generates one. Letters and digits
// only: the password passes through configuration files, shells and URLs.
func (b *builder) createPassword(given pulumi.StringInput) func() error {
	return func() error {
		if given != nil {
			b.password = pulumi.ToSecret(given).(pulumi.StringOutput)
			return nil
		}
		generated, err := random.NewRandomPassword(b.ctx, b.name+"-password", &random.RandomPasswordArgs{
			Length:  pulumi.Int(32),
			Special: pulumi.Bool(false),
		}, b.child())
		if err != nil {
			return err
		}
		b.password = generated.Result
		return nil
	}
}

func (b *builder) createSecret() (err error) {
	b.secret, err = corev1.NewSecret(b.ctx, b.name, &corev1.SecretArgs{
		Metadata: b.owner.Meta(b.name, b.server()),
		Type:     pulumi.String("Opaque"),
		StringData: pulumi.StringMap{
			passwordKey:   b.password,
			authConfigKey: b.password.ApplyT(spec.AuthConfig).(pulumi.StringOutput),
		},
	}, b.child())
	return err
}

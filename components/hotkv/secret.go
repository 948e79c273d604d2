package hotkv

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"strings"
	"unicode"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi-random/sdk/v4/go/random"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/internal/objects"
)

// passwordFrom is where pods find the password: the Secret that the spec names, or
// the component's own.
func (b *builder) passwordFrom() spec.SecretKey {
	if b.spec.PasswordFrom.Name != "" {
		return b.spec.PasswordFrom
	}
	return spec.SecretKey{Name: b.name, Key: "password"}
}

// passwordVolume has the password as a file. A container runtime keeps and shows the
// variables of its containers, and hands them to every program that is started in them.
func (b *builder) passwordVolume() *corev1.VolumeArgs {
	from := b.passwordFrom()
	return &corev1.VolumeArgs{Name: pulumi.String("password"), Secret: &corev1.SecretVolumeSourceArgs{
		SecretName:  pulumi.String(from.Name),
		DefaultMode: pulumi.Int(0o440),
		Items:       corev1.KeyToPathArray{&corev1.KeyToPathArgs{Key: pulumi.String(from.Key), Path: pulumi.String(path.Base(passwordFile))}},
	}}
}

// passwordFile is where a container finds the password.
const passwordFile = "/etc/hotkv/password"

func passwordMount() *corev1.VolumeMountArgs {
	return objects.Mount("password", path.Dir(passwordFile))
}

// passwordVariable is what the client program reads the password from.
func (b *builder) passwordVariable() *corev1.EnvVarArgs {
	from := b.passwordFrom()
	return objects.EnvFromSecret(b.spec.Server.Programs().PasswordVariable, from.Name, from.Key)
}

// createPassword takes the caller's password or generates one. Letters and digits
// only: the password passes through shells and URLs.
func (b *builder) createPassword(given pulumi.StringInput) func() error {
	return func() error {
		if b.spec.PasswordFrom.Name != "" {
			b.password = pulumi.ToSecret(pulumi.String("")).(pulumi.StringOutput)
			return nil
		}
		if given != nil {
			b.password = pulumi.ToSecret(given.ToStringOutput().ApplyT(usable)).(pulumi.StringOutput)
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

// checkGiven reports what is wrong with a password that a program gives, as far as
// it is known before anything is made.
func checkGiven(given pulumi.StringInput) error {
	if plain, ok := given.(pulumi.String); ok {
		_, err := usable(string(plain))
		return err
	}
	// An output that was never set, for example a field of a component that failed.
	if output, ok := given.(pulumi.Output); ok && reflect.ValueOf(output).IsZero() {
		return errors.New("password: is an output without a value; leave it out, or give one that a resource or pulumi.String made")
	}
	return nil
}

// longestPassword is far more than anybody types, and little enough for a variable.
const longestPassword = 4096

// usable refuses what startScript would refuse, before there is a pod to do it.
func usable(password string) (string, error) {
	switch {
	case password == "":
		return "", errors.New("password: is empty; the server would take commands from everybody")
	case len(password) > longestPassword:
		return "", fmt.Errorf("password: is %d bytes long; it may have at most %d", len(password), longestPassword)
	case strings.ContainsFunc(password, unicode.IsControl):
		return "", errors.New("password: has a line break or another control character in it; no server would start with it")
	}
	return password, nil
}

func (b *builder) createSecret() (err error) {
	if b.spec.PasswordFrom.Name != "" {
		return nil
	}
	b.secret, err = corev1.NewSecret(b.ctx, b.name, &corev1.SecretArgs{
		Metadata:   b.owner.Meta(b.name, b.server()),
		Type:       pulumi.String("Opaque"),
		StringData: pulumi.StringMap{b.passwordFrom().Key: b.password},
	}, b.child())
	return err
}

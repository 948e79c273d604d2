package render_test

import (
	"errors"
	"testing"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/render"
)

func options() render.Options { return render.Options{Project: "p", Stack: "s"} }

func TestASecretIsMaskedWhereverItIs(t *testing.T) {
	resources, err := render.Program(func(ctx *pulumi.Context) error {
		hidden := pulumi.ToSecret(pulumi.String("hunter2")).(pulumi.StringOutput)
		_, err := corev1.NewConfigMap(ctx, "plain", &corev1.ConfigMapArgs{Data: pulumi.StringMap{
			"url": pulumi.Sprintf("redis://:%s@host", hidden), "seen": pulumi.String("yes"),
		}})
		return err
	}, options())
	require.NoError(t, err)
	text, err := render.YAML(resources)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
	assert.Contains(t, string(text), "url: '[secret]'")
}

func TestTwoResourcesOfOneNameAreRejected(t *testing.T) {
	twice := func(ctx *pulumi.Context) error {
		for range 2 {
			if _, err := corev1.NewSecret(ctx, "same", nil); err != nil {
				return err
			}
		}
		return nil
	}
	_, err := render.Program(twice, options())
	assert.ErrorContains(t, err, "their names must differ")
}

func TestOptionsAndParentsAreShown(t *testing.T) {
	resources, err := render.Program(func(ctx *pulumi.Context) error {
		first, err := corev1.NewSecret(ctx, "first", nil, pulumi.Protect(true))
		if err != nil {
			return err
		}
		_, err = corev1.NewService(ctx, "second", nil, pulumi.DependsOn([]pulumi.Resource{first}), pulumi.IgnoreChanges([]string{"spec"}))
		return err
	}, options())
	require.NoError(t, err)
	text, err := render.YAML(resources)
	require.NoError(t, err)
	assert.Equal(t, `---
# Secret first
#   protected: true
apiVersion: v1
kind: Secret
---
# Service second
#   depends on: Secret first
#   ignores changes of: spec
apiVersion: v1
kind: Service
`, string(text))
}

func TestTheProgramsErrorComesThrough(t *testing.T) {
	_, err := render.Program(func(*pulumi.Context) error { return errors.New("out of cheese") }, options())
	assert.ErrorContains(t, err, "out of cheese")
}

package hotkv

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/render"
)

// What the hooks read is what the program writes: a path that is wrong would allow
// everything.
func TestTheShapeIsRead(t *testing.T) {
	s := Spec{Namespace: "kv", Image: "hotkv", ReplicasPerPrimary: 2, Storage: Storage{Size: "5Gi"}, PasswordFrom: SecretKey{Name: "users", Key: "key"}}
	resources, err := render.Program(func(ctx *pulumi.Context) error {
		_, err := NewCluster(ctx, "cache", &ClusterArgs{Spec: s})
		return err
	}, render.Options{Project: "kvinfra", Stack: "test"})
	require.NoError(t, err)
	seen := 0
	for _, r := range resources {
		switch r.Type {
		case Type:
			seen++
			assert.Equal(t, spec.Shape{Namespace: "kv", Layout: "OneStatefulSet", Primaries: 3, Replicas: 2, StorageSize: "5Gi", Password: "users/key"}, shapeOfCluster(r.Inputs))
		case "kubernetes:apps/v1:StatefulSet":
			seen++
			assert.Equal(t, spec.Shape{Pods: 9, StorageSize: "5Gi", Password: "users/key"}, shapeOfStatefulSet(r.Inputs))
		}
	}
	assert.Equal(t, 2, seen)
}

func TestASecretThatNoServerRanWithCanBeCorrected(t *testing.T) {
	inputs := func(secret string) resource.PropertyMap {
		return resource.NewPropertyMapFromMap(map[string]any{"spec": map[string]any{
			"replicas": 6,
			"template": map[string]any{"spec": map[string]any{"volumes": []any{map[string]any{
				"name": "password", "secret": map[string]any{"secretName": secret, "items": []any{map[string]any{"key": "key"}}},
			}}}},
		}})
	}
	change := func(status map[string]any) error {
		return spec.Refuse(shapesOfStatefulSet(&pulumi.ResourceHookArgs{
			OldInputs: inputs("misspelt"), NewInputs: inputs("right"),
			OldOutputs: resource.NewPropertyMapFromMap(map[string]any{"status": status}),
		}))
	}
	assert.NoError(t, change(map[string]any{"replicas": 6}))
	assert.ErrorContains(t, change(map[string]any{"replicas": 6, "readyReplicas": 1}), "key key of Secret misspelt to key key of Secret right")
}

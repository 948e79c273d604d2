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
	set := func(secret string, ready int) resource.PropertyMap {
		return resource.NewPropertyMapFromMap(map[string]any{
			"spec": map[string]any{
				"replicas": 6,
				"template": map[string]any{"spec": map[string]any{"volumes": []any{map[string]any{
					"name": "password", "secret": map[string]any{"secretName": secret, "items": []any{map[string]any{"key": "key"}}},
				}}}},
			},
			"status": map[string]any{"readyReplicas": ready},
		})
	}
	for what, tt := range map[string]struct {
		asked, found resource.PropertyMap
		want         string
	}{
		"no server ran":                       {asked: set("misspelt", 0), found: set("misspelt", 0)},
		"the correction timed out":            {asked: set("misspelt", 0), found: set("right", 5)},
		"servers run with another":            {asked: set("another", 0), found: set("another", 1), want: "key key of Secret another to key key of Secret right"},
		"the update that failed was another":  {asked: set("right", 0), found: set("another", 6), want: "key key of Secret another to key key of Secret right"},
		"nothing is known of what is running": {asked: set("another", 0), found: resource.PropertyMap{}},
	} {
		err := spec.Refuse(shapesOfStatefulSet(&pulumi.ResourceHookArgs{OldInputs: tt.asked, OldOutputs: tt.found, NewInputs: set("right", 0)}))
		if tt.want == "" {
			assert.NoError(t, err, what)
		} else {
			assert.ErrorContains(t, err, tt.want, what)
		}
	}
}

package hotkv

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/hotkv/spec"
	"kvinfra/components/render"
)

// What the hooks read is what the program writes: a path that is wrong would allow
// everything.
func TestTheShapeIsRead(t *testing.T) {
	s := Spec{Namespace: "kv", Image: "hotkv", ReplicasPerPrimary: 2, Storage: Storage{Size: "5Gi"}}
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
			assert.Equal(t, spec.Shape{Namespace: "kv", Layout: "OneStatefulSet", Primaries: 3, Replicas: 2, StorageSize: "5Gi"}, shapeOfCluster(r.Inputs))
		case "kubernetes:apps/v1:StatefulSet":
			seen++
			assert.Equal(t, spec.Shape{Pods: 9, StorageSize: "5Gi"}, shapeOfStatefulSet(r.Inputs))
		}
	}
	assert.Equal(t, 2, seen)
}

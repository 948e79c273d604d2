package objects

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/stretchr/testify/assert"
)

func TestRestarts(t *testing.T) {
	set := func(replicas int, image any) resource.PropertyMap {
		return resource.NewPropertyMapFromMap(map[string]any{"spec": map[string]any{
			"replicas": replicas,
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": image}}}},
		}})
	}
	unknown := resource.MakeComputed(resource.NewProperty(""))
	cases := map[string]struct {
		old, wanted resource.PropertyMap
		want        bool
	}{
		"nothing changes":                 {set(3, "a:1"), set(3, "a:1"), false},
		"another image":                   {set(3, "a:1"), set(3, "a:2"), true},
		"an image that is not yet known":  {set(3, "a:1"), set(3, unknown), true},
		"more pods":                       {set(3, "a:1"), set(5, "a:1"), false},
		"something that is made now":      {nil, set(3, "a:1"), false},
		"nothing is known of the new one": {set(3, "a:1"), resource.PropertyMap{"spec": unknown}, false},
	}
	for what, tc := range cases {
		t.Run(what, func(t *testing.T) { assert.Equal(t, tc.want, Restarts(tc.old, tc.wanted)) })
	}
}

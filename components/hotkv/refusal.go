package hotkv

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"kvinfra/components/hotkv/spec"
)

// A change that would lose data is refused by hooks that the engine calls before
// an update, in preview too. There are two. The one on the component fires before
// any child changes, but knows nothing when the last up failed. The one on the
// StatefulSet knows what was asked for and what the cluster has, but fires only
// after the objects before it have changed.

// refuseOnCluster compares with what the last successful up reached.
func refuseOnCluster(ctx *pulumi.Context, name string) (pulumi.ResourceOption, error) {
	return refuse(ctx, name, "hotkv-"+name+"-layout", func(a *pulumi.ResourceHookArgs) (old, wanted spec.Shape) {
		return shapeOfCluster(a.OldOutputs), shapeOfCluster(a.NewInputs)
	})
}

// refuseOnStatefulSet compares with the larger of what was asked for last and what
// was found in the cluster: after a growth that timed out the first is behind.
func refuseOnStatefulSet(ctx *pulumi.Context, name, set string) (pulumi.ResourceOption, error) {
	return refuse(ctx, name, "hotkv-"+name+"-pods-of-"+set, shapesOfStatefulSet)
}

func shapesOfStatefulSet(a *pulumi.ResourceHookArgs) (old, wanted spec.Shape) {
	old = shapeOfStatefulSet(a.OldInputs)
	old.Pods = max(old.Pods, shapeOfStatefulSet(a.OldOutputs).Pods)
	// What was asked for is behind here, too: after a correction that timed out it is the
	// mistake. And where no server ever ran, the Secret may be what kept them from it.
	old.Password = ""
	if number(a.OldOutputs, "status.readyReplicas") > 0 {
		old.Password = shapeOfStatefulSet(a.OldOutputs).Password
	}
	return old, shapeOfStatefulSet(a.NewInputs)
}

// refuse registers a hook; its name must be unique in the program.
func refuse(ctx *pulumi.Context, name, hook string, shapes func(*pulumi.ResourceHookArgs) (old, wanted spec.Shape)) (pulumi.ResourceOption, error) {
	h, err := ctx.RegisterResourceHook(hook, func(a *pulumi.ResourceHookArgs) error {
		if err := spec.Refuse(shapes(a)); err != nil {
			return fmt.Errorf("hotkv %q: %w", name, err)
		}
		return nil
	}, &pulumi.ResourceHookOptions{OnDryRun: true})
	if err != nil {
		return nil, err
	}
	return pulumi.ResourceHooks(&pulumi.ResourceHookBinding{BeforeUpdate: []*pulumi.ResourceHook{h}}), nil
}

// passwordKey is not "password", which is the output with the password itself.
const passwordKey = "passwordFrom"

// shapeMap and shapeOfCluster write and read the component's own properties.
func shapeMap(s spec.Shape) pulumi.Map {
	return pulumi.Map{
		"namespace":   pulumi.String(s.Namespace),
		"layout":      pulumi.String(s.Layout),
		"primaries":   pulumi.Int(s.Primaries),
		"replicas":    pulumi.Int(s.Replicas),
		"storageSize": pulumi.String(s.StorageSize),
		passwordKey:   pulumi.String(s.Password),
	}
}

func shapeOfCluster(m resource.PropertyMap) spec.Shape {
	return spec.Shape{
		Namespace:   text(m, "namespace"),
		Layout:      spec.Layout(text(m, "layout")),
		Primaries:   number(m, "primaries"),
		Replicas:    number(m, "replicas"),
		StorageSize: text(m, "storageSize"),
		Password:    text(m, passwordKey),
	}
}

func shapeOfStatefulSet(m resource.PropertyMap) spec.Shape {
	shape := spec.Shape{
		Pods:        number(m, "spec.replicas"),
		StorageSize: text(m, fmt.Sprintf("metadata.annotations[%q]", storageSizeAnnotation)),
	}
	const volume = "spec.template.spec.volumes[0].secret" // serverTemplate has it first
	from := spec.SecretKey{Name: text(m, volume+".secretName"), Key: text(m, volume+".items[0].key")}
	if from.Name != "" && from.Key != "" {
		shape.Password = spec.PasswordSource(from)
	}
	return shape
}

// number and text return zero for what is unknown or absent: no reason to refuse.
func number(m resource.PropertyMap, path string) int {
	if v, ok := property(m, path); ok && v.IsNumber() {
		return int(v.NumberValue())
	}
	return 0
}

func text(m resource.PropertyMap, path string) string {
	if v, ok := property(m, path); ok && v.IsString() {
		return v.StringValue()
	}
	return ""
}

func property(m resource.PropertyMap, path string) (resource.PropertyValue, bool) {
	p, err := resource.ParsePropertyPath(path)
	if err != nil {
		return resource.PropertyValue{}, false
	}
	return p.Get(resource.NewProperty(m))
}

package objects

import (
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// NoticeRestart returns an option for everything that runs pods of a kind. The first
// update of one of them that restarts pods logs text, once and in a preview too: a
// diff shows what changes in a template, and not what that does. The hook's name must
// be unique in the program.
func NoticeRestart(ctx *pulumi.Context, parent pulumi.Resource, hook, text string) (pulumi.ResourceOption, error) {
	var once sync.Once
	h, err := ctx.RegisterResourceHook(hook, func(a *pulumi.ResourceHookArgs) (err error) {
		if Restarts(a.OldInputs, a.NewInputs) {
			once.Do(func() { err = ctx.Log.Info(text, &pulumi.LogArgs{Resource: parent}) })
		}
		return err
	}, &pulumi.ResourceHookOptions{OnDryRun: true})
	if err != nil {
		return nil, err
	}
	return pulumi.ResourceHooks(&pulumi.ResourceHookBinding{BeforeUpdate: []*pulumi.ResourceHook{h}}), nil
}

// Restarts says whether the change of a StatefulSet or Deployment restarts its pods:
// any other template does. One that nothing is known of is no other.
func Restarts(old, wanted resource.PropertyMap) bool {
	before, known := template(old)
	after, wantedKnown := template(wanted)
	return known && wantedKnown && !before.DeepEquals(after)
}

func template(m resource.PropertyMap) (resource.PropertyValue, bool) {
	spec := m["spec"]
	if !spec.IsObject() {
		return resource.PropertyValue{}, false
	}
	t, ok := spec.ObjectValue()["template"]
	return t, ok
}

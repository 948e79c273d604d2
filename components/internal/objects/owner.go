package objects

import (
	"maps"
	"strconv"

	metav1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/meta/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Owner is the component that objects belong to.
type Owner struct {
	System    string // "hotkv" or "mooncake"
	Name      string // the component's, with which each of its objects' names starts
	Namespace string
	Project   string // the Pulumi project and stack
	Stack     string
}

// Part is a group of pods of an owner, with the value of the label "app" by
// which the manifests that these components replace select them.
type Part struct {
	Component string // the label app.kubernetes.io/component
	App       string
	// Only are further labels of those of the part's pods that are meant, if not all.
	Only map[string]string
}

// Selector returns the labels that pick the pods of part. They never change,
// because a selector cannot.
func (o Owner) Selector(p Part) map[string]string {
	labels := map[string]string{
		"app":                         p.App,
		"app.kubernetes.io/instance":  o.Name,
		"app.kubernetes.io/component": p.Component,
	}
	maps.Copy(labels, p.Only)
	return labels
}

// Labels returns every label of part's objects and pods.
func (o Owner) Labels(p Part) pulumi.StringMap {
	labels := map[string]string{
		"app.kubernetes.io/name":       o.System,
		"app.kubernetes.io/part-of":    "kvinfra",
		"app.kubernetes.io/managed-by": "pulumi",
	}
	maps.Copy(labels, o.Selector(p))
	return pulumi.ToStringMap(labels)
}

// Meta returns the metadata of the object called name. The fixed field manager
// lets an up that was killed while it made the object be repeated: the provider's
// own name for it is random and gets lost with the process. Project and stack are
// in it, so that two stacks that claim one object still conflict.
func (o Owner) Meta(name string, p Part) *metav1.ObjectMetaArgs {
	return o.meta(name, p, nil)
}

// AwaitedMeta is Meta for an object whose readiness is waited for that long.
func (o Owner) AwaitedMeta(name string, p Part, timeoutSeconds int) *metav1.ObjectMetaArgs {
	return o.meta(name, p, pulumi.StringMap{"pulumi.com/timeoutSeconds": pulumi.String(strconv.Itoa(timeoutSeconds))})
}

// JobMeta is Meta for a Job: a run that did not succeed is repeated by the next
// up, and one that still runs then is replaced.
func (o Owner) JobMeta(name string, p Part) *metav1.ObjectMetaArgs {
	return o.meta(name, p, pulumi.StringMap{"pulumi.com/replaceUnready": pulumi.String("true")})
}

func (o Owner) meta(name string, p Part, annotations pulumi.StringMap) *metav1.ObjectMetaArgs {
	all := pulumi.StringMap{"pulumi.com/patchFieldManager": pulumi.String("kvinfra-" + o.Project + "-" + o.Stack)}
	maps.Copy(all, annotations)
	return &metav1.ObjectMetaArgs{
		Name:        pulumi.String(name),
		Namespace:   pulumi.String(o.Namespace),
		Labels:      o.Labels(p),
		Annotations: all,
	}
}

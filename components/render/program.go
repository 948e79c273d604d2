package render

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Options say as what a program runs.
type Options struct {
	Project, Stack string
	// Root is the directory of Pulumi.yaml.
	Root string
	// Preview runs the program as a preview does: what waits for a resource to be
	// there is unknown. A generated password is known, because Pulumi's mocks cannot
	// carry a secret that is not.
	Preview bool
	// Fail, if set, is asked before each resource; its error is the engine's.
	Fail func(Resource) error
}

// Resource is one resource that a program registered.
type Resource struct {
	Type   string
	Name   string
	Parent string // name of the component, "" for the stack
	Inputs resource.PropertyMap
	// DependsOn are type and name of what it waits for, sorted.
	DependsOn     []string
	IgnoreChanges []string
	Protect       bool
}

// Program runs a program and returns what it registered, in a stable order. An
// error of the program comes with what it had registered until then.
func Program(program pulumi.RunFunc, o Options) ([]Resource, error) {
	r := &recorder{options: o, urns: map[string]bool{}}
	err := pulumi.RunErr(program, pulumi.WithMocks(o.Project, o.Stack, r), func(i *pulumi.RunInfo) {
		i.RootDirectory = o.Root
		i.DryRun = o.Preview
	})
	slices.SortFunc(r.resources, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(rank(a.Type), rank(b.Type)), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
	})
	return r.resources, errors.Join(append(r.problems, err)...)
}

// order is the one in which objects of a kind usually come up.
func order() []string {
	return []string{"component", "RandomPassword", "Provider", "Namespace", "NamespacePatch", "Secret", "ConfigMap", "Service", "NetworkPolicy", "PodDisruptionBudget", "Deployment", "StatefulSet", "Job", "CronJob"}
}

func rank(token string) int {
	if isComponent(token) {
		return 0
	}
	if strings.HasPrefix(token, "pulumi:providers:") {
		token = ":Provider"
	}
	return slices.Index(order(), token[strings.LastIndex(token, ":")+1:])
}

func isComponent(token string) bool { return strings.HasPrefix(token, "kvinfra:") }

// recorder stands in for the engine. The engine rejects two resources of one URN
// and a parent that it does not know; Pulumi's mocks do not, so this does.
type recorder struct {
	options Options

	mu        sync.Mutex // resources are registered at the same time
	resources []Resource
	urns      map[string]bool
	problems  []error
}

func (r *recorder) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	rpc := args.RegisterRPC
	recorded := Resource{
		Type:          args.TypeToken,
		Name:          args.Name,
		Parent:        urnName(rpc.GetParent()),
		Inputs:        args.Inputs,
		IgnoreChanges: rpc.GetIgnoreChanges(),
		Protect:       rpc.GetProtect(),
	}
	for _, urn := range rpc.GetDependencies() {
		recorded.DependsOn = append(recorded.DependsOn, urnLabel(urn))
	}
	slices.Sort(recorded.DependsOn)

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.options.Fail != nil {
		if err := r.options.Fail(recorded); err != nil {
			return "", nil, err
		}
	}
	key := recorded.Type + " " + recorded.Name + " of " + recorded.Parent
	if r.urns[key] {
		r.problems = append(r.problems, fmt.Errorf("two resources are %s: their names must differ", key))
	}
	r.urns[key] = true
	r.resources = append(r.resources, recorded)

	outputs := maps.Clone(args.Inputs)
	if args.TypeToken == "random:index/randomPassword:RandomPassword" {
		outputs["result"] = resource.MakeSecret(resource.NewProperty(generated))
	}
	if r.options.Preview {
		return "", outputs, nil // an id, and all that waits for it, is unknown
	}
	return args.Name + "-id", outputs, nil
}

// generated stands in for a generated password; no output may contain it.
const generated = "generated-password"

func (r *recorder) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) {
	return nil, errors.New("a program that calls a provider's function cannot be rendered: it needs the provider")
}

func urnName(urn string) string {
	if urn == "" || resource.URN(urn).Type() == "pulumi:pulumi:Stack" {
		return ""
	}
	return resource.URN(urn).Name()
}

// urnLabel is the kind and name of a resource: "Secret cache".
func urnLabel(urn string) string {
	token := string(resource.URN(urn).Type())
	return kind(token) + " " + resource.URN(urn).Name()
}

func kind(token string) string { return token[strings.LastIndex(token, ":")+1:] }

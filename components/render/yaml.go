package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"sigs.k8s.io/yaml"
)

// YAML writes resources as a YAML stream: each with a comment that names it and
// its Pulumi options, Kubernetes objects as kubectl takes them, and in place of
// every secret text "[secret]". What only a real run knows is left out, as the
// engine's mocks leave it out.
func YAML(resources []Resource) ([]byte, error) {
	var out bytes.Buffer
	for _, r := range resources {
		if r.Type == "pulumi:pulumi:Stack" {
			continue
		}
		out.WriteString("---\n")
		comment(&out, r)
		body := plain(resource.NewProperty(r.Inputs), false)
		// Only Kubernetes objects are YAML documents; the rest is there to be read.
		data, err := yaml.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Type, r.Name, err)
		}
		if !strings.HasPrefix(r.Type, "kubernetes:") {
			data = indent(data)
		}
		out.Write(data)
	}
	return out.Bytes(), nil
}

func comment(out *bytes.Buffer, r Resource) {
	fmt.Fprintf(out, "# %s %s\n", kind(r.Type), r.Name)
	line := func(what string, values ...string) {
		if len(values) > 0 {
			fmt.Fprintf(out, "#   %s: %s\n", what, strings.Join(values, ", "))
		}
	}
	if r.Parent != "" {
		line("parent", r.Parent)
	}
	line("depends on", r.DependsOn...)
	line("ignores changes of", r.IgnoreChanges...)
	if r.Protect {
		line("protected", "true")
	}
}

func indent(data []byte) []byte {
	return []byte("#   " + strings.ReplaceAll(strings.TrimSuffix(string(data), "\n"), "\n", "\n#   ") + "\n")
}

// plain turns a property into what YAML writes, with secrets masked leaf by leaf
// so that an object keeps its form.
func plain(v resource.PropertyValue, secret bool) any {
	switch {
	case v.IsSecret():
		return plain(v.SecretValue().Element, true)
	case v.IsOutput():
		return plain(v.OutputValue().Element, secret || v.OutputValue().Secret)
	case v.IsObject():
		object := map[string]any{}
		for key, value := range v.ObjectValue() {
			if !strings.HasPrefix(string(key), "__") {
				object[string(key)] = plain(value, secret)
			}
		}
		return object
	case v.IsArray():
		array := []any{}
		for _, value := range v.ArrayValue() {
			array = append(array, plain(value, secret))
		}
		return array
	case secret:
		return "[secret]"
	default:
		return v.Mappable()
	}
}

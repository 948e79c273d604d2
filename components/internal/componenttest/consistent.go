package componenttest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/yaml"

	"kvinfra/components/render"
)

// Consistent requires of objects what holds for every valid cluster: names fit and
// are of one object each, selectors pick pods, and what a pod refers to is there or is
// one of the user's own, given as "Kind name".
func Consistent(t *testing.T, resources []render.Resource, users ...string) {
	t.Helper()
	objects := parse(t, resources)
	exists := map[string]bool{}
	for _, known := range users {
		exists[known] = true
	}
	for _, o := range objects {
		id := o.id()
		assert.Empty(t, validation.IsDNS1035Label(strings.TrimPrefix(id, o.text("kind")+" ")), id)
		assert.False(t, exists[id], "two objects are %s", id)
		exists[id] = true
	}
	var pods []object
	for _, o := range objects {
		if labels := o.at("spec", "template", "metadata", "labels"); labels != nil {
			pods = append(pods, labels)
		}
	}
	for _, o := range objects {
		id := o.id()
		for _, selector := range selectors(o) {
			picked := 0
			for _, labels := range pods {
				if picks(selector, labels) {
					picked++
				}
			}
			assert.NotZero(t, picked, "%s selects no pod", id)
			if own := o.at("spec", "template", "metadata", "labels"); own != nil {
				assert.True(t, picks(selector, own), "%s does not select its own pods", id)
				assert.Equal(t, 1, picked, "%s selects another's pods", id)
			}
		}
		if service := o.at("spec").text("serviceName"); service != "" {
			assert.True(t, exists["Service "+service], "%s: no Service %s", id, service)
		}
		walk(map[string]any(o), func(key string, value object) {
			wants := ""
			switch key {
			case "configMap", "configMapKeyRef", "configMapRef":
				wants = "ConfigMap " + value.text("name")
			case "secretKeyRef", "secretRef":
				wants = "Secret " + value.text("name")
			case "secret":
				wants = "Secret " + value.text("secretName")
			}
			assert.True(t, wants == "" || exists[wants], "%s: no %s", id, wants)
		})
	}
}

// selectors returns the labels by which an object picks pods.
func selectors(o object) []object {
	var all []object
	switch o.text("kind") {
	case "Service":
		all = append(all, o.at("spec", "selector"))
	case "NetworkPolicy": // those that it protects, and those that it lets in
		walk(map[string]any(o), func(key string, value object) {
			if key == "podSelector" {
				all = append(all, value.at("matchLabels"))
			}
		})
	default:
		all = append(all, o.at("spec", "selector", "matchLabels"))
	}
	return slices.DeleteFunc(all, func(labels object) bool { return labels == nil })
}

// object is a manifest, or a part of one.
type object map[string]any

func (o object) id() string { return o.text("kind") + " " + o.at("metadata").text("name") }

// at returns the part at a path, nil when there is none.
func (o object) at(path ...string) object {
	for _, key := range path {
		part, _ := o[key].(map[string]any)
		o = part
	}
	return o
}

func (o object) text(key string) string {
	text, _ := o[key].(string)
	return text
}

func parse(t *testing.T, resources []render.Resource) []object {
	t.Helper()
	manifests, err := render.YAML(resources)
	require.NoError(t, err)
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	var objects []object
	for {
		var o map[string]any
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		if o != nil {
			objects = append(objects, o)
		}
	}
}

func picks(selector, labels object) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// walk visits every object inside v.
func walk(v any, visit func(key string, value object)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if m, ok := value.(map[string]any); ok {
				visit(key, m)
			}
			walk(value, visit)
		}
	case []any:
		for _, value := range v {
			walk(value, visit)
		}
	}
}

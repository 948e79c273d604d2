// Package seed compares a component's objects with the manifest that the
// component replaces. Its one rule: it is for tests; the manifest stays as it was
// published.
package seed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// Difference is one place where an object of ours is not the manifest's.
type Difference struct {
	Object string // kind and name
	Field  string // "" for the whole object
	Seed   string // as JSON, shortened; "" when only ours has the field
	Ours   string // as JSON, shortened; "" when only the manifest has it
}

// Differences returns every place where two YAML streams differ, sorted. Elements
// of a list that have a name are compared by it, every other list as a whole. An
// object of the manifest that is of another kind here is compared with the one
// that became says it became.
func Differences(manifest, ours []byte, became map[string]string) ([]Difference, error) {
	a, err := parse(manifest)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	b, err := parse(ours)
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	for old, now := range became {
		a[now] = a[old]
		delete(a, old)
	}
	var found []Difference
	for _, object := range union(a, b) {
		walk(object, "", a[object], b[object], &found)
	}
	return found, nil
}

func parse(stream []byte) (map[string]any, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	objects := map[string]any{}
	for {
		var object map[string]any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object) == 0 { // a document of comments
			continue
		}
		name := object["metadata"].(map[string]any)["name"]
		objects[fmt.Sprintf("%s %s", object["kind"], name)] = object
	}
}

func walk(object, field string, a, b any, found *[]Difference) {
	a, b = byName(a), byName(b)
	mapA, okA := a.(map[string]any)
	mapB, okB := b.(map[string]any)
	if okA && okB {
		for _, key := range union(mapA, mapB) {
			walk(object, strings.TrimPrefix(field+"."+key, "."), mapA[key], mapB[key], found)
		}
		return
	}
	if show(a) != show(b) {
		*found = append(*found, Difference{Object: object, Field: field, Seed: shorten(show(a)), Ours: shorten(show(b))})
	}
}

// byName turns a list of named elements into a map.
func byName(v any) any {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return v
	}
	named := map[string]any{}
	for _, element := range list {
		m, _ := element.(map[string]any)
		name, ok := m["name"].(string)
		if !ok {
			meta, _ := m["metadata"].(map[string]any)
			name, ok = meta["name"].(string)
		}
		if !ok {
			return v
		}
		named[name] = element
	}
	return named
}

func show(v any) string {
	if v == nil {
		return ""
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func shorten(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

func union(a, b map[string]any) []string {
	keys := maps.Clone(a)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, b)
	return slices.Sorted(maps.Keys(keys))
}

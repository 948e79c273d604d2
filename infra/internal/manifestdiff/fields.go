package manifestdiff

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is one that differs. A value that is not there is nil.
type field struct {
	path     string
	old, new any
}

// fields returns what differs between two values, by path.
func fields(path string, old, new any) []field {
	switch o := old.(type) {
	case map[string]any:
		if n, ok := new.(map[string]any); ok {
			return fieldsOf(path, ".", o, n)
		}
	case []any:
		if n, ok := new.([]any); ok {
			return fieldsOf(path, "[", byName(o), byName(n))
		}
	}
	if reflect.DeepEqual(old, new) {
		return nil
	}
	return []field{{path, old, new}}
}

func fieldsOf(path, join string, old, new map[string]any) []field {
	keys := maps.Clone(old)
	maps.Copy(keys, new)
	var all []field
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		inner := key
		switch {
		case join == "[":
			inner = path + "[" + key + "]"
		case path != "":
			inner = path + join + key
		}
		all = append(all, fields(inner, old[key], new[key])...)
	}
	return all
}

// byName makes a map of a list, by the names of its elements when all have one of
// their own (containers, variables, volumes), or else by their numbers.
func byName(list []any) map[string]any {
	named, numbered := map[string]any{}, map[string]any{}
	for i, element := range list {
		numbered[strconv.Itoa(i)] = element
		if m, ok := element.(map[string]any); ok && text(m["name"]) != "" {
			named[text(m["name"])] = element
		}
	}
	if len(named) == len(list) {
		return named
	}
	return numbered
}

// below says whether the field is at one of the paths or in what stands there.
func (f field) below(paths ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		return f.path == path || strings.HasPrefix(f.path, path+".") || strings.HasPrefix(f.path, path+"[")
	})
}

// anyBelow says whether one of the fields is.
func anyBelow(all []field, paths ...string) bool {
	return slices.ContainsFunc(all, func(f field) bool { return f.below(paths...) })
}

package stacks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	hotkv "kvinfra/components/hotkv/spec"
	mooncake "kvinfra/components/mooncake/spec"
)

// Load reads a stack out of its configuration, "project:key" to JSON, as the
// engine hands it over. Its error has a line for each problem, which starts with
// the stack file and the key.
func Load(project, stack string, config map[string]string) (Stack, error) {
	file := File(stack)
	s, err := decode(project, config)
	if err != nil {
		return s, inFile(file, err)
	}
	s = s.withDefaults()
	return s, inFile(file, s.validate(project).ToAggregate())
}

// File returns the name of a stack's configuration file.
func File(stack string) string { return "Pulumi." + stack + ".yaml" }

// decode takes only keys that Stack has, and in each only fields that it has. Of
// other programs it knows only Pulumi itself: a misspelt name must not look like a
// stack without clusters.
func decode(project string, config map[string]string) (Stack, error) {
	s := Stack{HotKV: map[string]hotkv.Cluster{}, Mooncake: map[string]mooncake.Cluster{}}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(config)) {
		text := []byte(config[key])
		switch key {
		case project + ":cluster":
			errs = append(errs, strict(key, text, &s.Cluster)...)
		case project + ":hotkv":
			errs = append(errs, entries(key, text, s.HotKV)...)
		case project + ":mooncake":
			errs = append(errs, entries(key, text, s.Mooncake)...)
		default:
			if !strings.HasPrefix(key, "pulumi:") {
				errs = append(errs, fmt.Errorf("%s: unknown key; known are %s:cluster, %[2]s:hotkv and %[2]s:mooncake", key, project))
			}
		}
	}
	return s, errors.Join(errs...)
}

// entries decodes a map from name to settings, each entry by itself, so that a
// problem names the one that has it.
func entries[T any](key string, text []byte, into map[string]T) []error {
	var raw map[string]json.RawMessage
	errs := strict(key, text, &raw)
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		var entry T
		errs = append(errs, strict(key+"."+name, raw[name], &entry)...)
		into[name] = entry
	}
	return errs
}

func strict(where string, text []byte, into any) []error {
	problems, err := kjson.UnmarshalStrict(text, into, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields)
	var errs []error
	for _, problem := range append(problems, err) {
		if problem != nil {
			errs = append(errs, fmt.Errorf("%s: %s", where, reason(problem)))
		}
	}
	return errs
}

// reason puts what the JSON decoder says into the words of a stack file.
func reason(err error) string {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		where := ""
		if wrongType.Field != "" {
			where = wrongType.Field + ": "
		}
		wanted := map[reflect.Kind]string{
			reflect.Struct: "a map of settings", reflect.Map: "a map", reflect.Slice: "a list",
			reflect.String: "a text", reflect.Bool: "true or false",
		}[wrongType.Type.Kind()]
		return fmt.Sprintf("%sis of type %s, but must be %s", where, wrongType.Value, cmp.Or(wanted, "a number"))
	}
	if isSyntax, _ := kjson.SyntaxErrorOffset(err); isSyntax {
		return "is plain text, but must be a map of settings"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// validate reports every problem of a stack with all defaults applied.
func (s Stack) validate(project string) field.ErrorList {
	at := func(key string) *field.Path { return field.NewPath(project + ":" + key) }
	errs := s.Cluster.validate(at("cluster"))
	for _, name := range slices.Sorted(maps.Keys(s.HotKV)) {
		errs = append(errs, s.HotKV[name].Validate(name, at("hotkv").Child(name))...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Mooncake)) {
		errs = append(errs, s.Mooncake[name].Validate(name, at("mooncake").Child(name))...)
	}
	errs = append(errs, s.unpinned(at("hotkv"), at("mooncake"))...)
	if len(errs) > 0 {
		return errs // names that are wrong need no comparison, and numbers no computing
	}
	return collisions(s.claims(at("hotkv"), at("mooncake")))
}

// inFile puts the file's name in front of each of the joined errors.
func inFile(file string, err error) error {
	var many interface{ Unwrap() []error }
	var aggregate interface{ Errors() []error }
	list := []error{err}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &aggregate):
		list = aggregate.Errors()
	case errors.As(err, &many):
		list = many.Unwrap()
	}
	for i, e := range list {
		list[i] = fmt.Errorf("%s: %w", file, e)
	}
	return errors.Join(list...)
}

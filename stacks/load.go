package stacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
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

// decode takes only keys that Stack has, and in each only fields that it has.
func decode(project string, config map[string]string) (Stack, error) {
	var s Stack
	targets := map[string]any{"cluster": &s.Cluster, "hotkv": &s.HotKV, "mooncake": &s.Mooncake}
	known := slices.Sorted(maps.Keys(targets))

	var errs []error
	for _, full := range slices.Sorted(maps.Keys(config)) {
		key, ours := strings.CutPrefix(full, project+":")
		if !ours {
			continue
		}
		target := targets[key]
		if target == nil {
			errs = append(errs, fmt.Errorf("%s: unknown key; known are %s", full, strings.Join(known, ", ")))
			continue
		}
		problems, err := kjson.UnmarshalStrict([]byte(config[full]), target, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields)
		for _, problem := range append(problems, err) {
			if problem != nil {
				errs = append(errs, fmt.Errorf("%s: %s", full, reason(problem)))
			}
		}
	}
	return s, errors.Join(errs...)
}

// reason puts what the JSON decoder says into the words of a stack file.
func reason(err error) string {
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		where := ""
		if wrongType.Field != "" {
			where = wrongType.Field + ": "
		}
		return fmt.Sprintf("%sis of type %s, but must be of type %s", where, wrongType.Value, wrongType.Type.Kind())
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
	errs = append(errs, collisions(s.claims(at("hotkv"), at("mooncake")))...)
	for _, name := range slices.Sorted(maps.Keys(s.Mooncake)) {
		errs = append(errs, s.Mooncake[name].Validate(name, at("mooncake").Child(name))...)
	}
	return errs
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

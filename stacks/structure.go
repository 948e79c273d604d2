package stacks

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The form of a stack file is checked with the schema that editors use, so that both
// say the same, and so that every problem is found: Go's decoder stops at the first
// value of a wrong type. What the decoder gets afterwards is known to fit.
//
//go:embed schema.json
var schemaText []byte

// schemaProject is the project whose keys are in schema.json.
const schemaProject = "kvinfra"

// schemas returns the schema of each key of a stack, without the project's name.
func schemas() (map[string]*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		return nil, err
	}
	file, err := compiler.Compile("schema.json")
	if err != nil {
		return nil, err
	}
	keys := map[string]*jsonschema.Schema{}
	for key, schema := range file.Properties["config"].Properties {
		keys[strings.TrimPrefix(key, schemaProject+":")] = schema
	}
	return keys, nil
}

// problem is what is wrong with a value under a key of a stack.
type problem struct {
	key string // under which it is there, "" for the whole
	err error
}

// structure returns everything that is wrong with the form of value, which stands
// at a place of a stack file.
func structure(schema *jsonschema.Schema, value any, at *field.Path) []problem {
	var invalid *jsonschema.ValidationError
	if !errors.As(schema.Validate(value), &invalid) {
		return nil
	}
	var problems []problem
	for _, leaf := range leaves(invalid) {
		key := ""
		if path := leaf.InstanceLocation; len(path) > 0 {
			key = path[0]
		}
		for _, err := range locate(schema, value, at, leaf.InstanceLocation).explain(leaf.ErrorKind) {
			problems = append(problems, problem{key, err})
		}
	}
	slices.SortFunc(problems, func(a, b problem) int { return strings.Compare(a.err.Error(), b.err.Error()) })
	return problems
}

// leaves returns the problems that are not only that there is one further down.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	_, oneOfSeveral := e.ErrorKind.(*kind.AnyOf)
	if len(e.Causes) == 0 || oneOfSeveral {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// place is a value with its schema, and the settings that it is one of.
type place struct {
	at     *field.Path
	schema *jsonschema.Schema
	value  any

	settings   *jsonschema.Schema // of the whole entry
	settingsAt *field.Path
}

// locate goes to the value at path. The names of entries are written as keys are.
func locate(schema *jsonschema.Schema, value any, at *field.Path, path []string) place {
	p := place{at, schema, value, schema, at}
	for i, token := range path {
		switch v := p.value.(type) {
		case map[string]any:
			p.value = v[token]
			if property, ok := p.schema.Properties[token]; ok {
				p.schema, p.at = property, p.at.Child(token)
			} else if entry, ok := p.schema.AdditionalProperties.(*jsonschema.Schema); ok && i == 0 {
				p.schema, p.at = entry, p.at.Child(token)
				p.settings, p.settingsAt = entry, p.at
			} else if ok {
				p.schema, p.at = entry, p.at.Key(token)
			}
		case []any:
			index, _ := strconv.Atoi(token) // the validator counted
			p.value, p.schema, p.at = v[index], p.schema.Items.(*jsonschema.Schema), p.at.Index(index)
		}
	}
	return p
}

// explain says what is wrong, and what to do, in the words of a stack file.
func (p place) explain(what jsonschema.ErrorKind) []error {
	switch what := what.(type) {
	case *kind.Required:
		return nil // the specs say what to put there
	case *kind.AdditionalProperties:
		var errs []error
		for _, key := range what.Properties {
			errs = append(errs, fmt.Errorf("%s: unknown key; %s", p.at.Child(key), p.meant(key)))
		}
		return errs
	case *kind.Enum:
		value, values := fmt.Sprint(what.Got), texts(what.Want)
		err := error(field.NotSupported(p.at, value, values))
		if near := nearest(value, values); near != "" {
			err = fmt.Errorf("%w; did you mean %q?", err, near)
		}
		return []error{err}
	case *kind.Not: // only of zero
		return []error{field.Invalid(p.at, 0, "must be larger; leave the key out for the default")}
	default:
		return []error{fmt.Errorf("%s: %s", p.at, p.mismatch())}
	}
}

func texts(values []any) []string {
	all := make([]string, 0, len(values))
	for _, value := range values {
		all = append(all, fmt.Sprint(value))
	}
	return all
}

// mismatch says that the value has the wrong type. What Pulumi reads as a number, a
// truth value or nothing is seldom meant as one where a text must be.
func (p place) mismatch() string {
	schema := p.schema
	if len(schema.AnyOf) > 0 {
		schema = schema.AnyOf[0] // the others are only for Pulumi
	}
	wanted := schema.Types.ToStrings()[0]
	words := map[string]string{
		"object": "a map of settings", "array": "a list, as in [a, b]", "string": "a text",
		"integer": "a whole number", "number": "a number", "boolean": "true or false",
	}[wanted]
	switch v := p.value.(type) {
	case nil:
		if wanted == "object" {
			return "has no value: write {} for a map without settings, or remove the key"
		}
		return fmt.Sprintf("has no value, but must be %s: write one, or remove the key", words)
	case json.Number, bool:
		if wanted == "string" {
			return fmt.Sprintf("is read as %v, which is no text: put what you mean in quotes", v)
		}
		return fmt.Sprintf("is %v, but must be %s", v, words)
	case string:
		_, notNumber := strconv.ParseFloat(v, 64)
		isNumber := notNumber == nil && (wanted == "integer" || wanted == "number")
		if isNumber || wanted == "boolean" && (v == "true" || v == "false") {
			return fmt.Sprintf("is the text %q, but must be %s: remove the quotes", v, words)
		}
		if len(v) > 40 || strings.ContainsAny(v, "\n{") {
			return "is a text, but must be " + words // it may be a kubeconfig, with keys in it
		}
		return fmt.Sprintf("is the text %q, but must be %s", v, words)
	case []any:
		return "is a list, but must be " + words
	default:
		return "is a map, but must be " + words
	}
}

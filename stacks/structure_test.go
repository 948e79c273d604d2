package stacks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestEveryKeyIsCheckedWhereItStands gives each key of a stack file that has them all
// no value and one of another form, and each map a key that does not exist: that is
// one problem, at the very place.
func TestEveryKeyIsCheckedWhereItStands(t *testing.T) {
	known, err := schemas()
	require.NoError(t, err)
	checked := 0
	for key, schema := range known {
		at := field.NewPath("kvinfra:" + key)
		visit(schema, at, 0, func(value any) any { return value }, func(value any, place string) {
			checked++
			problems := structure(schema, value, at)
			if assert.Len(t, problems, 1, place) {
				assert.True(t, strings.HasPrefix(problems[0].err.Error(), place+": "), "%s: %v", place, problems[0].err)
			}
		})
		require.Empty(t, structure(schema, example(schema), at))
	}
	assert.Greater(t, checked, 300)
}

// visit calls check with a value that is wrong in one place, for each place below at
// and each way to be wrong. within puts a value there into one that is right otherwise.
func visit(schema *jsonschema.Schema, at *field.Path, depth int, within func(any) any, check func(value any, place string)) {
	check(within(nil), at.String())
	if schema.AnyOf != nil {
		schema = schema.AnyOf[0]
	}
	wrong := any([]any{})
	if schema.Items != nil {
		wrong = true
	}
	check(within(wrong), at.String())

	if items, ok := schema.Items.(*jsonschema.Schema); ok {
		visit(items, at.Index(1), depth+1, func(value any) any { return within([]any{example(items), value}) }, check)
	}
	if entry, ok := schema.AdditionalProperties.(*jsonschema.Schema); ok {
		here := at.Key("name")
		if depth == 0 {
			here = at.Child("name")
		}
		visit(entry, here, depth+1, func(value any) any { return within(map[string]any{"name": value}) }, check)
	}
	for key, property := range schema.Properties {
		visit(property, at.Child(key), depth+1, func(value any) any {
			all := example(schema).(map[string]any)
			all[key] = value
			return within(all)
		}, check)
	}
	if schema.Properties != nil {
		all := example(schema).(map[string]any)
		all["nowhere"] = "x"
		check(within(all), at.Child("nowhere").String())
	}
}

// example is a value of the right form with every key that there is.
func example(schema *jsonschema.Schema) any {
	if schema.AnyOf != nil {
		schema = schema.AnyOf[0]
	}
	if schema.Enum != nil {
		return schema.Enum.Values[0]
	}
	switch schema.Types.ToStrings()[0] {
	case "string":
		return "x"
	case "boolean":
		return true
	case "array":
		return []any{example(schema.Items.(*jsonschema.Schema))}
	case "object":
		all := map[string]any{}
		for key, property := range schema.Properties {
			all[key] = example(property)
		}
		if entry, ok := schema.AdditionalProperties.(*jsonschema.Schema); ok {
			all["name"] = example(entry)
		}
		return all
	default:
		return json.Number("1")
	}
}

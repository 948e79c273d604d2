package stacks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gotest.tools/v3/golden"
	"sigs.k8s.io/yaml"
)

// TestSchema compares the schema of stack files and the table of all keys
// with what the specs say now; make golden rewrites both.
func TestSchema(t *testing.T) {
	schema := fileSchema(t)
	text, err := json.MarshalIndent(schema, "", "  ")
	require.NoError(t, err)
	golden.Assert(t, string(text)+"\n", "../schema.json")
	golden.Assert(t, document(schema), "../README.md")
}

// TestStackFilesFitTheSchema checks what an editor checks, with the schema that each
// file names.
func TestStackFilesFitTheSchema(t *testing.T) {
	files, err := filepath.Glob("../infra/e2e/stacks/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	// By name: a user's own stack file beside them may name none.
	for _, file := range append(files, "../Pulumi.dev.yaml", "../Pulumi.prod.yaml") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(text), "\n")
		path, named := strings.CutPrefix(first, "# yaml-language-server: $schema=")
		require.True(t, named, "%s: the first line names the schema", file)
		schema, err := validator.NewCompiler().Compile(filepath.Join(filepath.Dir(file), path))
		require.NoError(t, err)
		var value any
		require.NoError(t, yaml.Unmarshal(text, &value))
		assert.NoError(t, schema.Validate(value), file)

		delete(value.(map[string]any)["config"].(map[string]any), "kvinfra:cluster")
		assert.Error(t, schema.Validate(value), "a required key is missing")
	}
}

// fileSchema is the schema of a stack file: what Pulumi has in it, and Stack.
func fileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	stack := stackSchema(t)
	// A kubeconfig that is text has keys in it; in the file Pulumi can have it encrypted.
	cluster, _ := stack.Properties.Get("cluster")
	kubeconfig, _ := cluster.Properties.Get("kubeconfig")
	secure := closed("Encrypted by pulumi config set --secret --path.")
	secure.Properties.Set("secure", &jsonschema.Schema{Type: "string"})
	kubeconfig.Type, kubeconfig.AnyOf = "", []*jsonschema.Schema{{Type: "string"}, secure}

	config := closed("The stack's configuration.")
	for p := stack.Properties.Oldest(); p != nil; p = p.Next() {
		config.Properties.Set(schemaProject+":"+p.Key, p.Value)
	}
	for _, key := range stack.Required {
		config.Required = append(config.Required, schemaProject+":"+key)
	}
	config.PatternProperties = map[string]*jsonschema.Schema{"^pulumi:": {Description: "A setting of Pulumi itself."}}

	file := closed("A stack file: one environment.")
	file.Version = "http://json-schema.org/draft-07/schema#" // the one that all editors know
	for _, key := range []struct{ name, description string }{
		{"secretsprovider", "What encrypts secrets; Pulumi writes it."},
		{"encryptedkey", "The key of that provider, encrypted; Pulumi writes it."},
		{"encryptionsalt", "What belongs to a passphrase; Pulumi writes it."},
		{"environment", "Environments of Pulumi ESC to import."},
	} {
		file.Properties.Set(key.name, &jsonschema.Schema{Description: key.description})
	}
	file.Properties.Set("config", config)
	return file
}

// closed is the schema of a map that has no other keys than its properties.
func closed(description string) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Description: description,
		Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema,
	}
}

func stackSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	reflector := jsonschema.Reflector{DoNotReference: true, Anonymous: true, Mapper: choices}
	stack := reflect.TypeFor[Stack]()
	for _, dir := range []string{".", "../components"} {
		require.NoError(t, reflector.AddGoComments(stack.PkgPath(), dir, jsonschema.WithFullComment()))
	}
	schema := reflector.ReflectFromType(stack)
	annotate(t, schema, stack, "", reflector.CommentMap, defaults(t))
	schema.Version = ""
	return schema
}

// choices is the schema of a text that has a method for its values.
func choices(t reflect.Type) *jsonschema.Schema {
	method, ok := t.MethodByName("Choices")
	if !ok {
		return nil
	}
	schema := &jsonschema.Schema{Type: "string"}
	for _, value := range method.Func.Call([]reflect.Value{reflect.Zero(t)})[0].Seq2() {
		schema.Enum = append(schema.Enum, value.String())
	}
	return schema
}

// annotate gives every setting below path its description and its default. The
// library would describe a field of a struct type by that type alone.
func annotate(t *testing.T, schema *jsonschema.Schema, of reflect.Type, path string, comments map[string]string, defaults map[string]any) {
	t.Helper()
	switch of.Kind() {
	case reflect.Slice:
		annotate(t, schema.Items, of.Elem(), path+"[]", comments, defaults)
	case reflect.Map:
		annotate(t, schema.AdditionalProperties, of.Elem(), path+".*", comments, defaults)
	case reflect.Pointer:
		annotate(t, schema, of.Elem(), path, comments, defaults)
		schema.Not = nil // it can tell zero from nothing
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(of) {
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			property, _ := schema.Properties.Get(key)
			text := comments[of.PkgPath()+"."+of.Name()+"."+field.Name]
			require.NotEmpty(t, text, "%s.%s has no comment", of, field.Name)
			if field.Type.Kind() == reflect.Struct {
				// What it says beyond what it is: mostly what a change does.
				_, more, _ := strings.Cut(comments[field.Type.PkgPath()+"."+field.Type.Name()], ".")
				text += more
			}
			annotate(t, property, field.Type, strings.TrimPrefix(path+"."+key, "."), comments, defaults)
			property.Description = inKeys(text, of, field.Name)
			if slices.Contains(schema.Required, key) {
				property.Default = nil
			}
		}
	case reflect.Bool:
		schema.Default = false
	default:
		schema.Default = defaults[path]
		if of.Kind() == reflect.Int || of.Kind() == reflect.Float64 {
			schema.Not = &jsonschema.Schema{Const: 0} // it stands for the default, and would not do what it says
		}
	}
}

// inKeys puts a comment on one line, with the keys of a stack file for the names of
// fields where these are no common words, and for the name that it starts with.
func inKeys(comment string, of reflect.Type, field string) string {
	keys := map[string]string{}
	for _, f := range reflect.VisibleFields(of) {
		keys[f.Name], _, _ = strings.Cut(f.Tag.Get("json"), ",")
	}
	words := strings.Fields(comment)
	for i, word := range words {
		name := regexp.MustCompile(`^\w+`).FindString(word)
		if key, known := keys[name]; known && (i == 0 && name == field || regexp.MustCompile(`[a-z][A-Z][a-z]`).MatchString(name)) {
			words[i] = key + strings.TrimPrefix(word, name)
		}
	}
	return strings.Join(words, " ")
}

// defaults returns what a stack file that leaves it out gets, by path, as in
// hotkv.*.storage.size. What depends on other settings is left to the descriptions:
// what a cluster with these has otherwise.
func defaults(t *testing.T) map[string]any {
	t.Helper()
	const releases = `{"mooncake": {"*": {"image": "kvcacheai/mooncake:`
	plain := filled(t, releases+`0.3.13.post1"}}, "hotkv": {"*": {}}}`)
	for _, other := range []string{
		`{"cluster": {"namespace": "other"}, "hotkv": {"*": {}}, "mooncake": {"*": {}}}`,
		releases + `0.3.7.post2"}}}`,
		releases + `0.3.13", "highAvailability": {"etcd": ["etcd:2379"]}, "fabric": {"mode": "rdma-device-plugin"}, "store": {"segmentSize": "1Gi"}}}}`,
	} {
		given, others := values(t, other), filled(t, other)
		for path, value := range plain {
			_, isGiven := given[path]
			otherwise, exists := others[path]
			if exists && !isGiven && otherwise != value {
				delete(plain, path)
			}
		}
	}
	return plain
}

// filled returns the settings of a stack with all defaults, but not those given.
func filled(t *testing.T, stack string) map[string]any {
	t.Helper()
	var s Stack
	require.NoError(t, json.Unmarshal([]byte(stack), &s))
	text, err := json.Marshal(s.withDefaults())
	require.NoError(t, err)
	all := values(t, string(text))
	for path := range values(t, stack) {
		delete(all, path)
	}
	return all
}

// values returns what is no map, by path.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	all := map[string]any{}
	var visit func(path string, value any)
	visit = func(path string, value any) {
		if object, ok := value.(map[string]any); ok {
			for key, value := range object {
				visit(strings.TrimPrefix(path+"."+key, "."), value)
			}
			return
		}
		all[path] = value
	}
	var value any
	require.NoError(t, json.Unmarshal([]byte(text), &value))
	visit("", value)
	return all
}

// document is the page with the tables of all keys.
func document(file *jsonschema.Schema) string {
	var page strings.Builder
	page.WriteString(`# The keys of a stack file

They stand under ` + "`config:`. `make golden`" + ` writes this page from the comments in the code, and [schema.json](schema.json),
which says the same to editors. A key that is not here is refused, and so is a value of another form; nothing is made then. A
text that looks like a number, a time, true, false or null needs quotes. Where there is no default, the meaning says what
is used.
`)
	config, _ := file.Properties.Get("config")
	for p := config.Properties.Oldest(); p != nil; p = p.Next() {
		page.WriteString("\n## " + p.Key + "\n\n" + p.Value.Description + "\n\n| key | value | default | meaning |\n|---|---|---|---|\n")
		settings := p.Value
		if settings.Properties == nil { // by name
			settings = settings.AdditionalProperties
		}
		rows(&page, settings, "")
	}
	return page.String()
}

func rows(page *strings.Builder, schema *jsonschema.Schema, prefix string) {
	for p := schema.Properties.Oldest(); p != nil; p = p.Next() {
		key, value := prefix+p.Key, p.Value
		standard := ""
		if value.Default != nil {
			text, _ := json.Marshal(value.Default)
			standard = "`" + strings.Trim(string(text), `"`) + "`"
		}
		if slices.Contains(schema.Required, p.Key) {
			standard = "required"
		}
		description := strings.ReplaceAll(value.Description, "|", `\|`)
		page.WriteString("| `" + key + "` | " + form(value) + " | " + standard + " | " + description + " |\n")
		if value.Properties != nil {
			rows(page, value, key+".")
		}
		if value.Items != nil && value.Items.Properties != nil {
			rows(page, value.Items, key+"[].")
		}
	}
}

// form says what a value looks like.
func form(s *jsonschema.Schema) string {
	switch {
	case len(s.Enum) > 0:
		var values []string
		for _, value := range s.Enum {
			values = append(values, "`"+value.(string)+"`")
		}
		return strings.Join(values, ", ")
	case s.Items != nil:
		return "list of " + map[string]string{"string": "texts", "object": "maps"}[s.Items.Type]
	case s.Type == "object" && s.Properties == nil:
		return "map from name to " + form(s.AdditionalProperties)
	case s.AnyOf != nil:
		return form(s.AnyOf[0])
	}
	return map[string]string{
		"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`", "object": "map",
	}[s.Type]
}

package stacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"k8s.io/apimachinery/pkg/util/validation/field"

	hotkv "kvinfra/components/hotkv/spec"
	mooncake "kvinfra/components/mooncake/spec"
)

// Load reads a stack out of its configuration, "project:key" to JSON, as the
// engine hands it over. Its error has a line for each problem, which starts with
// the stack file and the key: for all that has the wrong form, and for what is wrong
// with the meaning of every entry whose form is right.
func Load(project, stack string, config map[string]string) (Stack, error) {
	known, err := schemas()
	if err != nil {
		return Stack{}, fmt.Errorf("the schema of stack files cannot be read: %w", err)
	}
	r := reader{project: project, config: config, schemas: known}
	r.unknown()
	var s Stack
	cluster, wrong := r.form("cluster")
	usable := len(wrong) == 0 && r.decode(r.at("cluster"), cluster, &s.Cluster)
	s.HotKV = entries[hotkv.Cluster](&r, "hotkv")
	s.Mooncake = entries[mooncake.Cluster](&r, "mooncake")
	s = s.withDefaults()

	if usable {
		r.add(s.Cluster.validate(r.at("cluster")))
	}
	for _, name := range slices.Sorted(maps.Keys(s.HotKV)) {
		r.add(s.HotKV[name].Validate(name, r.at("hotkv").Child(name)))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Mooncake)) {
		r.add(s.Mooncake[name].Validate(name, r.at("mooncake").Child(name)))
	}
	r.add(s.unpinned(r.at("hotkv"), r.at("mooncake")))
	if len(r.errs) == 0 { // names that are wrong need no comparison, and numbers no computing
		r.add(collisions(s.claims(r.at("hotkv"), r.at("mooncake"))))
		hosts := s.hostClusters(r.at("mooncake"), "")
		for i, c := range hosts {
			r.add(c.crowded(hosts[:i]))
		}
	}
	return s, inFile(File(stack), r.errs)
}

// File returns the name of a stack's configuration file.
func File(stack string) string { return "Pulumi." + stack + ".yaml" }

// reader reads the configuration of a stack and collects what is wrong with it.
type reader struct {
	project string
	config  map[string]string
	schemas map[string]*jsonschema.Schema // by key, without the project's name
	errs    []error
}

func (r *reader) at(key string) *field.Path { return field.NewPath(r.project + ":" + key) }

func (r *reader) add(errs field.ErrorList) {
	for _, err := range errs {
		r.errs = append(r.errs, err)
	}
}

// unknown reports keys that a stack does not have. Of other programs it knows only
// Pulumi itself: a misspelt name must not look like a stack without clusters.
func (r *reader) unknown() {
	var known []string
	for key := range r.schemas {
		known = append(known, r.project+":"+key)
	}
	slices.Sort(known)
	for _, key := range slices.Sorted(maps.Keys(r.config)) {
		if !slices.Contains(known, key) && !strings.HasPrefix(key, "pulumi:") {
			r.errs = append(r.errs, fmt.Errorf("%s: unknown key; %s", key, meant(key, known)))
		}
	}
}

// form returns the map under a key, and which of its keys have something of the
// wrong form; "" is the whole.
func (r *reader) form(key string) (value map[string]any, wrong map[string]bool) {
	text, given := r.config[r.project+":"+key]
	if !given {
		return nil, nil
	}
	parsed := parse(text)
	wrong = map[string]bool{}
	for _, p := range structure(r.schemas[key], parsed, r.at(key)) {
		r.errs = append(r.errs, p.err)
		wrong[p.key] = true
	}
	value, _ = parsed.(map[string]any)
	return value, wrong
}

// parse returns a value of the configuration, which is JSON, or any text as it is.
func parse(text string) any {
	if text == "" {
		return nil // so the engine hands over a key without a value
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return text
	}
	return withDates(value)
}

// withDates has dates as their writer did. The engine makes "2026-11-30 00:00:00
// +0000 UTC" of 2026-11-30, which is a likely value of restart.
func withDates(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = withDates(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = withDates(inner)
		}
	case string:
		date, is := strings.CutSuffix(v, " 00:00:00 +0000 UTC")
		if _, err := time.Parse(time.DateOnly, date); is && err == nil {
			return date
		}
	}
	return value
}

// entries returns those entries of a key whose form is right.
func entries[T any](r *reader, key string) map[string]T {
	all := map[string]T{}
	value, wrong := r.form(key)
	for _, name := range slices.Sorted(maps.Keys(value)) {
		var entry T
		if !wrong[name] && r.decode(r.at(key).Child(name), value[name], &entry) {
			all[name] = entry
		}
	}
	return all
}

// decode puts a value of the right form into a spec. What can still fail is a number
// that is too large.
func (r *reader) decode(at *field.Path, value, into any) bool {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s: %s does not fit", wrong.Field, wrong.Value)
	}
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s.%w", at, err))
	}
	return err == nil
}

// inFile puts the file's name in front of each error.
func inFile(file string, errs []error) error {
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s: %w", file, err)
	}
	return errors.Join(errs...)
}

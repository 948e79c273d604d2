package manifestdiff

import (
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// object is one resource of a rendering.
type object struct {
	kind, name string         // by which Pulumi knows it, together with its parent
	notes      map[string]any // Pulumi's options, and the inputs of what is no Kubernetes object
	manifest   map[string]any // empty for what is no Kubernetes object
}

// The names of options in a rendering.
const (
	parentNote  = "parent"
	ignoresNote = "ignores changes of"
)

// parse reads what package render writes: documents that start with a comment.
func parse(rendering []byte) ([]object, error) {
	var all []object
	for document := range strings.SplitSeq("\n"+string(rendering), "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		var title string
		var comment, body strings.Builder
		for line := range strings.Lines(document) {
			text, isComment := strings.CutPrefix(line, "# ")
			switch {
			case !isComment || body.Len() > 0:
				body.WriteString(line)
			case title == "":
				title = strings.TrimSpace(text)
			default:
				comment.WriteString(text)
			}
		}
		o := object{notes: map[string]any{}, manifest: map[string]any{}}
		var titled bool
		if o.kind, o.name, titled = strings.Cut(title, " "); !titled {
			return nil, fmt.Errorf("a document of the rendering starts with %.40q and not with a comment that names it", document)
		}
		if err := yaml.Unmarshal([]byte(comment.String()), &o.notes); err != nil {
			return nil, fmt.Errorf("the comment of %s: %w", title, err)
		}
		if err := yaml.Unmarshal([]byte(body.String()), &o.manifest); err != nil {
			return nil, fmt.Errorf("%s: %w", title, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// key tells whether two objects are the same one to Pulumi.
func (o object) key() string { return o.kind + " " + o.name + " " + text(o.notes[parentNote]) }

// place is what kubectl calls it: namespace and name.
func (o object) place() string {
	name := cmp.Or(text(at(o.manifest, "metadata.name")), o.name)
	if namespace := text(at(o.manifest, "metadata.namespace")); namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// ignores are the paths whose changes do not reach the cluster.
func (o object) ignores() []string {
	if list := text(o.notes[ignoresNote]); list != "" {
		return strings.Split(list, ", ")
	}
	return nil
}

// pods is how many it runs.
func (o object) pods() int {
	if o.kind != "StatefulSet" && o.kind != "Deployment" {
		return 0
	}
	if n, ok := at(o.manifest, "spec.replicas").(float64); ok {
		return int(n)
	}
	return 1
}

// at returns what stands at a path of plain keys, or nil.
func at(m map[string]any, path string) any {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		return m[key]
	}
	inner, _ := m[key].(map[string]any)
	return at(inner, rest)
}

// text is a value that is a text, or nothing.
func text(v any) string {
	s, _ := v.(string)
	return s
}

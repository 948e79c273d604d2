package seed

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Explained is a row of the table of differences.
type Explained struct {
	Object string `json:"object"`
	Field  string `json:"field,omitempty"`
	Seed   string `json:"seed,omitempty"`
	Ours   string `json:"ours,omitempty"`
	Why    string `json:"why"`
}

// Check requires that the table in file explains exactly the differences found.
// Object and field may be patterns with "*"; a row with such a field lists no
// values.
func Check(t *testing.T, file string, found []Difference) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var table []Explained
	require.NoError(t, yaml.UnmarshalStrict(text, &table))

	used := make([]bool, len(table))
	for _, d := range found {
		explained := false
		for i, row := range table {
			if row.explains(d) {
				used[i], explained = true, true
			}
		}
		row, err := yaml.Marshal([]Explained{{Object: d.Object, Field: d.Field, Seed: d.Seed, Ours: d.Ours, Why: "?"}})
		require.NoError(t, err)
		assert.True(t, explained, "%s has no row for this difference:\n%s", file, row)
	}
	for i, row := range table {
		assert.NotEmpty(t, row.Why, "%s: %s %s does not say why", file, row.Object, row.Field)
		assert.True(t, used[i], "%s: %s %s is no difference any more", file, row.Object, row.Field)
	}
}

func (e Explained) explains(d Difference) bool {
	if !matches(e.Object, d.Object) || !matches(e.Field, d.Field) {
		return false
	}
	return strings.Contains(e.Field, "*") || e.Seed == d.Seed && e.Ours == d.Ours
}

// matches compares with a pattern in which "*" stands for any text.
func matches(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(s)
}

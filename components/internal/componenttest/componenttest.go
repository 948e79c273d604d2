// Package componenttest has the tests that every component must pass. Its one
// rule: it knows objects, and of no component what they are for.
package componenttest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gotest.tools/v3/golden"

	"kvinfra/components/render"
)

// Run makes the objects of one component.
type Run func(render.Options) ([]render.Resource, error)

// Objects compares the objects with those in a golden file; a preview must show
// the same.
func Objects(t *testing.T, file string, run Run) {
	t.Helper()
	resources, err := run(render.Options{})
	require.NoError(t, err)
	manifests, err := render.YAML(resources)
	require.NoError(t, err)
	golden.Assert(t, string(manifests), file)

	previewed, err := run(render.Options{Preview: true})
	require.NoError(t, err)
	inPreview, err := render.YAML(previewed)
	require.NoError(t, err)
	assert.Equal(t, string(manifests), string(inPreview), "a preview shows other objects than an up makes")
}

// EveryFailedCreation fails the creation of one resource after the other, and
// expects to hear of it.
func EveryFailedCreation(t *testing.T, run Run) {
	t.Helper()
	all, err := run(render.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, failing := range all {
		t.Run(failing.Type+" "+failing.Name, func(t *testing.T) {
			_, err := run(render.Options{Fail: func(r render.Resource) error {
				if r.Type == failing.Type && r.Name == failing.Name {
					return errors.New("no room")
				}
				return nil
			}})
			assert.ErrorContains(t, err, "no room")
		})
	}
}

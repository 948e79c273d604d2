package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"kvinfra/components/internal/kube"
)

func TestHash(t *testing.T) {
	type inner struct{ Name *string }
	type innerOfLaterSDK struct {
		Early *int
		Name  *string
	}
	type outer struct{ List []any }
	type outerOfLaterSDK struct {
		List []any
		Late map[string]string
	}
	hash := func(values ...any) string {
		t.Helper()
		h, err := kube.Hash(values...)
		require.NoError(t, err)
		return h
	}
	name, other, zero := "a", "b", 0
	now := hash(outer{[]any{inner{&name}}}, "text")
	assert.Len(t, now, 8)

	for what, same := range map[string]string{
		"the same values":                hash(outer{[]any{inner{&name}}}, "text"),
		"fields that are there, but nil": hash(outerOfLaterSDK{List: []any{innerOfLaterSDK{Name: &name}}}, "text"),
	} {
		assert.Equal(t, now, same, what)
	}
	for what, changed := range map[string]string{
		"a value inside": hash(outer{[]any{inner{&other}}}, "text"),
		"a new field":    hash(outer{[]any{innerOfLaterSDK{Name: &name, Early: &zero}}}, "text"),
		"a longer list":  hash(outer{[]any{inner{&name}, inner{&name}}}, "text"),
		"another text":   hash(outer{[]any{inner{&name}}}, "texts"),
	} {
		assert.NotEqual(t, now, changed, what)
	}

	_, err := kube.Hash(func() {})
	assert.ErrorContains(t, err, "cannot be written down")
}

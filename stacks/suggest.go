package stacks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/texttheater/golang-levenshtein/levenshtein"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// meant says which setting a user may have meant by a key that is none of p's: one
// of another place, because it is indented wrongly, or one that is written nearly so.
func (p place) meant(key string) string {
	known := slices.Sorted(maps.Keys(p.schema.Properties))
	if elsewhere := find(p.settings, key, p.settingsAt); len(elsewhere) > 0 {
		return fmt.Sprintf("did you mean %s?", strings.Join(elsewhere, " or "))
	}
	return meant(key, known)
}

// meant says which of the known keys a user may have meant.
func meant(key string, known []string) string {
	if near := nearest(key, known); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "known are " + strings.Join(known, ", ")
}

// find returns the places below at where there is a setting called key.
func find(schema *jsonschema.Schema, key string, at *field.Path) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if name == key {
			found = append(found, at.Child(name).String())
		}
		found = append(found, find(schema.Properties[name], key, at.Child(name))...)
	}
	return found
}

// nearest returns the one of the known words that is written nearly as word, or
// starts nearly so, "" for none.
func nearest(word string, known []string) string {
	best, least := "", 2+len(word)/4
	for _, candidate := range known {
		a, b := []rune(strings.ToLower(word)), []rune(strings.ToLower(candidate))
		distance := levenshtein.DistanceForStrings(a, b, levenshtein.DefaultOptionsWithSub)
		if len(a) > 3 && len(a) < len(b) {
			distance = min(distance, 1+levenshtein.DistanceForStrings(a, b[:len(a)], levenshtein.DefaultOptionsWithSub))
		}
		if distance < least {
			best, least = candidate, distance
		}
	}
	return best
}

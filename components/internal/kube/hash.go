package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Hash returns eight characters that change with any of the values, for the name
// of an object that cannot be changed. A field that is not set counts as one that is
// not there: a later SDK with more fields must not restart servers that stay as they are.
func Hash(values ...any) (string, error) {
	data, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("values for a name cannot be written down: %w", err)
	}
	var all any
	if err := json.Unmarshal(data, &all); err != nil {
		return "", fmt.Errorf("values for a name cannot be read back: %w", err)
	}
	if data, err = json.Marshal(withoutUnset(all)); err != nil {
		return "", fmt.Errorf("values for a name cannot be written down: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:8], nil
}

// withoutUnset drops the fields of v, and of everything in it, that are null.
func withoutUnset(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if value == nil {
				delete(v, key)
				continue
			}
			v[key] = withoutUnset(value)
		}
	case []any:
		for i, value := range v {
			v[i] = withoutUnset(value)
		}
	}
	return v
}

package stacks

import (
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

// ConfigOf returns the configuration in the text of a stack file as the engine
// would hand it over, with "[secret]" in place of an encrypted value. It takes the
// engine's own YAML library: others read "Off" as false.
func ConfigOf(file []byte) (map[string]string, error) {
	var parsed struct {
		Config map[string]any `yaml:"config"`
	}
	if err := yaml.Unmarshal(file, &parsed); err != nil {
		return nil, err
	}
	config := map[string]string{}
	for key, value := range parsed.Config {
		if text, ok := value.(string); ok {
			config[key] = text
			continue
		}
		data, err := json.Marshal(masked(value))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		config[key] = string(data)
	}
	return config, nil
}

// masked replaces every {secure: ciphertext} in v.
func masked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, encrypted := v["secure"].(string); encrypted && len(v) == 1 {
			return "[secret]"
		}
		for key, value := range v {
			v[key] = masked(value)
		}
	case []any:
		for i, value := range v {
			v[i] = masked(value)
		}
	}
	return v
}

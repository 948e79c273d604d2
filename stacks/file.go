package stacks

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// ConfigOf returns the configuration in the text of a stack file as the engine
// would hand it over. An encrypted value stays encrypted.
func ConfigOf(file []byte) (map[string]string, error) {
	var parsed struct {
		Config map[string]any `json:"config"`
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
		data, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		config[key] = string(data)
	}
	return config, nil
}

package stacks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// CheckFile reports what the engine passes over in the text of a stack's file
// without a word: a key beside config, where a wrong indentation puts it and a whole
// cluster looks removed, and a second document. A key without the project's name is
// reported too: the engine adds it, and of two that are then the same takes any.
func CheckFile(project, stack string, text []byte) error {
	var file struct {
		Config map[string]any `yaml:"config"`
		Others map[string]any `yaml:",inline"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&file); err != nil {
		return nil // no YAML, which the engine says itself, or an empty file
	}
	var errs []error
	pulumis := []string{"config", "environment", "secretsprovider", "encryptedkey", "encryptionsalt"}
	for _, key := range slices.Sorted(maps.Keys(file.Others)) {
		switch {
		case slices.Contains(pulumis, key):
		case strings.Contains(key, ":"):
			errs = append(errs, fmt.Errorf("%s: stands beside config, where Pulumi passes over it; indent it, so that it is in config", key))
		default:
			errs = append(errs, fmt.Errorf("%s: unknown key; %s", key, meant(key, pulumis)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(file.Config)) {
		if !strings.Contains(key, ":") {
			errs = append(errs, fmt.Errorf("%s: has no project's name; write %s:%[1]s", key, project))
		}
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		errs = append(errs, errors.New("---: Pulumi reads one document and passes over what follows; remove the line"))
	}
	return inFile(File(stack), errs)
}

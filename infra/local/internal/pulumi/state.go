package pulumi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kvinfra/infra/local/internal/checkout"
)

// Forget removes the states of the stacks that run on the local cluster. It is
// for a cluster that was wiped: an up would find nothing to do on the next one.
func Forget(c checkout.Checkout) error {
	return eachState(c, func(file string, s Stack) error {
		local, err := s.onLocalCluster()
		if err != nil || !local {
			return err
		}
		return os.Remove(file)
	})
}

// CheckNothingElsewhere is an error when a stack has resources on a cluster that
// is not the local one: they would stay there, and only the state knows them.
func CheckNothingElsewhere(c checkout.Checkout) error {
	return eachState(c, func(file string, s Stack) error {
		local, err := s.onLocalCluster()
		if err != nil || local {
			return err
		}
		last, err := readState(file)
		if err != nil {
			return err
		}
		if n := len(last.Resources); n > 0 {
			return fmt.Errorf("stack %s has %d resources on a cluster that is not the local one: make destroy STACK=%s first, or remove %s to forget them", s.Name, n, s.Name, file)
		}
		return nil
	})
}

// onLocalCluster is false for a stack whose file is gone: nobody knows where it runs.
func (s Stack) onLocalCluster() (bool, error) {
	config, err := s.Config()
	if os.IsNotExist(err) {
		return false, nil
	}
	return config.OnLocalCluster(), err
}

// eachState calls do with the state file of each stack that has one.
func eachState(c checkout.Checkout, do func(file string, s Stack) error) error {
	files, err := filepath.Glob(c.Local("state", ".pulumi", "stacks", "*", "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if err := do(file, Stack{Name: name, checkout: c}); err != nil {
			return err
		}
	}
	return nil
}

// pending returns what a killed run was doing to resources: "creating", "updating"
// or "deleting" for each.
func (s Stack) pending() ([]string, error) {
	files, err := filepath.Glob(s.checkout.Local("state", ".pulumi", "stacks", "*", s.Name+".json"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	last, err := readState(files[0])
	if err != nil {
		return nil, err
	}
	var types []string
	for _, operation := range last.Operations {
		types = append(types, operation.Type)
	}
	return types, nil
}

// deployment is what a state file says of the stack's last run.
type deployment struct {
	Resources  []any `json:"resources"`
	Operations []struct {
		Type string `json:"type"`
	} `json:"pending_operations"`
}

func readState(file string) (deployment, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return deployment{}, err
	}
	var state struct {
		Checkpoint struct {
			Latest deployment `json:"latest"`
		} `json:"checkpoint"`
	}
	if err := json.Unmarshal(content, &state); err != nil {
		return deployment{}, fmt.Errorf("%s: %w", file, err)
	}
	return state.Checkpoint.Latest, nil
}

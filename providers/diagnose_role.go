package providers

import (
	"encoding/json"
	"slices"
	"strings"
)

// RoleActions reads the actions of a role that is a JSON document of statements, as those of RAM and CAM are.
func RoleActions(role []byte) ([]string, error) {
	var document struct {
		Statement []struct {
			Action []string `json:"Action"`
		} `json:"Statement"`
	}
	if err := json.Unmarshal(role, &document); err != nil {
		return nil, err
	}
	var out []string
	for _, statement := range document.Statement {
		out = append(out, statement.Action...)
	}
	return out, nil
}

// RoleLines returns a function that reads the permissions of each line of a role, sorted.
func RoleLines(read func(line string) []string) func(role []byte) ([]string, error) {
	return func(role []byte) ([]string, error) {
		var out []string
		for line := range strings.Lines(string(role)) {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, read(line)...)
			}
		}
		slices.Sort(out)
		return slices.Compact(out), nil
	}
}

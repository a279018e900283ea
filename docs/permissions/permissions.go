package permissions

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.json *.txt *.yaml
var files embed.FS

// Of returns the roles of a cloud by the names of their files: NAME.EXTENSION is the one of all
// set-ups, NAME-PART.EXTENSION the one of a part.
func Of(cloud string) (map[string][]byte, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("roles: %w", err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		name, _, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".json"), ".")
		if first, _, _ := strings.Cut(name, "-"); first != cloud {
			continue
		}
		if out[e.Name()], err = files.ReadFile(e.Name()); err != nil {
			return nil, fmt.Errorf("roles: %w", err)
		}
	}
	return out, nil
}

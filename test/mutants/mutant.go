package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Mutant is one fault that the tests have to find.
type Mutant struct {
	Name string `json:"name"`
	File string `json:"file"` // from the root of the repository
	From string `json:"from"` // text that occurs once in the file
	To   string `json:"to"`   // the text in its place; ON is true while the mutant is switched on
	Why  string `json:"why"`  // what is wrong with it
	By   string `json:"by"`   // package and test that find it, such as "stack/diff TestCompare"
	Kept string `json:"kept"` // why no test finds it; in place of By
}

// chosen is the environment variable that names the mutant which is switched on.
const chosen = "BERTH_MUTANT"

// switchFile is the source file by which a package asks for the mutant that is switched on.
const switchFile = `package %s

import "os"

var chosenMutant = os.Getenv(%q)

func mutantIsOn(name string) bool { return chosenMutant == name }
`

// readMutants returns the mutants of a file. Names are unique.
func readMutants(path string) ([]Mutant, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []Mutant
	if err := yaml.UnmarshalStrict(body, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	names := map[string]bool{}
	for _, m := range out {
		if m.Name == "" || names[m.Name] || m.Why == "" || !strings.Contains(m.To, "ON") || m.By != "" && m.Kept != "" {
			return nil, fmt.Errorf("%s: %q: want a unique name, why, ON in to, and by or kept", path, m.Name)
		}
		names[m.Name] = true
	}
	return out, nil
}

// mutateSources returns the sources of the files with all their mutants, by path. It fails for a mutant
// whose text does not occur exactly once.
func mutateSources(root string, mutants []Mutant) (map[string]string, error) {
	out := map[string]string{}
	for _, m := range mutants {
		source, known := out[m.File]
		if !known {
			body, err := os.ReadFile(filepath.Join(root, m.File))
			if err != nil {
				return nil, err
			}
			source = string(body)
		}
		if n := strings.Count(source, m.From); n != 1 {
			return nil, fmt.Errorf("%s: %s contains %q %d times; want once", m.Name, m.File, m.From, n)
		}
		on := fmt.Sprintf("mutantIsOn(%q)", m.Name)
		out[m.File] = strings.Replace(source, m.From, strings.ReplaceAll(m.To, "ON", on), 1)
	}
	return out, nil
}

// writeOverlay writes the sources with all mutants into a folder, and returns the path of the file
// that has the compiler read them.
func writeOverlay(root, dir string, mutants []Mutant) (string, error) {
	sources, err := mutateSources(root, mutants)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	write := func(at, text string) error {
		path := filepath.Join(dir, strings.ReplaceAll(at, "/", "-"))
		replace[filepath.Join(root, at)] = path
		return os.WriteFile(path, []byte(text), 0o600)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	for file, text := range sources {
		name, err := packageOf(text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		if err := write(file, text); err != nil {
			return "", err
		}
		if err := write(filepath.Join(filepath.Dir(file), "mutant_switch.go"), fmt.Sprintf(switchFile, name, chosen)); err != nil {
			return "", err
		}
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, body, 0o600)
}

// packageOf returns the name in the package clause of a source file.
func packageOf(source string) (string, error) {
	for line := range strings.Lines(source) {
		if name, ok := strings.CutPrefix(line, "package "); ok {
			return strings.TrimSpace(name), nil
		}
	}
	return "", fmt.Errorf("no package clause")
}

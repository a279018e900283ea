package offline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// settingTime bounds how long the cloud is opened with one setting less: without a region, for
// example, a session may ask the machine that it runs on.
const settingTime = 2 * time.Second

// setting is one entry of a cloud configuration file.
type setting struct {
	name    string // as users write it: "[Section] key", or a path such as loadBalancer.subnet1
	without string // the file without the entry
	varied  string // the file with another value of the entry; empty: it has no text
}

// variation is appended to a text to make it another one.
const variation = "-other"

// settingsOf returns the entries of a cloud configuration: INI with sections, JSON or YAML. Values
// are not returned, since they can be secret. A file that cannot be read has none.
func settingsOf(file string) []setting {
	body, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	text := bytes.TrimSpace(body)
	var tree map[string]any
	switch {
	case bytes.HasPrefix(text, []byte("{")) && json.Unmarshal(text, &tree) == nil:
		return treeSettings(tree, json.Marshal)
	case !isINI(text) && yaml.Unmarshal(text, &tree) == nil:
		return treeSettings(tree, yaml.Marshal)
	}
	return iniSettings(string(body))
}

// isINI reports whether a section or an assignment is the first thing in a file.
func isINI(text []byte) bool {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		return strings.HasPrefix(line, "[") || strings.Contains(line, "=")
	}
	return false
}

func iniSettings(text string) []setting {
	var out []setting
	lines := strings.SplitAfter(text, "\n")
	section := ""
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, _, found := strings.Cut(line, "=")
		if !found || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		varied := slices.Clone(lines)
		varied[i] = strings.TrimRight(varied[i], "\r\n\"") + variation + strings.TrimPrefix(varied[i], strings.TrimRight(varied[i], "\r\n\""))
		out = append(out, setting{
			name:    strings.TrimSpace(section + " " + strings.TrimSpace(key)),
			without: strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""),
			varied:  strings.Join(varied, ""),
		})
	}
	return out
}

// treeSettings returns an entry for each value of a tree that is no object.
func treeSettings(tree map[string]any, encode func(any) ([]byte, error)) []setting {
	var out []setting
	var visit func(path string, node map[string]any)
	visit = func(path string, node map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(node)) {
			value := node[key]
			if inner, ok := value.(map[string]any); ok {
				visit(path+key+".", inner)
				continue
			}
			delete(node, key)
			without, err := encode(tree)
			if text, ok := value.(string); ok {
				node[key] = text + variation
			}
			varied, again := encode(tree)
			if node[key] = value; err == nil && again == nil {
				out = append(out, setting{name: path + key, without: string(without), varied: string(varied)})
			}
		}
	}
	visit("", tree)
	return out
}

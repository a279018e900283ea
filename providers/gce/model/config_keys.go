package model

import (
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// odd lists values without an effect here. They do not stop the program.
func (f *configFile) odd() annotations.Problems {
	var out annotations.Problems
	tell := func(key, value, message, legal string) {
		if value != "" {
			out = append(out, annotations.ProblemOf(key, value, message, legal, annotations.Warning))
		}
	}
	const noUse = "has no effect on load balancers"
	tell("stack-type", f.Global.StackType, noUse, "")
	tell("secondary-range-name", f.Global.SecondaryRangeName, noUse, "")
	tell("container-api-endpoint", f.Global.ContainerAPIEndpoint, noUse, "")
	for _, feature := range f.Global.AlphaFeatures {
		if feature != featureSubsets && feature != featureNoGroups {
			tell("alpha-features", feature, "is not a known feature", `"`+featureSubsets+`" or "`+featureNoGroups+`"`)
		}
	}
	return out
}

// unknownKeys finds unknown sections and keys, in the order of the file. The official
// controller skips them silently.
func unknownKeys(text []byte) annotations.Problems {
	known := knownKeys()
	var out annotations.Problems
	var section string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			name, _, _ := strings.Cut(strings.Trim(line, "[]"), " ")
			section = strings.ToLower(name)
			if _, ok := known[section]; !ok {
				out = append(out, annotations.ProblemOf("["+section+"]", "", "is an unknown section of the cloud configuration, so it has no effect", "", annotations.Warning))
			}
		default:
			key, _, _ := strings.Cut(line, "=")
			key = strings.ToLower(strings.TrimSpace(key))
			if keys, ok := known[section]; ok && !slices.Contains(keys, key) {
				out = append(out, annotations.ProblemOf(key, "", "is an unknown key of the cloud configuration, so it has no effect", "", annotations.Warning))
			}
		}
	}
	return out
}

// knownKeys are the sections of the file with their keys, from the struct that
// the file is read into.
func knownKeys() map[string][]string {
	out := map[string][]string{}
	sections := reflect.TypeFor[configFile]()
	for i := range sections.NumField() {
		section := sections.Field(i)
		var keys []string
		for j := range section.Type.NumField() {
			keys = append(keys, section.Type.Field(j).Tag.Get("gcfg"))
		}
		out[strings.ToLower(section.Name)] = keys
	}
	return out
}

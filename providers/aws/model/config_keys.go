package model

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// unknownKeys lists keys of the file that nothing reads, and keys that the
// official controller reads for other purposes than load balancers. The text
// has been parsed without an error before, so only names have to be found here;
// the reader library itself skips unknown ones without a word.
func unknownKeys(text []byte) annotations.Problems {
	known := map[string][]string{
		"global":          fieldNames(reflect.TypeOf(configFile{}.Global)),
		"serviceoverride": fieldNames(reflect.TypeFor[overrideSection]()),
		"berth":           fieldNames(reflect.TypeFor[controllerSection]()),
	}
	var out annotations.Problems
	section, title := "", ""
	continued := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		inValue := continued
		continued = strings.HasSuffix(line, `\`)
		if inValue || line == "" || line[0] == ';' || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			title = strings.TrimSpace(strings.Trim(line, "[]"))
			section, _, _ = strings.Cut(strings.ToLower(title), " ")
			continue
		}
		key, _, _ := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if message := unknownKey(known[section], key); message != "" {
			out = append(out, annotations.Problem{Key: title + " " + key, Message: message, Severity: annotations.Warning})
		}
	}
	slices.SortStableFunc(out, func(a, b annotations.Problem) int { return cmp.Compare(a.Key, b.Key) })
	return slices.Compact(out)
}

// unknownKey returns the problem of an unknown key; "" if it is known.
func unknownKey(known []string, key string) string {
	if !slices.Contains(known, strings.ToLower(key)) {
		return "is not known, so it has no effect"
	}
	switch strings.ToLower(key) {
	case "routetableid", "nodeipfamilies", "supportedtopologyinstancetypepattern":
		return "has no effect on load balancers"
	case "signingmethod":
		return "has no effect: requests are signed with version 4"
	}
	return ""
}

func fieldNames(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		out = append(out, strings.ToLower(t.Field(i).Name))
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/conform/models"
)

// judge compares calls with models.
type judge map[string][]model

// Judge returns the name of a call and its differences from the nearest model.
func (j judge) Judge(c models.Call) (name string, differences []string) {
	name = nameOf(c.HTTP)
	if len(j[name]) == 0 {
		return name, []string{name + ": no model"}
	}
	for i, m := range j[name] {
		if found := m.compareCall(name, c); i == 0 || len(found) < len(differences) {
			differences = found
		}
	}
	return name, differences
}

func (m model) compareCall(name string, c models.Call) []string {
	return slices.Concat(
		m.compareParameters(name, c.HTTP.URL.Query()),
		compareText(document{path: name + " request", sent: true}, c.Request, m.request),
		compareText(document{path: name + " answer"}, c.Answer, m.answer),
	)
}

// compareParameters lists the parameters of the query that the client does not send.
func (m model) compareParameters(name string, given url.Values) []string {
	var out []string
	for _, parameter := range slices.Sorted(maps.Keys(given)) {
		if !m.parameters.Has(parameter) {
			out = append(out, fmt.Sprintf("%s parameter %s: unknown", name, parameter))
		}
	}
	return out
}

// document is where a part of a request or an answer is.
type document struct {
	path string
	sent bool // it is a request, whose keys without omitempty are required
}

func (d document) at(part string) document { return document{d.path + part, d.sent} }

// compareText compares a document with its model, if there is one.
func compareText(d document, text []byte, t reflect.Type) []string {
	switch {
	case len(text) == 0 && t == nil:
		return nil
	case len(text) == 0:
		return []string{d.path + ": missing"}
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		return []string{d.path + ": " + err.Error()}
	}
	if t == nil {
		if fields, ok := doc.(map[string]any); ok && len(fields) == 0 {
			return nil
		}
		return []string{d.path + ": the SDK has none"}
	}
	return d.compare(doc, t)
}

// compare lists the keys of a document that a model lacks, values of other types, and required keys
// that the document lacks.
func (d document) compare(doc any, t reflect.Type) []string {
	if t.Kind() == reflect.Pointer {
		return d.compare(doc, t.Elem())
	}
	fits := true
	switch t.Kind() {
	case reflect.String:
		_, fits = doc.(string)
	case reflect.Bool:
		_, fits = doc.(bool)
	case reflect.Int, reflect.Int64, reflect.Uint16, reflect.Uint64:
		_, fits = doc.(float64)
	case reflect.Slice:
		var list []any
		if list, fits = doc.([]any); fits {
			var out []string
			for _, item := range list {
				out = append(out, d.at("[]").compare(item, t.Elem())...)
			}
			return out
		}
	case reflect.Struct:
		var object map[string]any
		if object, fits = doc.(map[string]any); fits {
			return d.compareFields(object, t)
		}
	default:
		return []string{fmt.Sprintf("%s: the type %s is not compared", d.path, t)}
	}
	if !fits {
		return []string{fmt.Sprintf("%s: is a %T, and %s in the SDK", d.path, doc, t)}
	}
	return nil
}

// compareFields compares the keys of an object with the fields of a struct.
func (d document) compareFields(object map[string]any, t reflect.Type) []string {
	var out []string
	known := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue // the parts of an embedded struct are visible themselves
		}
		known[name] = f
		required := d.sent && strings.HasSuffix(t.Name(), "Args") && !strings.Contains(options, "omitempty")
		if _, given := object[name]; required && !given {
			out = append(out, fmt.Sprintf("%s.%s: missing", d.path, name))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		f, ok := known[key]
		if !ok {
			out = append(out, fmt.Sprintf("%s.%s: unknown", d.path, key))
			continue
		}
		out = append(out, d.at("."+key).compare(object[key], f.Type)...)
	}
	return out
}

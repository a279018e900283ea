package cases

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// Defaults tries the keys of the configuration that annotations declare as their default.
type Defaults struct {
	Alone
	// With are the annotations that a key needs to have an effect, by key.
	With map[string]map[string]string
	// Texts are the values of settings that the configuration writes in another way than the
	// annotation, by setting.
	Texts map[string]string
	// Elsewhere are settings that also decide on something else, so that the annotation and
	// the setting do not lead to the same stack, with what else; as "annotation, setting".
	Elsewhere map[string]string
	// Under builds a Service under a configuration in which a setting has a value; an empty
	// setting is the configuration as it is.
	Under func(t testing.TB, svc *corev1.Service, setting, value string) Effect
}

// Run is the test that a declared default is the default: a setting of the configuration
// leads to the stack of the annotation with the same value, an annotation wins over it, and
// an empty one overrides it or counts as absent, as its declaration says.
func (d Defaults) Run(t *testing.T) {
	for _, row := range annotations.Rows(d.Keys) {
		for _, v := range d.variants(row) {
			for _, setting := range v.Or {
				if d.Elsewhere[row.Key+", "+setting] != "" {
					continue
				}
				for _, kind := range d.kindsOf(v) {
					d.try(t, row, v, kind, setting)
				}
			}
		}
	}
}

// try compares what a setting and an annotation lead to.
func (d Defaults) try(t *testing.T, row annotations.Row, v annotations.Facts, kind, setting string) {
	t.Helper()
	values := append(slices.Clone(d.Values[row.Key]), row.Example)
	value := values[0]
	text := value
	if other, ok := d.Texts[setting]; ok {
		text = other
	}
	under := func(setting string, annotated ...string) []stack.Resource {
		svc := d.service(kind, "", "")
		for key, value := range d.With[row.Key] {
			svc.Annotations[key] = value
		}
		for _, value := range annotated {
			svc.Annotations[row.Key] = value
		}
		return resourcesOf(d.Under(t, svc, setting, text).Want)
	}
	neither, configured, annotated := under(""), under(setting), under("", value)
	if cmp.Diff(neither, configured) == "" {
		t.Errorf("%s on %s: %s: %q of the configuration has no effect", row.Key, kind, setting, text)
	}
	if diff := cmp.Diff(annotated, configured); diff != "" {
		t.Errorf("%s on %s: %q by annotation and by %s of the configuration differ:\n%s", row.Key, kind, value, setting, diff)
	}
	want, means := neither, "overrides the configuration"
	if v.Empty == "counts as not set" {
		want, means = configured, v.Empty
	}
	if diff := cmp.Diff(want, under(setting, "")); diff != "" && v.Empty != "is not legal" {
		t.Errorf("%s on %s: an empty value %s with %s, but (-want +got):\n%s", row.Key, kind, means, setting, diff)
	}
	for _, other := range values[1:] {
		if diff := cmp.Diff(under("", other), under(setting, other)); diff != "" && other != value {
			t.Errorf("%s on %s: %q does not win over %s of the configuration:\n%s", row.Key, kind, other, setting, diff)
		}
	}
}

// Section returns the text of a section with one setting, or without any.
func Section(name, setting, value string) string {
	var b strings.Builder
	b.WriteString("\n[" + name + "]\n")
	if setting != "" {
		b.WriteString(setting + " = " + value + "\n")
	}
	return b.String()
}

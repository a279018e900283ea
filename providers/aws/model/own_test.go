package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNoteOfTargets: a note reads and writes as that of the AWS Load Balancer Controller.
func TestNoteOfTargets(t *testing.T) {
	one, two, three := Target{ID: "10.0.2.10", Port: 8080}, Target{ID: "10.0.2.11", Port: 8080}, Target{ID: "i-0a1b", Port: 30080}
	for name, c := range map[string]struct {
		note               map[string]string
		known, add, remove []Target
		want               string
	}{
		"new":                  {add: []Target{two, one}, want: "10.0.2.10:8080,10.0.2.11:8080"},
		"more":                 {note: map[string]string{"targets": "10.0.2.10:8080"}, known: []Target{one}, add: []Target{three}, want: "10.0.2.10:8080,i-0a1b:30080"},
		"less":                 {note: map[string]string{"targets": "10.0.2.10:8080,10.0.2.11:8080"}, known: []Target{one, two}, remove: []Target{two}, want: "10.0.2.10:8080"},
		"none":                 {note: map[string]string{"targets": "10.0.2.10:8080"}, known: []Target{one}, remove: []Target{one}},
		"left over":            {note: map[string]string{"targets": "10.0.2.10:8080,10.0.2.99:8080"}, known: []Target{one}, add: []Target{two}, want: "10.0.2.10:8080,10.0.2.11:8080"},
		"known and not noted":  {note: map[string]string{}, known: []Target{one}, add: []Target{two}, want: "10.0.2.11:8080"},
		"as it is":             {note: map[string]string{"targets": "10.0.2.11:8080,10.0.2.10:8080"}, known: []Target{one, two}, want: "10.0.2.11:8080,10.0.2.10:8080"},
		"of others, untouched": {note: map[string]string{"targets": ""}, known: []Target{one, two}},
	} {
		if got := Renoted(c.note, c.known, c.add, c.remove)[noteTargets]; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got, want := OwnOf([]Target{one, two, three}, map[string]string{"targets": "i-0a1b:30080,10.0.2.10:8080"}), []Target{one, three}; !cmp.Equal(got, want) {
		t.Errorf("own are %v, want %v", got, want)
	}
	if got := NoteOf("arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/k8s-shop-web-afb6219172/0a1b2c3d4e5f6071"); got != "aws-lbc-targets-k8s-shop-web-afb6219172" {
		t.Errorf("note is %q", got)
	}
}

package kit

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/providers"
)

// TestSortMarked: of several resources of one mark the recorded one is the first, then the oldest that works.
func TestSortMarked(t *testing.T) {
	for name, one := range map[string]struct {
		found  []Marked
		want   string
		unsure bool
	}{
		"recorded before older":   {[]Marked{{ID: "a", Created: "1"}, {ID: "b", Created: "2", Recorded: true}}, "b a", false},
		"recorded, though failed": {[]Marked{{ID: "a", Created: "1"}, {ID: "b", Created: "2", Recorded: true, Failed: true}}, "b a", false},
		"older before younger":    {[]Marked{{ID: "a", Created: "2"}, {ID: "b", Created: "1"}}, "b a", false},
		"working before failed":   {[]Marked{{ID: "a", Created: "1", Failed: true}, {ID: "b", Created: "2"}}, "b a", false},
		"part of the mark":        {[]Marked{{ID: "a", Created: "1", Partial: true}, {ID: "b", Created: "2"}}, "b a", true},
		"recorded with a part":    {[]Marked{{ID: "a", Created: "1"}, {ID: "b", Created: "2", Partial: true, Recorded: true}}, "b a", false},
		"one time":                {[]Marked{{ID: "b", Created: "1"}, {ID: "a", Created: "1"}}, "a b", false},
	} {
		if unsure := SortMarked(one.found, func(m Marked) Marked { return m }); (unsure != nil) != one.unsure {
			t.Errorf("%s: unsure about %v", name, unsure)
		}
		var got []string
		for _, m := range one.found {
			got = append(got, m.ID)
		}
		if s := strings.Join(got, " "); s != one.want {
			t.Errorf("%s: %s, want %s", name, s, one.want)
		}
	}
	if s := (providers.Scope{}); IsRecorded(s, "") {
		t.Error("no address is recorded by a Service without any")
	}
}

package plan_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/mutate"
)

func TestJSONRoundTrip(t *testing.T) {
	for name, doc := range goldenCases() {
		t.Run(name, func(t *testing.T) {
			data, err := plan.Encode(doc)
			if err != nil {
				t.Fatal(err)
			}
			got, err := plan.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(doc, got); diff != "" {
				t.Errorf("decoded document (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONForm(t *testing.T) {
	for _, name := range []string{"create", "replace", "held", "secret", "shared"} {
		data, err := plan.Encode(goldenCases()[name])
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, filepath.Join("testdata", name+".json"), string(data))
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := map[string]struct {
		data string
		want error // nil: any
	}{
		"no JSON":        {data: "plan"},
		"another type":   {data: `[]`},
		"other version":  {data: `{"formatVersion":"2","plans":[]}`, want: plan.ErrFormatVersion},
		"no version":     {data: `{}`, want: plan.ErrFormatVersion},
		"null":           {data: `null`, want: plan.ErrFormatVersion},
		"two documents":  {data: `{"formatVersion":"1"}{}`, want: plan.ErrTrailing},
		"rubbish behind": {data: `{"formatVersion":"1"}x`, want: plan.ErrTrailing},
		"unknown action": {data: `{"formatVersion":"1","plans":[{"steps":[{"id":"x","action":"explode"}]}]}`, want: plan.ErrAction},
		"unknown held":   {data: `{"formatVersion":"1","plans":[{"held":[{"step":{"id":"x","action":""}}]}]}`, want: plan.ErrAction},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			doc, err := plan.Decode([]byte(tt.data))
			if err == nil {
				t.Fatalf("no error, document %+v", doc)
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error: want %v, got %v", tt.want, err)
			}
		})
	}
}

// Readers iterate over the lists without a check for nil.
func TestDecodeFillsLists(t *testing.T) {
	got, err := plan.Decode([]byte(`{"formatVersion":"1","future":true,"plans":[{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Document{FormatVersion: "1", Plans: []plan.Doc{{Steps: []plan.StepDoc{}, Held: []plan.HeldDoc{}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	for _, doc := range goldenCases() {
		data, err := plan.Encode(doc)
		if err != nil {
			f.Fatal(err)
		}
		mutate.Add(f, 40, data)
	}
	mutate.Add(f, 40, []byte(`{"formatVersion":"1","plans":[{"steps":[{"action":"update","changes":[{"field":"a","from":{"ref":1},"to":[1e999,null]}]}]}]}`))
	mutate.Add(f, 40, []byte(`{"formatVersion":"1","plans":[{"steps":[{"action":"create","replacement":"create-first"},{"action":"create","replacement":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip()
		}
		doc, err := plan.Decode(data)
		if err != nil {
			return
		}
		first, err := plan.Encode(doc)
		if err != nil {
			t.Fatalf("a decoded document cannot be encoded: %v", err)
		}
		again, err := plan.Decode(first)
		if err != nil {
			t.Fatalf("an encoded document cannot be decoded: %v", err)
		}
		second, err := plan.Encode(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(second)); diff != "" {
			t.Fatalf("encoding is not stable (-first +second):\n%s", diff)
		}
		if line := findBreakable(plan.Human(doc, plan.Options{Width: 60}), 60); line != "" {
			t.Fatalf("a line is not broken: %s", line)
		}
		plan.DOT(doc)
		plan.Mermaid(doc)
	})
}

package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

type loop struct{ Next *loop }

type odd struct {
	Any     any
	Pointer *int
	Bytes   []byte
	Set     map[string]struct{}
	ByPort  map[int]bool
	Func    func()
	hidden  int
}

func TestValues(t *testing.T) {
	type valueSpec struct{ V any }
	seven := 7
	circle := &loop{}
	circle.Next = circle
	tests := map[string]struct{ in, want any }{
		"nil":              {nil, nil},
		"bool":             {true, true},
		"int":              {int32(-7), json.Number("-7")},
		"large":            {uint64(math.MaxUint64), json.Number("18446744073709551615")},
		"float":            {0.25, json.Number("0.25")},
		"large float":      {1e21, json.Number("1000000000000000000000")},
		"not a number":     {math.NaN(), "NaN"},
		"named string":     {plan.Create, "create"},
		"bad text":         {"a\xffb", "a\uFFFDb"},
		"duration":         {90 * time.Second, "1m30s"},
		"time":             {time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "2026-01-02T03:04:05Z"},
		"prefix":           {netip.MustParsePrefix("10.0.0.0/8"), "10.0.0.0/8"},
		"no list":          {[]string(nil), []any{}},
		"list":             {[]int{1, 2}, []any{json.Number("1"), json.Number("2")}},
		"ref to a new one": {stack.RefTo(group), map[string]any{"unknown": true, "ref": "security-group"}},
		"ref to inline":    {stack.RefTo(http), map[string]any{"unknown": true, "ref": "listener/80"}},
		"ref":              {stack.RefTo(classic), map[string]any{"ref": "load-balancer"}},
		"literal ref":      {stack.RefID("sg-1"), "sg-1"},
		"no ref":           {stack.Ref{}, nil},
		"odd struct": {
			odd{Any: seven, Pointer: &seven, Bytes: []byte("hi"), Set: map[string]struct{}{"b": {}, "a": {}}, ByPort: map[int]bool{80: true}, hidden: 1},
			map[string]any{"Any": json.Number("7"), "Pointer": json.Number("7"), "Bytes": "aGk=", "Set": []any{"a", "b"}, "ByPort": map[string]any{"80": true}, "Func": "(func())"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := newOwner("x")
			doc := newDocument(plan.Plan{Owner: o, Steps: []plan.Step{{
				ID: stepID(o, plan.Create, group, ""), Target: stack.Resource{Key: group, Spec: valueSpec{tt.in}}, With: []stack.Resource{{Key: http}},
			}}})
			if diff := cmp.Diff(tt.want, doc.Plans[0].Steps[0].Target.Fields[0].Value); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a circle ends", func(*testing.T) {
		newDocument(plan.Plan{Steps: []plan.Step{{Target: stack.Resource{Spec: valueSpec{circle}}}}})
	})
}

// Observed resources refer to existing ones, even if these are recreated.
func TestFoundReferencesAreKnown(t *testing.T) {
	steps := newDocument(replacedPlan()).Plans[0].Steps
	change := steps[1].Changes[0]
	if diff := cmp.Diff(any(tgARN), change.From); diff != "" {
		t.Errorf("from (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(any(map[string]any{"unknown": true, "ref": "target-group/tcp-443"}), change.To); diff != "" {
		t.Errorf("to (-want +got):\n%s", diff)
	}
}

func TestReplacementOrder(t *testing.T) {
	o := newOwner("x")
	create, remove := stepID(o, plan.Create, http, ""), stepID(o, plan.Delete, http, "")
	between := stepID(o, plan.Update, classic, "")
	pair := plan.Pair{Create: create, Delete: remove, Order: plan.CreateFirst}
	step := func(i plan.StepID, p plan.Pair, needs ...plan.StepID) plan.Step {
		return plan.Step{ID: i, Pair: p, Waits: plan.Waits{Needs: needs}}
	}
	tests := map[string]struct {
		steps []plan.Step
		want  plan.Replacement
	}{
		"as the pair says, against the order of the list": {[]plan.Step{step(remove, pair), step(between, plan.Pair{}, create), step(create, pair)}, plan.CreateFirst},
		"the other half is elsewhere":                     {[]plan.Step{step(create, pair)}, plan.NoReplacement},
		"no replacement":                                  {[]plan.Step{step(create, plan.Pair{}), step(remove, plan.Pair{})}, plan.NoReplacement},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, s := range newDocument(plan.Plan{Owner: o, Steps: tt.steps}).Plans[0].Steps {
				if s.Action != plan.Update && s.Replacement != tt.want {
					t.Errorf("%s: want %q, got %q", s.ID, tt.want, s.Replacement)
				}
			}
		})
	}
}

func TestSummary(t *testing.T) {
	all := goldenCases()
	tests := map[string]plan.Summary{
		"create":  {Create: 5, Update: 1},
		"update":  {Update: 2},
		"replace": {Update: 1, Replace: 2, Waiting: 1},
		"held":    {Forget: 1, Held: 3},
		"gated":   {Delete: 2, Waiting: 2},
		"list":    {Create: 5, Update: 1, Delete: 2, Forget: 1, Held: 3, Waiting: 2},
		"nothing": {},
	}
	for name, want := range tests {
		if diff := cmp.Diff(want, all[name].Summary()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWithRemarks(t *testing.T) {
	doc := newDocument(emptyPlan("b"))
	problem := plan.Problem{Severity: plan.Error, Text: "x"}
	got := doc.WithRemarks(remarkOn(newOwner("b"), problem), remarkOn(newOwner("a"), problem), plan.Remark{Owner: newOwner("c")})
	want := []plan.Doc{
		{Owner: newOwner("a"), Steps: []plan.StepDoc{}, Held: []plan.HeldDoc{}, Problems: []plan.Problem{problem}},
		{Owner: newOwner("b"), Steps: []plan.StepDoc{}, Held: []plan.HeldDoc{}, Problems: []plan.Problem{problem}},
	}
	if diff := cmp.Diff(want, got.Plans); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
	if len(doc.Plans) != 1 || doc.Plans[0].Problems != nil {
		t.Error("the original document changed")
	}
}

// TestRemarksGrow: remarks on twice as many Services take twice as much memory, not four times as
// much.
func TestRemarksGrow(t *testing.T) {
	allocated := func(n int) uint64 {
		doc := plan.Document{Plans: make([]plan.Doc, n)}
		remarks := make([]plan.Remark, n)
		for i := range n {
			doc.Plans[i].Owner = newOwner(fmt.Sprintf("web-%05d", i))
			remarks[i] = remarkOn(doc.Plans[i].Owner, plan.Problem{Text: "x"})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		doc = doc.WithRemarks(remarks...)
		runtime.ReadMemStats(&after)
		if got := len(doc.Plans[n-1].Problems); got != 1 {
			t.Fatalf("the last plan has %d problems", got)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(1000), allocated(4000); many > 6*few {
		t.Errorf("1,000 remarks allocate %d bytes, 4,000 allocate %d", few, many)
	}
}

func TestExitCode(t *testing.T) {
	all := goldenCases()
	tests := map[string]struct {
		doc  plan.Document
		err  error
		want int
	}{
		"nothing":         {doc: all["nothing"], want: plan.ExitNothing},
		"no plan":         {doc: all["empty"], want: plan.ExitNothing},
		"a warning alone": {doc: all["warning"], want: plan.ExitNothing},
		"changes":         {doc: all["create"], want: plan.ExitChanges},
		"held alone":      {doc: all["held-only"], want: plan.ExitChanges},
		"a problem":       {doc: all["error"], want: plan.ExitError},
		"both":            {doc: all["create"].WithRemarks(remarkOn(newOwner("web"), plan.Problem{Severity: plan.Error})), want: plan.ExitError},
		"an error":        {doc: all["create"], err: errors.New("x"), want: plan.ExitError},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := plan.ExitCode(tt.doc, tt.err); got != tt.want {
				t.Errorf("want %d, got %d", tt.want, got)
			}
		})
	}
}

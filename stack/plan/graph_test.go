package plan_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
)

func TestGraph(t *testing.T) {
	for _, name := range []string{"replace", "held", "shared", "empty"} {
		doc := goldenCases()[name]
		golden.Check(t, filepath.Join("testdata", name+".dot"), plan.DOT(doc))
		golden.Check(t, filepath.Join("testdata", name+".mmd"), plan.Mermaid(doc))
	}
}

// A name must not end the label that it stands in.
func TestGraphEscapes(t *testing.T) {
	k := stack.Key{Kind: "k", Name: `"]; x\` + "`<b>#"}
	doc := newDocument(plan.Plan{Owner: newOwner("x"), Steps: []plan.Step{{ID: plan.StepID{Owner: newOwner("x"), Key: k, Action: plan.Create}}}})
	if want, got := `n0 [label="create k/\"]; x\\`+"`<b>#\"];", plan.DOT(doc); !strings.Contains(got, want) {
		t.Errorf("want %s in:\n%s", want, got)
	}
	if want, got := `n0["create k/#34;]; x#92;#96;#60;b#62;#35;"]`, plan.Mermaid(doc); !strings.Contains(got, want) {
		t.Errorf("want %s in:\n%s", want, got)
	}
}

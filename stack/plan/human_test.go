package plan_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/golden"
)

func TestHuman(t *testing.T) {
	for name, doc := range goldenCases() {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, filepath.Join("testdata", name+".txt"), plan.Human(doc, plan.Options{Width: 80}))
		})
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9]+m")

// longestLine returns the length of the longest line without colours.
// findBreakable returns a line that is longer than the width although all its words fit into it.
func findBreakable(text string, width int) string {
	const beside = 30 // the indent, a sign, the name of a field
	for line := range strings.SplitSeq(escapes.ReplaceAllString(text, ""), "\n") {
		word := 0
		for w := range strings.FieldsSeq(line) {
			word = max(word, utf8.RuneCountInString(w))
		}
		if n := utf8.RuneCountInString(line); n > width && word < width-beside {
			return line
		}
	}
	return ""
}

func TestHumanKeepsTheWidth(t *testing.T) {
	for name, doc := range goldenCases() {
		for _, width := range []int{60, 61, 72, 80, 100, 132} {
			if line := findBreakable(plan.Human(doc, plan.Options{Width: width}), width); line != "" {
				t.Errorf("%s at width %d: a line has %d characters: %s", name, width, utf8.RuneCountInString(line), line)
			}
		}
	}
}

func TestHumanWidthOptions(t *testing.T) {
	doc := goldenCases()["replace"]
	if diff := cmp.Diff(plan.Human(doc, plan.Options{Width: 80}), plan.Human(doc, plan.Options{})); diff != "" {
		t.Errorf("no width is not 80 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(plan.Human(doc, plan.Options{Width: 60}), plan.Human(doc, plan.Options{Width: 7})); diff != "" {
		t.Errorf("a small width is not 60 (-want +got):\n%s", diff)
	}
}

// Colour adds escape sequences and changes nothing else.
func TestHumanColor(t *testing.T) {
	doc := goldenCases()["replace"]
	text := plan.Human(doc, plan.Options{})
	colored := plan.Human(doc, plan.Options{Color: true})
	if text == colored {
		t.Error("colour makes no difference")
	}
	if diff := cmp.Diff(text, escapes.ReplaceAllString(colored, "")); diff != "" {
		t.Errorf("text without colours (-want +got):\n%s", diff)
	}
	if strings.Contains(text, "\x1b") {
		t.Error("escape sequences without colour")
	}
}

// Text of a cloud or a manifest must not control the terminal.
func TestHumanPrintsNoControlCharacters(t *testing.T) {
	evil := "\x1b[2J\a\rx\u202e"
	k := stack.Key{Kind: "k", Name: evil}
	o := stack.Owner{Namespace: evil, Name: evil}
	step := plan.Step{
		ID: plan.StepID{Owner: o, Key: k, Action: plan.Update, Part: evil}, Why: evil,
		Target:  stack.Resource{Key: k, ID: evil, Spec: groupSpec{Name: evil, Tags: map[string]string{evil: evil}}},
		Changes: []plan.Change{{Field: evil, From: evil, To: map[string]string{evil: evil}}, {Field: "Tags", To: map[string]string{evil: evil}}},
		Waits: plan.Waits{
			Gate: plan.Gate{Since: evil}, Needs: []plan.StepID{{Owner: newOwner(evil), Key: k}},
		},
	}
	doc := plan.NewDocument(evil, []plan.Plan{{Owner: o, Steps: []plan.Step{step}, Blocked: []plan.Blocked{{Step: step, By: plan.BlockedBy(evil), Why: evil}}}})
	doc = doc.WithRemarks(remarkOn(o, plan.Problem{Severity: plan.Severity(evil), Where: evil, Text: evil}))
	for name, text := range map[string]string{"human": plan.Human(doc, plan.Options{}), "dot": plan.DOT(doc), "mermaid": plan.Mermaid(doc)} {
		if i := strings.IndexAny(text, "\x1b\a\r\u202e"); i >= 0 {
			t.Errorf("%s: control character %q in %q", name, text[i], text[max(0, i-20):i+1])
		}
	}
}

// A cut must not make two values look alike.
func TestHumanCutShowsTheDifference(t *testing.T) {
	from := strings.Repeat("a", 100) + "1" + strings.Repeat("b", 100)
	to := strings.Repeat("a", 100) + "2" + strings.Repeat("b", 100)
	k := stack.Key{Kind: "k"}
	text := plan.Human(newDocument(plan.Plan{Owner: newOwner("x"), Steps: []plan.Step{{
		ID: plan.StepID{Owner: newOwner("x"), Key: k, Action: plan.Update}, Changes: []plan.Change{{Field: "Name", From: from, To: to}},
	}}}), plan.Options{})
	if !strings.Contains(text, "a1b") || !strings.Contains(text, "a2b") {
		t.Errorf("the difference is not shown:\n%s", text)
	}
}

func TestSecretsAreNowhere(t *testing.T) {
	doc := goldenCases()["secret"]
	data, err := plan.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"json": string(data), "human": plan.Human(doc, plan.Options{}), "dot": plan.DOT(doc)} {
		if strings.Contains(text, "hunter") {
			t.Errorf("%s shows a secret:\n%s", name, text)
		}
	}
	if !strings.Contains(string(data), plan.Secret) {
		t.Error("the secret fields are not marked")
	}
}

func TestHumanOfAnOrderThatDiffers(t *testing.T) {
	doc := newDocument(plan.Plan{Owner: newOwner("x"), Steps: []plan.Step{{
		ID:      plan.StepID{Owner: newOwner("x"), Key: classic, Action: plan.Update},
		Changes: []plan.Change{{Field: "Subnets", From: []string{"a", "b"}, To: []string{"b", "a"}}},
	}}})
	if text := plan.Human(doc, plan.Options{}); !strings.Contains(text, `Subnets = ["a", "b"] -> ["b", "a"]`) {
		t.Errorf("both orders are not shown:\n%s", text)
	}
}

// Documents need not come from NewDocument: numbers that a caller set are shown.
func TestHumanOfForeignValues(t *testing.T) {
	doc := newDocument(emptyPlan("x"))
	doc.Plans[0].Steps = []plan.StepDoc{{Action: plan.Update, Changes: []plan.ChangeDoc{{Field: "Port", From: 80, To: json.Number("81")}}}}
	if text := plan.Human(doc, plan.Options{}); !strings.Contains(text, `Port = "80" -> 81`) {
		t.Errorf("values are not shown:\n%s", text)
	}
}

// TestWideNames: characters that take two columns of a terminal count as two.
func TestWideNames(t *testing.T) {
	text := strings.Repeat("负载均衡 ", 20)
	out := plan.Human(changeDoc("Description", text+"1", text+"2"), plan.Options{Width: 80})
	for line := range strings.Lines(out) {
		columns := 0
		for _, r := range strings.TrimRight(line, "\n") {
			columns++
			if unicode.Is(unicode.Han, r) {
				columns++
			}
		}
		if columns > 80 {
			t.Errorf("%d columns: %s", columns, line)
		}
	}
	if !strings.Contains(out, "衡 1") || !strings.Contains(out, "衡 2") {
		t.Errorf("the difference is not shown:\n%s", out)
	}
}

// changeDoc returns a plan that updates one field.
func changeDoc(field, from, to string) plan.Document {
	return newDocument(plan.Plan{Owner: newOwner("x"), Steps: []plan.Step{{
		ID: plan.StepID{Owner: newOwner("x"), Key: stack.Key{Kind: "load-balancer", Name: "x"}, Action: plan.Update}, Target: stack.Resource{ID: "x"},
		Changes: []plan.Change{{Field: field, From: from, To: to}},
	}}})
}

// TestNamesAreWhole: names, ids, names of fields and values that are one word are never cut.
func TestNamesAreWhole(t *testing.T) {
	long := func(what string) string { return what + "-" + strings.Repeat("0123456789", 12) }
	owner := newOwner(long("service"))
	doc := newDocument(plan.Plan{Owner: owner, Steps: []plan.Step{{
		ID: plan.StepID{Owner: owner, Key: stack.Key{Kind: "load-balancer", Name: long("name")}, Action: plan.Update}, Target: stack.Resource{ID: long("id")},
		Changes: []plan.Change{{Field: long("Tags.field"), From: long("from"), To: long("to")}},
		Why:     "it is named " + long("other"),
	}}}, plan.Plan{Owner: newOwner(long("quiet"))})
	for _, width := range []int{20, 60, 80, 132} {
		text := plan.Human(doc, plan.Options{Width: width})
		for _, name := range []string{"service", "name", "id", "Tags.field", "from", "to", "quiet"} {
			if !strings.Contains(text, long(name)) {
				t.Errorf("width %d: %s is cut:\n%s", width, name, text)
			}
		}
	}
}

package props

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
)

// compare plans for a Service as the command line does and lets the controller reconcile it
// once. It reports whether nothing is left to do.
func (p *pair) compare(name string) (done bool) {
	p.t.Helper()
	if p.cluster.get(name) == nil {
		return true
	}
	planned := p.planned(name)
	res := p.round(name)
	if res.Draft == nil {
		p.same("the controller leaves it alone", planned, plan.Doc{})
		return true
	}
	p.same("the controller plans otherwise", planned, p.doc(res.Draft.Plan))
	p.same("the controller runs otherwise", onlySteps(planned), onlySteps(p.doc(plan.Plan{Owner: res.Draft.Owner, Steps: stepsOf(res.Report)})))
	for _, r := range res.Report.Results {
		if r.State != engine.Done && r.State != engine.Waiting {
			p.t.Logf("%s: %s is not done: %v", name, r.Step.ID, r.Outcome.Err)
		}
	}
	return p.t.Failed() || res.Clean || res.Released
}

// writeSteps returns the steps of a plan that write. One that only ends a claim makes
// no call and leaves no trace: a process that has done it does not show it again.
func writeSteps(d plan.Doc) plan.Doc {
	forgotten := func(id string) bool { return strings.HasPrefix(id, string(plan.Forget)+" ") }
	var out plan.Doc
	for _, s := range d.Steps {
		if s.Action != plan.Forget {
			s.Needs = slices.DeleteFunc(slices.Clone(s.Needs), func(n plan.NeedDoc) bool { return forgotten(n.Step) })
			out.Steps = append(out.Steps, s)
		}
	}
	for _, h := range d.Held {
		if h.Step.Action != plan.Forget {
			out.Held = append(out.Held, h)
		}
	}
	return out
}

// same fails unless two plans are equal in every byte, and shows the steps that differ.
func (p *pair) same(what string, planned, other plan.Doc) {
	p.t.Helper()
	planned, other = writeSteps(planned), writeSteps(other)
	if planText(p.t, planned) == planText(p.t, other) {
		return
	}
	left, right := stepTexts(p.t, planned), stepTexts(p.t, other)
	p.t.Errorf("%s (-planned +done):\n%s\nafter: %v", what, cmp.Diff(left, right), p.story)
}

// stepTexts are the steps of a plan, a text each, in order.
func stepTexts(t testing.TB, d plan.Doc) []string {
	t.Helper()
	var out []string
	for _, s := range d.Steps {
		out = append(out, planText(t, plan.Doc{Steps: []plan.StepDoc{s}}))
	}
	for _, h := range d.Held {
		out = append(out, planText(t, plan.Doc{Held: []plan.HeldDoc{h}}))
	}
	return out
}

func planText(t testing.TB, d plan.Doc) string {
	t.Helper()
	if d.Steps == nil {
		d.Steps = []plan.StepDoc{}
	}
	if d.Held == nil {
		d.Held = []plan.HeldDoc{}
	}
	out, err := json.Marshal([]any{d.Steps, d.Held})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func onlySteps(d plan.Doc) plan.Doc { return plan.Doc{Steps: d.Steps} }

// stepsOf returns the steps of a run, whatever their outcome.
func stepsOf(report engine.Report) []plan.Step {
	var out []plan.Step
	for _, r := range report.Results {
		out = append(out, r.Step)
	}
	return out
}

func (p *pair) doc(of plan.Plan) plan.Doc {
	plans := plan.NewDocument(p.target.Cloud.Name, []plan.Plan{of}).Plans
	return plans[slices.IndexFunc(plans, func(d plan.Doc) bool { return d.Owner == of.Owner })]
}

// planned is what `berth plan` shows for a Service.
func (p *pair) planned(name string) plan.Doc {
	p.t.Helper()
	report, err := offline.Plan(p.t.Context(), offline.Input{Kubeconfig: p.cluster.kubeconfig, AllNamespaces: true}, p.target)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, d := range report.Document.Plans {
		if d.Owner.Name == name {
			return d
		}
	}
	return plan.Doc{}
}

package offline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/explain"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Explained is the explanation of one Service.
type Explained struct {
	FormatVersion string      `json:"formatVersion"`
	Provider      string      `json:"provider"`
	Owner         stack.Owner `json:"owner"`
	Kind          string      `json:"kind"`
	explain.Explanation
	Notes []string `json:"-"`
}

// Explain determines the origins of what a Service requests. It reads the cloud once, as a plan
// does, and writes nothing. The input selects exactly one Service; the selector is that of
// [explain.Explanation.Select].
func Explain(ctx context.Context, in Input, t Target, selector string) (Explained, error) {
	run, err := draftAll(ctx, in, t)
	if err != nil {
		return Explained{}, err
	}
	asked, err := run.onlyTask()
	if err != nil {
		return Explained{}, err
	}
	all, err := run.explain(ctx, asked)
	if err != nil {
		return Explained{}, err
	}
	all, err = all.Select(selector)
	if err != nil {
		return Explained{}, err
	}
	return Explained{
		FormatVersion: plan.FormatVersion, Provider: t.Cloud.Name, Owner: asked.item.Owner(), Kind: asked.draft.Request.Kind,
		Explanation: all, Notes: run.world.Notes,
	}, nil
}

// onlyTask returns the one requested Service that was planned.
func (p *planning) onlyTask() (*task, error) {
	var asked []*task
	for i := range p.tasks {
		if p.tasks[i].item.Asked {
			asked = append(asked, &p.tasks[i])
		}
	}
	if len(asked) != 1 {
		return nil, fmt.Errorf("%s selected; name one, such as svc/web", countOf(len(asked), "Service"))
	}
	return asked[0], p.explainable(asked[0])
}

// explainable returns the reason why nothing of a Service can be explained; nil: it can.
func (p *planning) explainable(t *task) error {
	switch {
	case t.left != "":
		return fmt.Errorf("the Service %s is left alone: it %s", t.item.Owner(), t.left)
	case t.err != nil:
		return t.err
	case t.draft == nil || t.draft.Want == nil || t.draft.Intent != reconcile.Serve:
		return fmt.Errorf("the Service %s is not accepted, so nothing of it can be explained: %s", t.item.Owner(), firstProblem(p.problems(*t)))
	}
	return nil
}

func firstProblem(problems []plan.Problem) string {
	for _, p := range problems {
		if p.Severity == plan.Error {
			return strings.TrimPrefix(p.Where+": "+p.Text, ": ")
		}
	}
	return "it is being deleted"
}

// explain determines the origins of what a Service requests that was planned.
func (p *planning) explain(ctx context.Context, t *task) (explain.Explanation, error) {
	x := explainer{planning: p, task: t}
	return explain.Explain(t.draft.Want, append(x.inputs(), x.settings(ctx)...))
}

// explainer collects the inputs of one Service.
type explainer struct {
	*planning
	task *task
}

// inputs returns the inputs from the Service, from the nodes and pods behind it, and from the
// load balancer that it has.
func (x explainer) inputs() []explain.Input {
	svc := x.task.item.Service
	var out []explain.Input
	for _, v := range explain.Variants(svc) {
		if v.Origin.Source == annotations.FromAnnotation && !x.task.item.Written && !x.target.Cloud.Annotations.Knows(v.Origin.Key) {
			continue // a note of kubectl or of another controller
		}
		in := x.input(v.Origin, v.Varied, reconcile.Variation{Service: v.Service})
		in.Combined = v.Combined
		out = append(out, in)
	}
	nodes, pods := annotations.Origin{Source: explain.FromNodes}, annotations.Origin{Source: explain.FromPods}
	out = append(out, x.input(nodes, true, reconcile.Variation{Service: svc, NoNodes: true}))
	if len(x.task.job.Slices) > 0 {
		out = append(out, x.input(pods, true, reconcile.Variation{Service: svc, NoPods: true}))
	}
	if len(x.task.draft.Have.Resources) > 0 {
		cloud := annotations.Origin{Source: explain.FromCloud, Key: "the existing load balancer"}
		out = append(out, x.input(cloud, false, reconcile.Variation{Service: svc, NothingFound: true}))
	}
	return out
}

func (x explainer) input(o annotations.Origin, varied bool, v reconcile.Variation) explain.Input {
	if row, _ := x.target.Cloud.Annotations.Row(o.Key); row.Secret {
		o.Raw = "" // the value of a secret key is never shown
	}
	return explain.Input{Origin: o, Varied: varied, Hints: x.hints(o), Rebuild: func() (*stack.Stack, annotations.Problems, error) {
		return x.reconciler.Rebuild(x.task.draft, v)
	}}
}

// hints returns the place of an input in its file, and what the declaration of an annotation
// says.
func (x explainer) hints(o annotations.Origin) explain.Hints {
	var out explain.Hints
	if x.task.item.Written && o.Key != "" && x.task.item.at.contains(o.Key) {
		out.At = x.task.item.at.positionOf(o.Key).String()
	}
	if row, known := x.target.Cloud.Annotations.Row(o.Key); known {
		facts := row.For(x.task.draft.Request.Kind)
		out.Legal, out.Change = facts.Legal, facts.Change
	}
	return out
}

// settings returns the inputs from the cloud configuration. A setting without which the
// configuration is not accepted gets another value instead; if that is not accepted either, it
// is not an input.
func (x explainer) settings(ctx context.Context) []explain.Input {
	if x.target.CloudConfig == "" {
		return nil
	}
	var out []explain.Input
	for _, s := range settingsOf(x.target.CloudConfig) {
		other, varied := x.withConfig(ctx, s.without), false
		if other == nil {
			other, varied = x.withConfig(ctx, s.varied), true
		}
		if other == nil {
			continue
		}
		origin := annotations.Origin{Source: annotations.FromConfig, Key: s.name}
		out = append(out, explain.Input{Origin: origin, Varied: varied, Rebuild: func() (*stack.Stack, annotations.Problems, error) {
			return other.Rebuild(x.task.draft, reconcile.Variation{Service: x.task.item.Service})
		}})
	}
	return out
}

// withConfig opens the cloud with another configuration; nil: it is not accepted.
func (x explainer) withConfig(ctx context.Context, text string) *reconcile.Reconciler {
	ctx, cancel := context.WithTimeout(ctx, settingTime)
	defer cancel()
	bound, problems, err := x.target.openWith(ctx, strings.NewReader(text), x.world.ids, nil)
	if err != nil || problems.Errors() {
		return nil
	}
	out := reconcile.New(bound, reconcile.Options{})
	out.SetNodes(projectNode(x.world))
	return out
}

// Formats lists the legal values of Render's format.
func (Explained) Formats() []string { return []string{"human", "json"} }

// errNothing means that a Service requests nothing.
var errNothing = errors.New("the Service requests no resource")

// Render shows the explanation in one of the Formats.
func (e Explained) Render(format string, _ plan.Options) (string, error) {
	if len(e.Resources) == 0 {
		return "", errNothing
	}
	switch format {
	case "human":
		return fmt.Sprintf("Service %s, kind %s\n\n", e.Owner, e.Kind) + explain.Human(e.Explanation), nil
	case "json":
		return encodeJSON(e)
	}
	return "", unknownFormat(format, e.Formats())
}

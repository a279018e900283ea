package wire

import (
	"context"
	"fmt"
	"testing"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestRejectedFirewalls: each firewall belongs to one Service, so that refused ones cost
// one call each and do not affect other Services.
func TestRejectedFirewalls(t *testing.T) {
	const bad, of = 8, 58
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		var steps []plan.Step
		for n := range of {
			svc := testService(n, netlbClass, nil)
			_, p := r.Plan(svc, false)
			for _, step := range p.Steps {
				spec, ok := step.Target.Spec.(model.Firewall)
				if !ok || step.ID.Key.Kind != model.KindFirewall {
					continue
				}
				if step.Batch != "" {
					t.Fatalf("%s goes in one call with others: %s", step.ID, step.Batch)
				}
				spec.Destination = stack.Ref{}
				if n < bad {
					spec.Sources = []string{"192.0.2.256/32"}
				}
				step.Needs, step.Behind, step.Gate, step.Target.Spec = nil, nil, plan.Gate{}, spec
				steps = append(steps, step)
			}
		}
		r.reset()
		report := engine.New(r.Session.Apply, r.Ledger, engine.Options{PerOwner: of}).Run(t.Context(), plan.Plan{Owner: steps[0].ID.Owner, Steps: steps}, nil, nil)
		for i, res := range report.Results {
			if want := map[bool]engine.State{true: engine.Failed, false: engine.Done}[i < bad]; res.State != want {
				t.Errorf("%d: %s, want %s: %v", i, res.State, want, res.Outcome.Err)
			}
		}
		if n := r.calls()["firewalls.insert"]; len(steps) != of || n > of {
			t.Errorf("%d calls for %d steps, want at most %d", n, len(steps), of)
		}
	})
}

// TestRejectedInstances: missing instances of a group that all Services share are found
// with few calls, and are tried after the others from then on.
func TestRejectedInstances(t *testing.T) {
	props.RejectedMembers(t, func(t *testing.T) props.Shared {
		const gone = "ghost"
		r := newRig(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 400}}, "")
		zone := r.sim.Cloud.Seed.Nodes[0].Zone
		var there []string
		for _, n := range r.sim.Cloud.Seed.Nodes {
			if n.Zone == zone {
				there = append(there, n.Name)
			}
		}
		name := r.Config.GroupName(model.InternalIG)
		key := stack.Key{Kind: model.KindGroup, Name: zone + "/" + name}
		group := stack.Resource{Key: key, Ownership: stack.Shared, ID: groupPath(zone, name), Spec: model.Group{Name: name, Zone: zone}}
		made := plan.Step{ID: plan.StepID{Owner: cases.OwnerOf(testService(1, igClass, nil)), Key: key, Action: plan.Create}, Target: group, Batch: key.String()}
		if out := r.Session.Apply(t.Context(), plan.Batch{Key: made.Batch, Steps: []plan.Step{made}}); out[0].Err != nil {
			t.Fatal(out[0].Err)
		}
		apply := refusedMembers(r.Session.Apply)
		return props.Shared{
			Engine: engine.New(apply, r.Ledger, engine.Options{PerOwner: 100}), Mark: gone,
			Calls: func() int { return r.calls()["instanceGroups.addInstances"] },
			Step: func(n int, bad bool) plan.Step {
				member := there[n]
				if bad {
					member = fmt.Sprint(gone, n)
				}
				step := plan.Step{ID: plan.StepID{Owner: cases.OwnerOf(testService(n, igClass, nil)), Key: key, Action: plan.Update, Part: "instances+"}, Target: group, Found: group.Spec, Batch: key.String()}
				step.Changes = []plan.Change{{Field: "Instances", Added: []any{member}}}
				return step
			},
		}
	})
}

// refusedMembers tells of a step whose members are refused as of one that is.
func refusedMembers(apply engine.Apply) engine.Apply {
	return func(ctx context.Context, b plan.Batch) []plan.Outcome {
		out := apply(ctx, b)
		for i := range out {
			if len(out[i].Refused) == 0 {
				continue
			}
			refused := plan.Outcome{Err: out[i].Refused[0].Err, Sent: plan.MaybeSent}
			if fault.Is(refused.Err, fault.Pending) {
				refused.Sent = plan.NotSent
			}
			out[i] = refused
		}
		return out
	}
}

package reconcile_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

func ruleOf(name string) stack.Resource {
	return stack.Resource{Key: stack.Key{Kind: kindRule, Name: name}, In: nodesKey, Ownership: stack.Shared, Spec: rule{Allow: name}}
}

func toyRules() diff.Rules {
	m := func(a plan.Action, k stack.Kind) diff.Match { return diff.Match{Action: a, Kind: k} }
	edge := func(first, then diff.Match, reason string) diff.Edge {
		return diff.Edge{First: first, Then: then, Reason: reason}
	}
	return diff.Rules{
		Kinds: map[stack.Kind]diff.Rule{
			kindLB:       {Fields: diff.Fields{Immutable: []string{"Scheme"}}, Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"replace": plan.Interrupts, "delete": plan.Interrupts}}, Pending: diff.Settle, Failed: diff.Report},
			kindListener: {Within: diff.Within{Cascade: true}},
			kindPool:     {Fields: diff.Fields{Immutable: []string{"NodePort"}}},
			kindMembers:  {Traffic: diff.Traffic{FollowsBackends: true}, Within: diff.Within{Inherent: true}, Fields: diff.Fields{Sets: map[string]diff.Set{"Nodes": {}}}},
			kindRule:     {Batch: func(stack.Resource, plan.Action, string) string { return "nodes" }},
		},
		Edges: []diff.Edge{
			edge(m(plan.Create, kindLB), m(plan.Create, kindRule), "the load balancer is the evidence"),
			edge(m(plan.Create, kindPool), m(plan.Create, kindRule), "the pool is the evidence"),
			edge(m(plan.Update, kindListener), m(plan.Delete, kindRule), "the listener uses the old rule until it is switched"),
			edge(m(plan.Delete, kindRule), m(plan.Delete, kindLB), "the load balancer is the evidence"),
			edge(m(plan.Delete, kindRule), m(plan.Delete, kindPool), "the pool is the evidence"),
		},
	}
}

func toyCloud() providers.Cloud[string, struct{}] {
	set, err := annotations.NewSet("toy", []string{"toy.example/"}, schemeAnnotation, labelAnnotation)
	if err != nil {
		panic(err) // the test's own declarations
	}
	return providers.Cloud[string, struct{}]{
		Traits: providers.Traits{
			Name:       "toy",
			MatchFound: func(_, have *stack.Stack) *stack.Stack { return have },
			Rules:      toyRules(),
		},
		Annotations: set,
		RequestFuncs: providers.RequestFuncs[string]{
			Choose: func(*corev1.Service) providers.Choice { return providers.Choice{Kind: "toy"} },
			Select: func(in providers.Input[string]) nodeports.Filter {
				if label := labelAnnotation.Get(in.Values); label != "" {
					return nodeports.Filter{Selector: map[string]string{label: ""}}
				}
				return nodeports.Filter{}
			},
		},
		PlaceFuncs: providers.PlaceFuncs[string]{
			OwnedScope: ownedScope,
			Scope:      func(in providers.Input[string]) (providers.Scope, error) { return ownedScope(in.Identity), nil },
		},
		StackFuncs: providers.StackFuncs[string, struct{}]{
			Build:   buildToy,
			MayWant: func(_ providers.Identity[string], r stack.Resource) bool { return r.Key.Name == "health" },
			Status: func(_ providers.Input[string], have *stack.Stack) status.Result {
				if lb, ok := have.Get(lbKey); ok {
					return status.Result{Ingress: []corev1.LoadBalancerIngress{status.Hostname(lb.ID + ".toy.example")}}
				}
				return status.Result{}
			},
		},
	}
}

func ownedScope(id providers.Identity[string]) providers.Scope {
	return providers.Scope{Owner: id.Owner, Own: []providers.Lookup{{By: "mark", Value: id.Owner.UID}}}
}

func buildToy(in providers.Input[string], _ struct{}, _ *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	out := &stack.Stack{}
	out.Put(stack.Resource{Key: lbKey, Spec: balancer{Scheme: schemeAnnotation.Get(in.Values)}})
	out.Put(ruleOf("health"))
	for _, p := range in.Backends.Ports {
		name := strconv.Itoa(int(p.Port))
		k := stack.Key{Kind: kindPool, Name: name}
		out.Put(stack.Resource{Key: k, Spec: pool{NodePort: p.NodePort}})
		out.Put(stack.Resource{Key: stack.Key{Kind: kindMembers, Name: name}, In: k, Spec: members{Nodes: in.Backends.Nodes.Names()}})
		out.Put(stack.Resource{Key: stack.Key{Kind: kindListener, Name: name}, In: lbKey, Slot: "port " + name, Spec: listener{Port: p.Port, To: stack.RefTo(k)}})
		out.Put(ruleOf(allowPort(p.NodePort)))
	}
	return out, nil, nil
}

// show is what the cloud has, in words, without identifiers.
func (w *world) show(t *testing.T) []string {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []string{}
	for _, th := range w.things {
		switch spec := th.spec.(type) {
		case balancer:
			out = append(out, th.uid+" lb "+spec.Scheme)
		case listener:
			target, ok := w.things[spec.To.ID]
			if !ok || w.things[th.in] == nil {
				t.Errorf("listener %s leads nowhere", th.port)
				continue
			}
			out = append(out, fmt.Sprintf("%s listener %s to %d", th.uid, th.port, target.spec.(pool).NodePort))
		case pool:
			out = append(out, fmt.Sprintf("%s pool %d %v", th.uid, spec.NodePort, slices.Sorted(slices.Values(w.things[th.id+"/members"].spec.(members).Nodes))))
		case rule:
			out = append(out, "rule "+spec.Allow)
		}
	}
	slices.Sort(out)
	return out
}

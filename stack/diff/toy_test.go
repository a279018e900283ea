package diff_test

import (
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
)

// A little cloud: a load balancer with listeners that send to groups of
// targets, and rules in a group of the nodes that several Services share.

type lb struct {
	Scheme string
	Tags   []string
	Zones  []string
	Groups []stack.Ref
	Note   string
	DNS    string
}

type listener struct {
	Protocol string
	To       stack.Ref
	Policy   string
}

type group struct {
	Port  int
	Check string
}

type targets struct{ IDs []string }

type attrs struct{ Idle int }

type pool struct{ Method string }

type check struct {
	Path string
	Pool stack.Ref
}

type rule struct{ Allow string }

type address struct{ Name string }

var me = stack.Owner{Namespace: "ns", Name: "me", UID: "1"}

func newKey(kind, name string) stack.Key { return stack.Key{Kind: stack.Kind(kind), Name: name} }

var (
	theLB    = newKey("lb", "")
	theNodes = newKey("nodes", "sg-1")
)

func newRef(kind, name string) stack.Ref { return stack.RefTo(newKey(kind, name)) }

func toyRules() diff.Rules {
	foldCase := func(want, have any) bool {
		w, _ := want.(string)
		h, _ := have.(string)
		return strings.EqualFold(w, h)
	}
	sameLB := func(stack.Resource, plan.Action, string) string { return "nodes" }
	return diff.Rules{
		Kinds: map[stack.Kind]diff.Rule{
			"lb": {
				Fields: diff.Fields{
					Immutable: []string{"Scheme"}, Ignore: []string{"Note"}, Sticky: []string{"DNS", "Zones"},
					Sets: map[string]diff.Set{"Zones": {RemoveFirst: true}}, Parts: map[string]string{"Tags": "tags"},
				},
				Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Brief, "Tags": plan.Brief}},
			},
			"old-lb":   {Traffic: diff.Traffic{Role: diff.EntryPoint}},
			"listener": {Within: diff.Within{Cascade: true}, Fields: diff.Fields{Immutable: []string{"Protocol"}, Equal: map[string]diff.Equal{"Policy": foldCase}}},
			"group":    {Fields: diff.Fields{Immutable: []string{"Port"}}},
			"targets":  {Within: diff.Within{Inherent: true}, Fields: diff.Fields{Sets: map[string]diff.Set{"IDs": {Chunk: 2}}}},
			"attrs":    {Within: diff.Within{Inherent: true, Default: func(stack.Resource) stack.Spec { return attrs{Idle: 60} }}},
			"pool":     {Within: diff.Within{Inline: true, Cascade: true}},
			"check":    {Within: diff.Within{Inline: true, Cascade: true}},
			"loose":    {Fields: diff.Fields{Immutable: []string{"Name"}}}, // a part that does not go with its parent
			"rule":     {Batch: sameLB},
			"address":  {Fields: diff.Fields{Immutable: []string{"Name"}}, Replace: diff.DeleteFirst},
		},
		Edges: []diff.Edge{
			{First: diff.Match{Action: plan.Create, Kind: "rule"}, Then: diff.Match{Action: plan.Delete, Kind: "rule"}, Reason: "grant before revoke"},
			{First: diff.Match{Action: plan.Delete, Kind: "rule"}, Then: diff.Match{Action: plan.Delete, Kind: "lb"}, Reason: "evidence outlives what it proves"},
			{First: diff.Match{Action: plan.Update, Kind: "targets", Part: "ids+"}, Then: diff.Match{Action: plan.Update, Kind: "listener"}, Same: true, Reason: "no empty group is sent to"},
		},
	}
}

func ownedResource(k stack.Key, in stack.Key, spec stack.Spec) stack.Resource {
	return stack.Resource{Key: k, In: in, Spec: spec}
}

func withSlot(r stack.Resource, s string) stack.Resource {
	r.Slot = s
	return r
}

func withoutProof(r stack.Resource) stack.Resource {
	r.Proof = stack.None
	return r
}

func ruleFor(name string) stack.Resource {
	return stack.Resource{Key: newKey("rule", name), In: theNodes, Ownership: stack.Shared, Spec: rule{Allow: name}}
}

func desiredStack(rs ...stack.Resource) *stack.Stack { return &stack.Stack{Owner: me, Resources: rs} }

// observedStack returns a stack as a read returns it: with identifiers and proof.
func observedStack(rs ...stack.Resource) *stack.Stack {
	out := &stack.Stack{Owner: me}
	for _, r := range rs {
		r.ID = "id-of-" + r.Key.String()
		if r.Ownership != stack.External {
			r.Proof = stack.Tag
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// clearProof removes the proof from the resource with the key.
func clearProof(s *stack.Stack, k stack.Key) *stack.Stack {
	r, _ := s.Get(k)
	s.Put(withoutProof(r))
	return s
}

// markLeftover marks every resource as one without an owner.
func markLeftover(s *stack.Stack) *stack.Stack {
	for i := range s.Resources {
		s.Resources[i].Proof = stack.Leftover
	}
	return s
}

func ledgerWith(others map[string][]string) *ledger.Ledger {
	l := ledger.New()
	l.SetReady()
	for owner, rules := range others {
		var rs []stack.Resource
		for _, r := range rules {
			rs = append(rs, ruleFor(r))
		}
		l.Enter(stack.Owner{Namespace: "ns", Name: owner, UID: owner}, rs)
	}
	return l
}

// planLines renders a plan: a line for each step, with its needs; blocked steps last.
func planLines(p plan.Plan) []string {
	var out []string
	for _, s := range p.Steps {
		line := s.ID.String()
		if len(s.With) > 0 {
			var with []string
			for _, r := range s.With {
				with = append(with, r.Key.String())
			}
			line += " with " + strings.Join(with, ", ")
		}
		if len(s.AllNeeds()) > 0 {
			var needs []string
			for _, n := range s.AllNeeds() {
				needs = append(needs, n.String())
			}
			line += " <- " + strings.Join(needs, ", ")
		}
		if !s.Gate.IsZero() {
			line += " @" + s.Gate.After.String()
		}
		out = append(out, line)
	}
	for _, h := range p.Blocked {
		out = append(out, "held "+h.Step.ID.String()+": "+h.Cause())
	}
	return out
}

func emptyLedger() *ledger.Ledger { return ledger.New() }

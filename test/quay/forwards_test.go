package quay

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/quay/model"
	simquay "github.com/berth-lb/berth/test/sim/quay"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// mover applies Services to a simulated Quay, and compares flows after every step.
type mover struct {
	t       *testing.T
	harbour *simquay.Harbour
	cloud   providers.Cloud[model.Config, struct{}]
	bound   providers.Bound
	ledger  *ledger.Ledger
	owner   stack.Owner
	seen    int
}

// TestFlowsAreForwards: after every step of every move between two cases, the flows of the
// observed stacks are the ones that the simulator passes on.
func TestFlowsAreForwards(t *testing.T) {
	list, seen := moveCases(), 0
	for i, from := range list {
		virtual.Run(t, from.Name, func(t *testing.T) {
			m := newMover(t)
			m.apply(from.Service, laws.Before)
			for _, to := range append(slices.Clone(list[i:]), list[:i]...) {
				m.apply(to.Service, laws.Today)
				m.apply(from.Service, laws.Before)
			}
			m.apply(nil, laws.Today)
			if left := m.harbour.Forwards(); len(left) > 0 {
				t.Errorf("after the deletion: %v", left)
			}
			seen += m.seen
		})
	}
	if seen < 500 {
		t.Errorf("only %d forwards were compared", seen)
	}
}

// moveCases returns the Services that are changed into each other.
func moveCases() []props.Case {
	return []props.Case{
		props.Service("plain", nil),
		props.Service("internal", map[string]string{"quay.example/internal": "true"}),
		props.Service("mixed", nil, func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }),
		props.Service("udp", nil, props.UDP),
		props.Service("other ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[1].Port = 8080, 8443 }),
		props.Service("one port", nil, func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }),
		props.Service("other node ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].NodePort = 31080 }),
		props.Service("internal udp", map[string]string{"quay.example/internal": "true"}, props.UDP),
	}
}

// machinesOf returns three machines; on the second day another one has replaced the third.
func machinesOf(day laws.Day) []corev1.Node {
	var out []corev1.Node
	for _, n := range []int{1, 2, 3 + int(day)} {
		out = append(out, simquay.Machine(n))
	}
	return out
}

func newMover(t *testing.T) *mover {
	h := simquay.New()
	s := subject{virtual.Start(t, h), h}
	return &mover{t: t, harbour: h, cloud: Cloud(), bound: s.Open(t), ledger: cases.ReadyLedger(), owner: laws.OwnerOf(0)}
}

// apply performs what a Service wants; nil: it is deleted.
func (m *mover) apply(svc *corev1.Service, day laws.Day) {
	m.t.Helper()
	have, want := m.read(), &stack.Stack{Owner: m.owner}
	if m.ledger.Leave(m.owner); svc != nil {
		svc = svc.DeepCopy()
		svc.UID = "00000000-0000-4000-8000-000000000001"
		in, _ := cases.Input(&m.cloud, model.Config{}, svc, cases.Around{Cluster: "test", Nodes: machinesOf(day)})
		built, _, err := m.cloud.Build(in, struct{}{}, have)
		if err != nil {
			m.t.Fatal(err)
		}
		built.Owner, want = m.owner, built
		m.ledger.Enter(m.owner, want.Resources)
	}
	apply := func(ctx context.Context, b plan.Batch) []plan.Outcome {
		out := m.bound.Apply(ctx, b)
		m.compareFlows(b.Steps[0].ID.String())
		return out
	}
	report := engine.New(apply, m.ledger, engine.Options{PerOwner: 1}).Run(m.t.Context(), diff.Compare(want, have, m.cloud.Rules, m.ledger), have, plan.OpenGates)
	if !report.Clean() {
		m.t.Fatal(report.Err())
	}
}

func (m *mover) read() *stack.Stack {
	m.t.Helper()
	found := m.bound.Read(m.t.Context(), []providers.Scope{m.bound.OwnedScope(m.owner, nil)})
	if found[0].Err != nil {
		m.t.Fatal(found[0].Err)
	}
	return found[0].Have
}

func (m *mover) compareFlows(when string) {
	m.t.Helper()
	var passing, computed []string
	for _, f := range m.harbour.Forwards() {
		from := "0.0.0.0/0"
		if f.Private {
			from = "10.0.0.0/8"
		}
		line := fmt.Sprintf("%s %d/%s from %s to", f.Host, f.Port, f.Protocol, from)
		for _, name := range f.Machines {
			line += fmt.Sprintf(" %s:%d", name, f.At)
		}
		passing = append(passing, line)
	}
	for _, f := range m.bound.Flows([]*stack.Stack{m.read()}) {
		if !f.Serves() {
			continue
		}
		line := fmt.Sprintf("%s from %s to", f.Name(), f.From[0])
		for _, b := range f.To {
			line += " " + b.String()
		}
		computed = append(computed, line)
	}
	slices.Sort(passing)
	slices.Sort(computed)
	if m.seen += len(passing); !slices.Equal(passing, computed) {
		m.t.Errorf("after %s:\n the simulator passes %q\n the flows are %q", when, passing, computed)
	}
}

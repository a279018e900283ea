package props

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
)

// Refused checks what a policy does, on every case.
func Refused(t *testing.T, fresh New, cases []Case) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { t.Parallel(); refused(t, fresh, c) })
	}
}

// refused: nothing is written for a Service that was never allowed; one that is no
// longer allowed stays as it is and follows the nodes, for the process that has
// served it as for a new one; allowed again, nothing has to be put right, and it may
// go at any time.
func refused(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	before := state(t, s)
	var closed atomic.Bool
	admit := func(*corev1.Service, providers.Reach) annotations.Problems {
		if !closed.Load() {
			return nil
		}
		return annotations.Problems{{Key: "policy", Message: "says no"}}
	}
	start := func() *process {
		p := &process{t: t, r: reconcile.New(s.Open(t), reconcile.Options{GatherReleases: time.Millisecond, Admit: admit})}
		p.r.SetNodes(s.Nodes())
		p.r.AllKnown()
		return p
	}
	closed.Store(true)
	s.Control().Journal.Reset()
	p := start()
	p.rejected(c.Service)
	if n := writes(s); n != 0 {
		t.Errorf("%d writing calls for a Service that is not allowed: %v", n, s.Control().Journal.Counts())
	}
	closed.Store(false)
	p.converge(c.Service, false)
	all := shape(t, s, c.Service)
	closed.Store(true)
	for _, p := range []*process{p, start()} {
		s.Control().Journal.Reset()
		p.r.SetNodes(s.Nodes()[1:])
		p.follows(c.Service)
		if writes(s) == 0 {
			t.Error("it does not follow the nodes")
		}
		p.r.SetNodes(s.Nodes())
		p.follows(c.Service)
		if diff := cmp.Diff(all, shape(t, s, c.Service)); diff != "" {
			t.Errorf("what is there has changed (-want +got):\n%s", diff)
		}
	}
	nothingToDo(t, s, s.Nodes(), c.Service)
	p.converge(c.Service, true)
	if diff := cmp.Diff(before, state(t, s)); diff != "" {
		t.Errorf("deletion left something (-before +after):\n%s", diff)
	}
}

// rejected works on a Service some times and wants it refused.
func (p *process) rejected(svc *corev1.Service) {
	p.t.Helper()
	for range 3 {
		res, err := p.once(p.t.Context(), svc, false)
		if err != nil || res.Err != nil {
			p.t.Fatal(err, res.Err)
		}
		if !res.Draft.Refused.Errors() || res.Clean {
			p.t.Fatalf("%s is not refused: %v", svc.Name, res.Draft.Problems)
		}
	}
}

// follows works on a refused Service and wants steps that update and no others.
func (p *process) follows(svc *corev1.Service) {
	p.t.Helper()
	for range 3 {
		res, err := p.once(p.t.Context(), svc, false)
		if err != nil || res.Err != nil {
			p.t.Fatal(err, res.Err)
		}
		for _, r := range res.Report.Results {
			if r.Step.ID.Action == plan.Create && r.Step.Target.In.Kind == "" {
				p.t.Errorf("something is made for a Service that is refused: %s", r.Step.ID)
			}
		}
		if res.Draft.Untouched {
			p.t.Fatalf("%s is left alone", svc.Name)
		}
	}
}

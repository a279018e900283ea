package props

import (
	"slices"
	"strings"
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

// testRefused: nothing is written for a Service that was never allowed. One that is no longer
// allowed stays unchanged and follows the nodes, for the process that has served it and for a
// new one. Once allowed again, nothing has to be corrected, and it can be deleted at any
// time.
func testRefused(t *testing.T, fresh New, c Case) {
	s := fresh(t)
	before := cloudState(t, s)
	var closed atomic.Bool
	admit := func(*corev1.Service, providers.Reach) annotations.Problems {
		if !closed.Load() {
			return nil
		}
		return annotations.Problems{{Key: "policy", Message: "says no"}}
	}
	start := func() *process {
		p := &process{t: t, s: s, r: reconcile.New(s.Open(t), reconcile.Options{GatherReleases: time.Millisecond, Admit: admit})}
		p.r.SetNodes(s.Nodes())
		p.r.AllKnown()
		return p
	}
	closed.Store(true)
	s.Control().Journal.Reset()
	p := start()
	p.rejected(c.Service)
	if n := countWrites(s); n != 0 {
		t.Errorf("%d writing calls for a Service that is not allowed: %v", n, s.Control().Journal.Counts())
	}
	closed.Store(false)
	p.converge(c.Service, false)
	moves := p.without(s, c.Service)
	all := resourceKeys(t, s, c.Service)
	closed.Store(true)
	for _, p := range []*process{p, start()} {
		if p.without(s, c.Service) != moves {
			t.Error("it does not follow the nodes as if it were allowed")
		}
		if diff := cmp.Diff(all, resourceKeys(t, s, c.Service)); diff != "" {
			t.Errorf("existing resources have changed (-want +got):\n%s", diff)
		}
	}
	nothingToDo(t, s, s.Nodes(), c.Service)
	p.converge(c.Service, true)
	if diff := cmp.Diff(stateLines(before), stateLines(cloudState(t, s))); diff != "" {
		t.Errorf("deletion left something (-before +after):\n%s", diff)
	}
}

// stateLines returns the lines of a state, sorted and in lower case: nodes that were deleted and
// created again are last in lists that another controller had filled before, and ids of Azure
// are case-insensitive.
func stateLines(state string) []string {
	out := strings.Split(strings.ToLower(state), "\n")
	for i := range out {
		out[i] = strings.Trim(out[i], " ,")
	}
	slices.Sort(out)
	return out
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

// without deletes nodes, one at a time, until one was a backend of the Service, and creates
// them again: where there are several load balancers, a node is on one of them, and where
// nodes need endpoints, on none. It reports whether one was.
func (p *process) without(s Subject, svc *corev1.Service) bool {
	p.t.Helper()
	s.Control().Journal.Reset()
	moved := false
	for i := 0; i < len(s.Nodes()) && !moved; i++ {
		p.r.SetNodes(slices.Delete(slices.Clone(s.Nodes()), i, i+1))
		p.follows(svc)
		moved = countWrites(s) > 0
	}
	p.r.SetNodes(s.Nodes())
	p.follows(svc)
	return moved
}

// follows works on a Service and wants steps that update and no others.
func (p *process) follows(svc *corev1.Service) {
	p.t.Helper()
	for range 3 {
		res, err := p.once(p.t.Context(), svc, false)
		if err != nil || res.Err != nil {
			p.t.Fatal(err, res.Err)
		}
		for _, r := range res.Report.Results {
			if r.Step.ID.Action == plan.Create && r.Step.Target.In.Kind == "" {
				p.t.Errorf("something is created although only nodes were removed and added: %s", r.Step.ID)
			}
		}
		if res.Draft.Intent == reconcile.LeaveAlone {
			p.t.Fatalf("%s is left alone", svc.Name)
		}
	}
}

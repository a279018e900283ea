package cases

import (
	"cmp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Placed is a case with its Service in its surroundings.
type Placed[C, F any] struct {
	Case
	Service *corev1.Service
	World   World[F]
	Config  C
	suite   Suite[C, F]
}

// Input is what the loop hands to Build for a Service that is where that of the case is.
func (c Placed[C, F]) Input(svc *corev1.Service) (providers.Input[C], annotations.Problems) {
	around := Around{Cluster: cmp.Or(c.World.ClusterName, "kubernetes"), Nodes: c.World.Nodes, Slices: c.World.Slices}
	if c.suite.OnPods {
		around.Slices = SlicesOf(svc, c.World.Pods)
	}
	return Input(c.suite.Cloud, c.Config, svc, around)
}

// Build returns the desired stack for the Service of the case, given the existing one; it
// must have no problem.
func (c Placed[C, F]) Build(t testing.TB, have *stack.Stack) *stack.Stack {
	t.Helper()
	in, _ := c.Input(c.Service)
	want, problems, err := c.suite.Cloud.Build(in, c.World.Facts, have)
	if err != nil || problems.Errors() {
		t.Fatalf("%s: %v %v", c.Name, err, problems.Strings())
	}
	return want
}

// Have is what was found: what Before had wanted, and what the case adds.
func (c Placed[C, F]) Have(t testing.TB) *stack.Stack {
	t.Helper()
	have := &stack.Stack{}
	if c.World.Before != nil {
		have = c.before(t)
	}
	for _, k := range c.World.Gone {
		have.Drop(k)
	}
	for _, h := range c.World.Have {
		r := h.resource(t, c.suite.Specs)
		if c.suite.Slot != nil {
			r.Slot = c.suite.Slot(r.Spec)
		}
		have.Put(r)
	}
	have.Owner = OwnerOf(c.Service)
	return have
}

// before returns the existing stack once everything that Before requests has been created.
func (c Placed[C, F]) before(t testing.TB) *stack.Stack {
	t.Helper()
	c.Service = c.World.Before
	if c.World.BeforeCfg != "" {
		c.Config = c.suite.Parse(t, c.World.BeforeCfg)
	}
	if c.World.BeforeSlices != nil {
		c.World.Slices = c.World.BeforeSlices
	}
	var have *stack.Stack
	for range 3 {
		have = c.suite.Found(c.Build(t, have), have)
	}
	return have
}

// Result is the complete output of the pure half for a case.
type Result[C any] struct {
	In       providers.Input[C]
	Want     *stack.Stack // nil: nothing is built
	Have     *stack.Stack
	Problems annotations.Problems
}

// Run builds what the case wants.
func (c Placed[C, F]) Run(t testing.TB) Result[C] {
	t.Helper()
	in, problems := c.Input(c.Service)
	r := Result[C]{In: in, Have: c.Have(t)}
	if c.World.Deleted {
		r.Want = &stack.Stack{Owner: r.Have.Owner}
		return r
	}
	want, more, err := c.suite.Cloud.Build(in, c.World.Facts, r.Have)
	if err != nil {
		t.Fatal(err)
	}
	r.Problems = slices.Concat(problems, more)
	if !problems.Errors() {
		r.Want = want
	}
	return r
}

// Fuzzed is the case as a fuzz test begins with it.
func (c Placed[C, F]) Fuzzed(t testing.TB) Fuzzed[C, F] {
	return Fuzzed[C, F]{Name: c.Name, Service: c.Service, Facts: c.World.Facts, Have: c.Have(t), Ledger: ReadyLedger(), Input: c.Input}
}

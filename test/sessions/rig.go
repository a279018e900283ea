package sessions

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/props"
)

// Rig is a session of one process, and the tools to walk from one wish to the next.
type Rig[C, F any, S providers.Session[F]] struct {
	testing.TB
	Cloud   providers.Cloud[C, F] // what is pure of it
	Session S
	Config  C
	Ledger  *ledger.Ledger
	Engine  *engine.Engine
	Nodes   []corev1.Node
	Slices  []*discoveryv1.EndpointSlice
	// Endpoints are those of a Service on the nodes, instead of Slices.
	Endpoints func(svc *corev1.Service, nodes []corev1.Node) []*discoveryv1.EndpointSlice
	Labels    map[string]string // of the namespace
	Cluster   string            // its name; empty: kubernetes
	Now       time.Time         // what the session takes for the time
}

// New returns a Rig that still needs a session, with some time for now.
func New[C, F any, S providers.Session[F]](t testing.TB, cloud providers.Cloud[C, F], nodes []corev1.Node) Rig[C, F, S] {
	return Rig[C, F, S]{TB: t, Cloud: cloud, Nodes: nodes, Ledger: cases.ReadyLedger(), Now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
}

// Use continues with a session.
func (r *Rig[C, F, S]) Use(session S, config C) {
	options := engine.Options{Join: func(of []context.Context) context.Context { return kit.WithJoint(context.Background(), of) }}
	if yielder, ok := any(session).(providers.Yielder); ok {
		options.Yield = yielder.Yield
	}
	r.Session, r.Config, r.Engine = session, config, engine.New(session.Apply, r.Ledger, options)
}

// Numbered is the n-th Service of a test, as the API server would have completed it. A
// change may be nil.
func Numbered(n int, change func(*corev1.Service)) *corev1.Service {
	svc := props.Service("", map[string]string{}).Service
	svc.ObjectMeta = metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprintf("web-%d", n), UID: types.UID(fmt.Sprintf("%08d-1234-1234-1234-123456789012", n)), Annotations: map[string]string{},
	}
	if change != nil {
		change(svc)
	}
	return svc
}

// Local gives a Service the traffic policy Local.
func Local(svc *corev1.Service) { props.Local(&svc.Spec) }

// Input is what the loop hands to Build, without anything wrong.
func (r *Rig[C, F, S]) Input(svc *corev1.Service) providers.Input[C] {
	r.Helper()
	around := cases.Around{Cluster: cmp.Or(r.Cluster, "kubernetes"), Nodes: r.Nodes, Slices: r.Slices}
	if r.Endpoints != nil {
		around.Slices = r.Endpoints(svc, r.Nodes)
	}
	in, problems := cases.Input(&r.Cloud, r.Config, svc, around)
	if problems.Errors() {
		r.Fatal(problems.Strings())
	}
	in.NamespaceLabels = r.Labels
	return in
}

// Read reads all of Services at once, or of ones that are released.
func (r *Rig[C, F, S]) Read(release bool, svcs ...*corev1.Service) []providers.Found[F] {
	r.Helper()
	var scopes []providers.Scope
	for _, svc := range svcs {
		in := r.Input(svc)
		s, err := r.Cloud.Scope(in)
		if err != nil {
			r.Fatal(err)
		}
		if release {
			s = r.Cloud.OwnedScope(in.Identity)
		}
		scopes = append(scopes, s)
	}
	found := r.Session.Read(r.Context(), scopes)
	for _, f := range found {
		if f.Err != nil {
			r.Fatalf("read: %v", f.Err)
		}
	}
	return found
}

// Draft plans for a Service from the existing resources.
func (r *Rig[C, F, S]) Draft(svc *corev1.Service, release bool, have *stack.Stack, facts F) plan.Plan {
	r.Helper()
	owner := cases.OwnerOf(svc)
	have.Owner = owner
	if release {
		r.Ledger.Leave(owner)
		return diff.Compare(&stack.Stack{Owner: owner}, have, r.Cloud.Rules, r.Ledger)
	}
	want, problems, err := r.Cloud.Build(r.Input(svc), facts, have)
	if err != nil || problems.Errors() {
		r.Fatalf("build: %v %v", err, problems.Strings())
	}
	want.Owner = owner
	r.Ledger.Enter(owner, want.Resources)
	return diff.Compare(want, r.Cloud.MatchFound(want, have), r.Cloud.Rules, r.Ledger)
}

// Together reconciles or releases all Services at the same time, from one read, and returns
// the report of each.
func (r *Rig[C, F, S]) Together(release bool, svcs ...*corev1.Service) []engine.Report {
	r.Helper()
	found := r.Read(release, svcs...)
	plans := make([]plan.Plan, len(svcs))
	for i, svc := range svcs {
		plans[i] = r.Draft(svc, release, found[i].Have, found[i].Facts)
	}
	out := make([]engine.Report, len(svcs))
	var all sync.WaitGroup
	for i := range svcs {
		all.Go(func() { out[i] = r.Engine.Run(r.Context(), plans[i], found[i].Have, nil) })
	}
	all.Wait()
	return out
}

// AllTogether is Together without anything going wrong.
func (r *Rig[C, F, S]) AllTogether(release bool, svcs ...*corev1.Service) {
	r.Helper()
	for i, report := range r.Together(release, svcs...) {
		if err := report.Err(); err != nil {
			r.Errorf("%s: %v", svcs[i].Name, err)
		}
	}
}

// Sweep deletes all orphans, as the command does, and returns their owners. Between two
// rounds some time passes.
func (r *Rig[C, F, S]) Sweep(alive ...*corev1.Service) []string {
	r.Helper()
	var out []string
	for range 5 {
		loop := reconcile.New(providers.Bind(r.Cloud, r.Config, cmp.Or(r.Cluster, "kubernetes"), r.Session), reconcile.Options{GatherReleases: time.Millisecond})
		live := providers.Live{Nodes: props.Project(r.Nodes)}
		loop.SetNodes(live.Nodes)
		for _, svc := range alive {
			live.Services = append(live.Services, cases.OwnerOf(svc))
			if _, err := loop.Draft(r.Context(), reconcile.Job{Service: svc, Slices: r.Slices}); err != nil {
				r.Fatal(err)
			}
		}
		loop.AllKnown()
		swept := props.Sweep(r.TB, loop, live)
		if len(swept) == 0 {
			return out
		}
		if out == nil {
			for _, o := range swept {
				out = append(out, o.String()+" "+o.UID)
			}
		}
		r.Now = r.Now.Add(time.Minute)
	}
	r.Fatal("orphans are left after five rounds")
	return nil
}

// Plan reads and drafts for one Service.
func (r *Rig[C, F, S]) Plan(svc *corev1.Service, release bool) (*stack.Stack, plan.Plan) {
	r.Helper()
	found := r.Read(release, svc)[0]
	return found.Have, r.Draft(svc, release, found.Have, found.Facts)
}

// AtRest fails unless nothing is to do for Services.
func (r *Rig[C, F, S]) AtRest(svcs ...*corev1.Service) {
	r.Helper()
	for i, f := range r.Read(false, svcs...) {
		if again := r.Draft(svcs[i], false, f.Have, f.Facts); !again.Empty() {
			r.Fatalf("%s: a second plan is not empty: %s", svcs[i].Name, Steps(again))
		}
	}
}

// Gone fails unless nothing is left of Services.
func (r *Rig[C, F, S]) Gone(svcs ...*corev1.Service) {
	r.Helper()
	for i, f := range r.Read(true, svcs...) {
		if len(f.Have.Resources) > 0 {
			r.Errorf("%s: left over: %+v", svcs[i].Name, f.Have.Resources)
		}
	}
}

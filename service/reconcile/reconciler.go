package reconcile

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/observed"
	"github.com/berth-lb/berth/stack/plan"
)

// Options say how a Reconciler behaves. Zero values mean the defaults.
type Options struct {
	Policies []plan.StepFilter
	// DriftInterval is the age at which a Service is read again; default 30 minutes, spread by
	// up to a tenth, at a few moments of it.
	DriftInterval time.Duration
	// KeepDrift leaves what another controller has built as it is where applying
	// the difference would interrupt nothing, until the Service changes.
	KeepDrift bool
	// GatherReleases is how long the read that ends a release waits for others of
	// its kind, default 1 s: Services are often deleted together, by scripts that
	// take a moment for each. It waits as long again while others arrive, five times
	// at most.
	GatherReleases time.Duration
	// Admit lists what a request contains and must not; nil: everything is allowed.
	// It is called for every draft, so that its answer may change.
	Admit  func(*corev1.Service, providers.Reach) annotations.Problems
	Now    func() time.Time
	Engine engine.Options
	// Lateness is how long after the start calls of a previous process may take effect. A Service
	// that it may have served is not released before; 0: there was none.
	Lateness time.Duration
	// PlanTime bounds the build and the comparison of a Service; default a minute. They take
	// milliseconds; a longer one delays other Services and is ended.
	PlanTime time.Duration
	// Join makes the context of a call that is made for several Services, such as a
	// read; default: the background. It must not end with any of them.
	Join func([]context.Context) context.Context
	// Fence reports whether the process may write to the cloud; nil: always.
	Fence engine.Fence
}

// LeaderLateness is Lateness with leader election: more than the 5 seconds that a Lease leaves
// between two leaders by default, and a short delay for a user that deletes a Service just then.
const LeaderLateness = 10 * time.Second

// Reconciler plans and runs Services of one cloud. It is safe for concurrent
// use; the caller reconciles one Service once at a time.
type Reconciler struct {
	cloud     providers.Bound
	options   Options
	ledger    *ledger.Ledger
	engine    *engine.Engine
	reader    *reader
	snapshots *observed.Snapshots[snapshot]
	observed  *observed.Store
	refused   *refusedReplacements
	nodes     *nodeports.Interner
	health    lastHealth
	started   time.Time // in whole seconds, like creation times of the API server
}

// New makes a reconciler on an open cloud.
func New(cloud providers.Bound, o Options) *Reconciler {
	cloud.Rules = cloud.Rules.WithOrders()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.GatherReleases <= 0 {
		o.GatherReleases = time.Second
	}
	if o.PlanTime <= 0 {
		o.PlanTime = time.Minute
	}
	if o.DriftInterval <= 0 {
		o.DriftInterval = 30 * time.Minute
	}
	if o.Join == nil {
		o.Join = engine.Background
	}
	if o.Engine.Join == nil {
		o.Engine.Join = func(of []context.Context) context.Context { return o.fenced(kit.WithJoint(o.Join(of), of)) }
	}
	o.Engine.Fence = o.Fence
	if o.Engine.Yield == nil {
		o.Engine.Yield = cloud.Yield
	}
	if o.Engine.Before == nil {
		o.Engine.Before = func(a, b context.Context) bool { return kit.TurnOf(a).Before(kit.TurnOf(b)) }
	}
	counts, trust := ledger.New(), observed.Options{Now: o.Now, Interval: o.DriftInterval}
	r := &Reconciler{
		cloud:     cloud,
		options:   o,
		ledger:    counts,
		reader:    newReader(cloud.Read, o.GatherReleases, o.Join),
		snapshots: observed.NewSnapshots(trust, func(s *snapshot) *observed.Snapshot { return &s.Snapshot }),
		observed:  observed.New(trust),
		refused:   newRefusedReplacements(o.Now),
		nodes:     nodeports.NewInterner(),
		started:   o.Now().Truncate(time.Second),
	}
	r.reader.each = cloud.EachRead
	r.engine = engine.New(r.observeWrites(cloud.Apply), counts, o.Engine)
	return r
}

// fenced returns the context with the fence, which the session asks when it sends a call:
// a batch may wait long for the rates of the cloud.
func (o Options) fenced(ctx context.Context) context.Context {
	if o.Fence == nil {
		return ctx
	}
	return providers.WithFence(ctx, o.Fence.Err)
}

// SetNodes replaces the nodes of the cluster.
func (r *Reconciler) SetNodes(nodes []nodeports.Node) { r.nodes.Update(nodes) }

// AllKnown declares that every LoadBalancer Service of the cluster has been
// drafted once; from now on shared entries may be removed.
func (r *Reconciler) AllKnown() { r.ledger.SetReady() }

// Forget drops everything cached for a deleted Service.
func (r *Reconciler) Forget(o stack.Owner) {
	r.snapshots.Drop(o)
	r.refused.drop(o)
	r.health.drop(o)
	r.ledger.Forget(o)
}

// Recheck makes the next draft of a Service read the cloud, as the check for drift does.
func (r *Reconciler) Recheck(o stack.Owner) { r.snapshots.Expire(o) }

// EnterUnknown enters a Service with an unknown desired state, so that no shared resource is
// deleted that it might use. A known desired state stays entered.
func (r *Reconciler) EnterUnknown(o stack.Owner) {
	if !r.ledger.Knows(o) {
		r.ledger.EnterUnknown(o, func(entry stack.Resource) bool { return r.cloud.MayWant(o, entry) })
	}
}

// Choose returns the kind of load balancer that the Service requests.
func (r *Reconciler) Choose(svc *corev1.Service) providers.Choice { return r.cloud.Choose(svc) }

// Outputs returns what the cloud writes on Services besides their addresses.
func (r *Reconciler) Outputs() providers.Outputs { return r.cloud.Outputs }

// WantsEndpoints reports whether Jobs must contain the EndpointSlices of their Service.
func (r *Reconciler) WantsEndpoints() bool { return r.cloud.Endpoints }

// WantsNamespaceLabels reports whether Jobs must contain the labels of their Service's
// namespace.
func (r *Reconciler) WantsNamespaceLabels() bool { return len(r.cloud.Labels.Namespace) > 0 }

// WantsObjects reports whether Services may refer to objects that Jobs must contain.
func (r *Reconciler) WantsObjects() bool { return r.cloud.Refers != nil }

// Annotations returns the cloud's declared annotations.
func (r *Reconciler) Annotations() *annotations.Set { return r.cloud.Annotations }

// OwnerOf returns a Service as an owner.
func OwnerOf(svc *corev1.Service) stack.Owner {
	return stack.Owner{Namespace: svc.Namespace, Name: svc.Name, UID: string(svc.UID)}
}

// NextRead returns how long the snapshot of a Service may still be used.
func (r *Reconciler) NextRead(o stack.Owner) time.Duration { return r.snapshots.Due(o) }

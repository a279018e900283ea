package reconcile

import (
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Job is one Service to work on.
type Job struct {
	Service *corev1.Service
	// Release means that nothing is wanted any more: the Service is deleted, or
	// is no longer one of ours. Its annotations are not read.
	Release bool
	// Slices are the Service's EndpointSlices, where the cloud asks for endpoints.
	Slices []*discoveryv1.EndpointSlice
	// Unmatched are addresses that were left out of them, because no Pod of the namespace has
	// them.
	Unmatched []netip.Addr
	// NamespaceLabels are the labels of the Service's namespace, where the cloud asks for them.
	NamespaceLabels map[string]string
	// Objects are the objects that the Service refers to, where the cloud asks for them.
	Objects map[providers.Reference]providers.Object
	// Applied is the digest of the request that the last clean run recorded on the Service.
	Applied string
	// NeverProvisioned means that nothing was ever created for the Service, by us or by an
	// official controller, so that no read is needed.
	NeverProvisioned bool
	// Look requests a read nevertheless, for a plan that shows existing resources.
	Look bool
	// NothingMade means that every run so far refused the Service and wrote nothing to the
	// cloud. As long as that is so, it can miss no shared resource, and a release waits for no
	// writes of a previous process.
	NothingMade bool
	// Foreign means that another controller created the Service's load balancer, and
	// that no run of ours has recorded anything on it yet.
	Foreign bool
}

// Intent is the purpose of a draft.
type Intent int

const (
	// Serve brings the cloud to the desired state.
	Serve Intent = iota
	// KeepServing retains existing resources and lets them follow the nodes, because the
	// request is invalid.
	KeepServing
	// Release deletes everything that the Service owns.
	Release
	// LeaveAlone changes nothing, because the request is invalid and no valid one is known.
	LeaveAlone
)

// Basis is the source of the observed stack, from the weakest to the best.
type Basis int

const (
	// Unknown: the draft has not observed anything.
	Unknown Basis = iota
	// Assumed: nothing exists, because nothing was ever created. Only resources were read whose
	// creation would not be refused.
	Assumed
	// Checked: a read showed that the load balancer exists, and its parts are assumed to be as
	// the last clean run left them.
	Checked
	// Remembered: the snapshot of an earlier run.
	Remembered
	// Read: everything that the Service may own was read for this draft.
	Read
)

// Draft is the plan for a Service, with the values that it follows from.
type Draft struct {
	Job      Job
	Intent   Intent
	Owner    stack.Owner
	Request  providers.Request
	Asked    string // digest of the request, whatever its backends are
	Digest   string // digest of the request and its backends
	Problems annotations.Problems
	// Refused are those Problems that are no mistake but not allowed.
	Refused annotations.Problems
	// Clean drafts have nothing to do by what is observed already: nothing was built or
	// compared.
	Clean bool
	View
	Want  *stack.Stack
	Found []stack.Key // the load balancers that clients could connect to before the run
	Plan  plan.Plan
	progress
}

// View is what a draft has observed.
type View struct {
	Have  *stack.Stack
	Facts providers.Facts
	Blind providers.Blind
	Basis Basis // of Have

	scope    providers.Scope // of the read
	origin   Basis           // of Have, when it was not yet Remembered
	looked   []stack.Kind
	shown    *stack.Stack  // of a release: Have with the resources of a later Service of the same name; nil: there is none
	manual   manualActions // from earlier runs on the same read
	read     time.Time     // when the read began that Have is based on
	unproven map[stack.Key]bool
}

// progress is what a draft needs besides its values.
type progress struct {
	last    recalled             // before the run; again after each read
	ended   func() error         // returns why the caller has stopped waiting for the draft; nil: it waits
	built   annotations.Problems // from the last build
	learned bool                 // a run has found out what the conditions report
	recheck bool                 // the last run left nothing to do, on the same input
	awaited bool                 // a deletion by another Service has ended since the draft began
}

// observe sets the observed stack.
func (v *View) observe(have *stack.Stack, at time.Time, basis Basis) {
	v.Have, v.read, v.Basis, v.origin, v.unproven = have, at, basis, basis, nil
}

// remember sets the observed stack to that of an earlier run.
func (d *Draft) remember() {
	d.observe(d.last.Have, d.last.At, Remembered)
	d.origin, d.manual, d.unproven = d.last.basis, d.last.manual, d.last.unproven
}

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
	// is no longer one of ours. Its annotations are not looked at.
	Release bool
	// Slices are the Service's EndpointSlices, where the cloud asks for endpoints.
	Slices []*discoveryv1.EndpointSlice
	// Strays are addresses that were left out of them, because no Pod of the namespace has
	// them.
	Strays []netip.Addr
	// NamespaceLabels are those of the Service's namespace, where the cloud asks for them.
	NamespaceLabels map[string]string
	// Objects are what is known of those that the Service refers to, where the cloud asks
	// for them.
	Objects map[providers.Reference]providers.Object
	// Applied is what the last clean run recorded on the Service: the digest of what it
	// asked for.
	Applied string
	// NeverProvisioned means that nothing was ever made for the Service, by us or by an
	// official controller: what only could be there need not be looked for.
	NeverProvisioned bool
	// Look at the cloud nevertheless, as a plan does that must show what is there.
	Look bool
	// NothingMade means that every run so far refused the Service and wrote nothing to
	// the cloud: as long as it stays so, there is nothing shared that it could miss, and a
	// release waits for no writes of a previous process.
	NothingMade bool
	// Foreign means that another controller made the Service's load balancer, and
	// that no run of ours has recorded anything on it yet.
	Foreign bool
}

// Intent is what a draft is for.
type Intent int

const (
	// Serve brings the cloud to what the Service asks for.
	Serve Intent = iota
	// KeepServing keeps what is there and lets it follow the nodes alone, because what
	// the Service asks for is not known.
	KeepServing
	// Release ends everything that the Service owns.
	Release
	// LeaveAlone makes no statement about the cloud, because the Service cannot be
	// understood and was never understood before.
	LeaveAlone
)

// Basis is how a draft knows what is in the cloud, from the weakest to the best.
type Basis int

const (
	// Unknown: the draft did not come so far.
	Unknown Basis = iota
	// Assumed: nothing is there, since nothing was ever made; only what a creation
	// would not be refused for was looked at.
	Assumed
	// Glimpsed: a list showed that the load balancer is there, and its parts are
	// believed to be as the last clean run left them.
	Glimpsed
	// Remembered: it is the snapshot of an earlier run.
	Remembered
	// Read: all that the Service may own was read for this draft.
	Read
)

// Draft is what would be done for a Service, and all that led to it.
type Draft struct {
	Job      Job
	Intent   Intent
	Basis    Basis // of Have
	Owner    stack.Owner
	Request  providers.Request
	Asked    string // digest of what the Service asks for, whatever stands behind it
	Digest   string // digest of that and of the nodes and pods behind it
	Problems annotations.Problems
	// Refused are those of the Problems that are no mistake but not allowed.
	Refused annotations.Problems
	// Clean drafts have nothing to do by what is already known: nothing was
	// built or compared.
	Clean      bool
	Have, Want *stack.Stack
	Facts      providers.Facts
	Blind      providers.Blind
	Found      []stack.Key // what clients could connect to before the run
	Plan       plan.Plan

	scope   providers.Scope // what was to be known when Have and Facts were loaded
	origin  Basis           // of Have, when it was not yet Remembered
	looked  []stack.Kind
	shown   *stack.Stack // of a release: Have with what a later Service of the same name has; nil: there is none
	manual  errands      // what earlier runs on the same read have left to others
	read    time.Time    // when the cloud was asked for Have
	strange map[stack.Key]bool
	ended   func() error         // reports that the caller has stopped waiting for the draft; nil: it waits
	built   annotations.Problems // from the last build
	learned bool                 // a run has found what the conditions report
	recheck bool                 // the last run left nothing to do, on the same input
}

// known takes over what is in the cloud, and how that is known.
func (d *Draft) known(have *stack.Stack, at time.Time, basis Basis) {
	d.Have, d.read, d.Basis, d.origin, d.strange = have, at, basis, basis, nil
}

// remembered takes over the snapshot of an earlier run.
func (d *Draft) remembered(snap snapshot) {
	d.known(snap.have, snap.read, Remembered)
	d.origin, d.manual, d.strange = snap.basis, snap.manual, snap.strange
}

package aws

import (
	"context"
	"slices"
	"sync"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// Read reads for many Services at once: first the lists that serve all of them,
// then, for what the lists show to be there, the few things that AWS tells of
// one load balancer or target group at a time. A Service that has nothing costs
// no call beyond the lists.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*Facts] {
	r := newRead(ctx, s, scopes)
	r.lists()
	r.describe()
	r.describeTargets()
	out := make([]providers.Found[*Facts], 0, len(scopes))
	for _, scope := range scopes {
		out = append(out, r.found(scope))
	}
	return out
}

// read is one Read at work. Fields are written by one goroutine each, or under mu.
type read struct {
	*Session
	ctx    context.Context
	scopes []providers.Scope

	classicLBs      map[string]elbtypes.LoadBalancerDescription // by name
	networkLBs      map[string]elbv2types.LoadBalancer          // by name
	classicMachines map[string][]string                         // ids of instances, by name of the Classic Load Balancer
	lastMachines    []string                                    // of the Classic Load Balancer before
	ownGroups       map[string]ec2types.SecurityGroup           // by name
	targetGroups    []elbv2types.TargetGroup                    // of found load balancers, and possible orphans
	groups          []NodeGroup
	groupNames      map[string]string // of groups that load balancers have for themselves, by id
	subnetList      []Subnet
	machines        map[string]Instance
	machinesAt      int                       // version of what is remembered of machines; 0: nobody asked for them
	factsFor        map[string]*Facts         // by the digest of a scope's nodes
	details         map[providers.Lookup]bool // whose details any scope wants

	mu          sync.Mutex
	failed      map[family]error // a list could not be read
	broken      map[string]error // details of one thing could not be read, by name or ARN
	gone        map[string]bool  // it vanished between the list and the details
	tags        map[string]Tags  // by Classic name or ARN
	attributes  map[string]Tags  // of Network Load Balancers and target groups, by ARN
	classicAttr map[string]ClassicAttributes
	listeners   map[string][]elbv2types.Listener // by load balancer ARN
	targets     map[string][]Target              // by target group ARN
}

// family is a list that can fail as a whole.
type family string

const (
	familyClassic family = "Classic Load Balancers"
	familyNetwork family = "Network Load Balancers"
	familyTargets family = "target groups"
	familyGroups  family = "security groups"
	familyNodes   family = "groups of nodes"
	familySubnets family = "subnets"
)

// blinds are the kinds that nobody sees when the list is denied; none for facts.
func (f family) blinds() []stack.Kind {
	switch f {
	case familyClassic:
		return []stack.Kind{KindClassic, KindClassicAttr, KindClassicBack, KindClassicCheck, KindClassicInst, KindClassicPol, KindClassicPort, KindClassicSSL}
	case familyNetwork:
		return []stack.Kind{KindListener, KindNetwork, KindNetworkAttr}
	case familyTargets:
		return []stack.Kind{KindTargetAttr, KindTargetGroup, KindTargets}
	case familyGroups:
		return []stack.Kind{KindGroup, KindIngress}
	default: // facts: without them nothing can be built
		return nil
	}
}

func newRead(ctx context.Context, s *Session, scopes []providers.Scope) *read {
	details := map[providers.Lookup]bool{}
	for _, scope := range scopes {
		if scope.Depth == providers.Deep {
			for _, l := range scope.Own {
				details[l] = true
			}
		}
	}
	return &read{
		Session: s, ctx: ctx, scopes: scopes, details: details,
		failed: map[family]error{}, broken: map[string]error{}, gone: map[string]bool{},
		tags: map[string]Tags{}, attributes: map[string]Tags{}, classicAttr: map[string]ClassicAttributes{},
		listeners: map[string][]elbv2types.Listener{}, targets: map[string][]Target{}, factsFor: map[string]*Facts{},
	}
}

// lists makes the calls that serve all scopes.
func (r *read) lists() {
	r.all(
		task{familyClassic, r.listClassic},
		task{familyNetwork, r.listNetwork},
		task{familyGroups, r.listGroups},
		task{familyTargets, r.listTargetGroups},
		task{familySubnets, r.listSubnets},
		task{familyNodes, r.listNodes},
	)
}

type task struct {
	family family
	run    func() error
}

func (r *read) all(tasks ...task) {
	forEach(tasks, func(t task) {
		if err := t.run(); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.failed[t.family] = err
		}
	})
}

// describe reads what the lists do not show of load balancers.
func (r *read) describe() {
	r.work(slices.Concat(r.classicJobs(), r.networkJobs(), r.referringJobs()))
}

// job reads something of one or more things; of names the things for faults.
type job struct {
	of  []string
	run func() error
}

func (r *read) work(jobs []job) {
	forEach(jobs, func(j job) {
		err := j.run()
		if err == nil {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, name := range j.of {
			if fault.Is(err, fault.NotFound) && len(j.of) == 1 {
				r.gone[name] = true
				continue
			}
			r.broken[name] = err
		}
	})
}

// keep runs f under the lock that the maps of details need.
func (r *read) keep(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// values lists what the scopes look up, each value once.
func (r *read) values(kind stack.Kind, by string) []string {
	var out []string
	for _, scope := range r.scopes {
		out = append(out, lookups(scope.Own, kind, by)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deep tells whether any scope wants details of what it finds under the value.
func (r *read) deep(kind stack.Kind, by, value string) bool {
	return r.details[providers.Lookup{Kind: kind, By: by, Value: value}]
}

func lookups(list []providers.Lookup, kind stack.Kind, by string) []string {
	var out []string
	for _, l := range list {
		if l.Kind == kind && l.By == by {
			out = append(out, l.Value)
		}
	}
	return out
}

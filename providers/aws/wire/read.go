package wire

import (
	"context"
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Read reads for many Services at once: first the lists that serve all of them,
// then, for what the lists show to be there, the few things that AWS tells of
// one load balancer or target group at a time. A Service that has nothing costs
// no call beyond the lists.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	r := newRead(ctx, s, scopes)
	r.lists()
	r.listVanished()
	r.attach()
	r.describe()
	r.describeTargets()
	out := make([]providers.Found[*model.Facts], 0, len(scopes))
	for _, scope := range scopes {
		out = append(out, r.found(scope))
	}
	return out
}

// read is one Read at work. Fields are written by one goroutine each, or under the lock
// of the batch. Things are known to it by name, id or ARN.
type read struct {
	*Session
	ctx    context.Context
	scopes []providers.Scope

	classicLBs    map[string]elbtypes.LoadBalancerDescription // by name
	networkLBs    map[string]elbv2types.LoadBalancer          // by name
	stackLBs      map[string]string                           // names of load balancers of kind LBC, by their Service
	listed        listing                                     // of the load balancers but Classic ones
	groupLBs      map[string]elbv2types.LoadBalancer          // of groups of Services, by the group, and of others, by name
	given         map[string]model.Given                      // load balancers that Services name, by name
	attached      map[string][]elbv2types.TargetGroup         // target groups by the load balancer of a group
	fronts        map[string]ec2types.SecurityGroup           // by which clients come to those, by name
	namedGroupIDs map[string][]string                         // groups by the tag Name
	sourceGroups
	classicMachines map[string][]string               // ids of instances, by name of the Classic Load Balancer
	lastMachines    []string                          // of the Classic Load Balancer before
	ownGroups       map[string]ec2types.SecurityGroup // by name
	targetGroups    []elbv2types.TargetGroup          // of found load balancers, and possible orphans
	inUse           []elbv2types.TargetGroup          // on any load balancer; nil once they are sorted
	groups          []model.NodeGroup
	groupNames      map[string]string // of groups that load balancers have for themselves, by id
	subnetList      []model.Subnet
	machines        map[string]model.Instance
	podGroups       map[string][]string       // of pods with network interfaces of their own, by address
	serversAt       int                       // version of what is remembered of ids for QUIC
	podsUnseen      bool                      // they may not be asked for
	podsAt          int                       // version of what is remembered of those
	machinesAt      int                       // version of the cached machines; 0: not asked for
	factsFor        map[string]*model.Facts   // by the digest of a scope's nodes
	details         map[providers.Lookup]bool // whose details any scope wants
	parts           map[partLookup]bool       // of those, what takes a call for each load balancer

	*kit.ReadBatch                       // its lock is that of all below
	tags           map[string]model.Tags // by Classic name or ARN
	attributes     map[string]model.Tags // of Network Load Balancers and target groups, by ARN
	inherent       map[partOf]stack.Spec // parts of load balancers and listeners
	classicAttr    map[string]model.ClassicAttributes
	listeners      map[string][]elbv2types.Listener // by load balancer ARN
	targets        map[string][]model.Target        // by target group ARN
	checking       map[string]bool                  // target groups of which no target is healthy, while first checks go on
}

// listing is what was listed of a kind of load balancer.
type listing struct {
	all    map[string]bool // ARNs; nil: not all were listed
	narrow bool            // only the requested ones were listed
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
	familyPods    family = "pods of QUIC ports"
	familyLimits  family = "account limits" // no Service fails for them
)

// blinds are the kinds that cannot be read when the list is denied; none for facts.
func (f family) blinds() []stack.Kind {
	switch f {
	case familyClassic:
		return []stack.Kind{model.KindClassic, model.KindClassicAttr, model.KindClassicBack, model.KindClassicCheck, model.KindClassicInst, model.KindClassicPol, model.KindClassicPort, model.KindClassicSSL}
	case familyNetwork:
		return append(model.PartKinds(), model.KindListener, model.KindNetwork, model.KindNetworkAttr, model.KindSharedNetwork)
	case familyTargets:
		return []stack.Kind{model.KindTargetAttr, model.KindTargetGroup, model.KindTargets}
	case familyGroups:
		return []stack.Kind{model.KindGroup, model.KindIngress, model.KindSharedGroup}
	default: // facts: without them nothing can be built
		return nil
	}
}

func newRead(ctx context.Context, s *Session, scopes []providers.Scope) *read {
	details, parts := map[providers.Lookup]bool{}, map[partLookup]bool{}
	for _, scope := range scopes {
		if scope.Depth != providers.Deep {
			continue
		}
		for _, l := range scope.Own {
			details[l] = true
			for _, kind := range []stack.Kind{model.KindClassicAttr, model.KindListener, model.KindNetworkAttr} {
				parts[partLookup{l, kind}] = parts[partLookup{l, kind}] || readsKind(scope, kind)
			}
		}
	}
	return &read{
		Session: s, ReadBatch: kit.NewReadBatch(), ctx: ctx, scopes: scopes, details: details, parts: parts,
		tags: map[string]model.Tags{}, attributes: map[string]model.Tags{}, classicAttr: map[string]model.ClassicAttributes{},
		inherent:  map[partOf]stack.Spec{},
		listeners: map[string][]elbv2types.Listener{}, targets: map[string][]model.Target{}, checking: map[string]bool{}, factsFor: map[string]*model.Facts{},
	}
}

// lists makes the calls that serve all scopes.
func (r *read) lists() {
	r.Lists(
		listOf(familyClassic, r.listClassic),
		listOf(familyNetwork, r.listNetwork),
		listOf(familyGroups, r.listGroups),
		listOf(familyTargets, r.listTargetGroups),
		listOf(familySubnets, r.listSubnets),
		listOf(familyNodes, r.listNodes),
		listOf(familyPods, r.listServers),
		listOf(familyLimits, r.listLimits),
	)
}

func listOf(f family, run func() error) kit.List {
	return kit.List{Name: string(f), Blinds: f.blinds(), Run: run}
}

// describe reads what the lists do not show of load balancers.
func (r *read) describe() {
	r.Details(slices.Concat(r.classicJobs(), r.networkJobs(), r.referringJobs(), r.sourceJobs()))
}

// values lists what the scopes look up, each value once.
func (r *read) values(kind stack.Kind, by string) []string {
	var out []string
	for _, scope := range r.scopes {
		out = append(out, lookupValues(scope.Own, kind, by)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deep reports whether any scope wants details of what it finds under the value.
func (r *read) deep(kind stack.Kind, by, value string) bool {
	return r.details[providers.Lookup{Kind: kind, By: by, Value: value}]
}

// partLookup is a part of what is looked up.
type partLookup struct {
	of   providers.Lookup
	part stack.Kind
}

// readsKind reports whether a scope reads resources of the kind.
func readsKind(scope providers.Scope, kind stack.Kind) bool {
	return len(scope.Only) == 0 || slices.Contains(scope.Only, kind)
}

// deepPart is deep for a part of what a scope finds under the value.
func (r *read) deepPart(kind stack.Kind, by, value string, part stack.Kind) bool {
	return r.parts[partLookup{providers.Lookup{Kind: kind, By: by, Value: value}, part}]
}

func lookupValues(list []providers.Lookup, kind stack.Kind, by string) []string {
	var out []string
	for _, l := range list {
		if l.Kind == kind && l.By == by {
			out = append(out, l.Value)
		}
	}
	return out
}

package wire

import (
	"context"
	"slices"

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
	r.networks.listVanished()
	r.networks.leaveDeleted()
	r.describe()
	r.describeTargets()
	out := make([]providers.Found[*model.Facts], 0, len(scopes))
	for _, scope := range scopes {
		out = append(out, r.found(scope))
	}
	return out
}

// read is one Read at work: what it asks, and what each API has shown. What lists show is
// written by one goroutine each, and details under the lock of the batch.
type read struct {
	*query
	classics *classicRead
	networks *networkRead
	vpc      *vpcRead
}

// query is what one Read asks.
type query struct {
	*Session
	*kit.ReadBatch
	ctx    context.Context
	scopes []providers.Scope
	deep   []providers.Scope // those of the scopes that want details
}

func newRead(ctx context.Context, s *Session, scopes []providers.Scope) *read {
	q := &query{Session: s, ReadBatch: kit.NewReadBatch(), ctx: ctx, scopes: scopes}
	for _, scope := range scopes {
		if scope.Depth == providers.Deep {
			q.deep = append(q.deep, scope)
		}
	}
	return &read{query: q, classics: newClassicRead(q), networks: newNetworkRead(q), vpc: newVPCRead(q)}
}

// Lists that can fail as a whole.
const (
	familyClassic = "Classic Load Balancers"
	familyNetwork = "Network Load Balancers"
	familyTargets = "target groups"
	familyGroups  = "security groups"
	familyNodes   = "groups of nodes"
	familySubnets = "subnets"
	familyPods    = "pods of QUIC ports"
	familyLimits  = "account limits" // no Service fails for them
)

// blindsOf returns the kinds that cannot be read when the list is denied; none for facts.
func blindsOf(list string) []stack.Kind {
	switch list {
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

// lists makes the calls that serve all scopes.
func (r *read) lists() {
	r.Lists(
		listOf(familyClassic, r.classics.listClassic),
		listOf(familyNetwork, r.networks.listNetwork),
		listOf(familyGroups, r.vpc.listGroups),
		listOf(familyTargets, r.networks.listTargetGroups),
		listOf(familySubnets, r.vpc.listSubnets),
		listOf(familyNodes, r.vpc.listNodes),
		listOf(familyPods, r.vpc.listServers),
		listOf(familyLimits, r.vpc.listLimits),
	)
	r.vpc.shared.Given = r.networks.given
}

func listOf(name string, run func() error) kit.List {
	return kit.List{Name: name, Blinds: blindsOf(name), Run: run}
}

// describe reads what the lists do not show of load balancers and of groups of nodes.
func (r *read) describe() {
	r.Details(slices.Concat(r.classics.classicJobs(), r.networks.networkJobs(), r.vpc.referringJobs(), r.vpc.sourceJobs()))
}

// describeTargets reads details of target groups and listeners of Services, which only tags show.
func (r *read) describeTargets() {
	r.Details(slices.Concat(r.networks.targetJobs(), r.networks.partJobs(), r.networks.tagJobs(), r.networks.frontJobs()))
}

// values lists what the scopes look up, each value once.
func (q *query) values(kind stack.Kind, by string) []string { return valuesIn(q.scopes, kind, by) }

func valuesIn(scopes []providers.Scope, kind stack.Kind, by string) []string {
	var out []string
	for _, scope := range scopes {
		out = append(out, lookupValues(scope.Own, kind, by)...)
	}
	return eachOnce(out)
}

// factValues lists what builds look up.
func (q *query) factValues(kind stack.Kind, by string) []string {
	var out []string
	for _, scope := range q.scopes {
		out = append(out, lookupValues(scope.Facts, kind, by)...)
	}
	return eachOnce(out)
}

// readsKind reports whether a scope reads resources of the kind.
func readsKind(scope providers.Scope, kind stack.Kind) bool {
	return len(scope.Only) == 0 || slices.Contains(scope.Only, kind)
}

func selectReading(scopes []providers.Scope, kind stack.Kind) []providers.Scope {
	return slices.DeleteFunc(slices.Clone(scopes), func(s providers.Scope) bool { return !readsKind(s, kind) })
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

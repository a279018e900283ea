package wire

import (
	"context"
	"slices"
	"strings"
	"sync"

	"cloud.google.com/go/compute/apiv1/computepb"
	raw "google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
)

// Read reads for many Services at once: one list for every collection, whatever
// the number of Services, and then the members of those groups that belong to an
// answer, which the cloud tells of one group at a time.
func (s *Session) Read(ctx context.Context, scopes []providers.Scope) []providers.Found[*model.Facts] {
	s.distrust(scopes)
	r := newRead(ctx, s, scopes)
	r.learnFacts()
	r.lists()
	r.learnReserved()
	r.learnRules()
	views := make([]*view, 0, len(scopes))
	for _, scope := range scopes {
		views = append(views, r.view(scope))
	}
	r.readMembers(views)
	out := make([]providers.Found[*model.Facts], 0, len(scopes))
	for _, v := range views {
		out = append(out, r.found(v))
	}
	return out
}

// distrust drops the cached members of groups with a machine that was recreated under
// its name: the cloud removes deleted machines from them.
// Source: Compute Engine documentation, unmanaged instance groups.
func (s *Session) distrust(scopes []providers.Scope) {
	for _, scope := range scopes {
		if back := s.nodes.cameBack(scope.Nodes); len(back) > 0 {
			s.groups.ForgetWhere(func(_ string, names []string) bool {
				return slices.ContainsFunc(names, func(n string) bool { return back[n] })
			})
			s.points.ForgetWhere(func(_ string, all []model.Endpoint) bool {
				return slices.ContainsFunc(all, func(e model.Endpoint) bool { return back[e.Instance] })
			})
			s.doubts.unfit.Forget()
		}
	}
}

// read is one Read at work. What several goroutines write is under mu.
type read struct {
	*Session
	ctx    context.Context
	scopes []providers.Scope
	learned

	mu        sync.Mutex
	objects   map[family]map[string]object // that the lists brought, by path
	asked     map[family]bool              // lists that were asked for
	failed    map[family]error
	blind     providers.Blind             // part of what they are in could not be reached
	users     map[string]bool             // paths that a backend service anywhere in the project refers to
	unsure    map[family]bool             // not all of the project is known, so no resource counts as unused
	broken    map[string]error            // members of one group could not be read, by path
	members   map[string][]string         // of instance groups, by path
	endpoints map[string][]model.Endpoint // of endpoint groups, by path
}

// object is what a list brings.
type object interface {
	GetName() string
	GetSelfLink() string
	GetDescription() string
}

// httpCheck is a check of the older library as an object.
type httpCheck struct{ *raw.HttpHealthCheck }

func (c httpCheck) GetName() string        { return c.Name }
func (c httpCheck) GetSelfLink() string    { return c.SelfLink }
func (c httpCheck) GetDescription() string { return c.Description }

// keep notes an object that a list brought.
func (r *read) keep(f family, o object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.objects[f] == nil {
		r.objects[f] = map[string]object{}
	}
	r.objects[f][model.PathOf(o.GetSelfLink())] = o
}

// keepIn notes an object of a list over all scopes, if it is in one of ours. Groups may be in
// zones of the region that are not managed any more.
func (r *read) keepIn(f family, where string, o object) {
	if where == scopeGlobal || where == r.ownRegion() || r.isRegionZone(where) {
		r.keep(f, o)
	}
}

// listed returns the object of a name that a list brought, nil if there is none.
func (r *read) listed(kind stack.Kind, name string) object {
	return r.objects[familyOf(kind)][r.path(kind, name)]
}

// learned are facts of this read.
type learned struct {
	zones    []string
	subnets  []model.Subnet
	machines map[string]model.Instance
	unfit    map[string]string
	others   []string // paths of groups
	reserved []*computepb.Address
	// neighbours are all forwarding rules of the region; empty unless a scope asks for them.
	neighbours []*computepb.ForwardingRule
}

func newRead(ctx context.Context, s *Session, scopes []providers.Scope) *read {
	scopes = slices.Clone(scopes)
	for i := range scopes {
		scopes[i].Own = relevantLookups(scopes[i])
	}
	return &read{
		Session: s, ctx: ctx, scopes: scopes, objects: map[family]map[string]object{},
		asked: map[family]bool{}, failed: map[family]error{}, blind: providers.Blind{}, users: map[string]bool{}, unsure: map[family]bool{},
		broken: map[string]error{}, members: map[string][]string{}, endpoints: map[string][]model.Endpoint{},
	}
}

// relevantLookups returns the look-ups of a scope that matter to it.
func relevantLookups(scope providers.Scope) []providers.Lookup {
	if len(scope.Only) == 0 {
		return scope.Own
	}
	return slices.DeleteFunc(slices.Clone(scope.Own), func(l providers.Lookup) bool {
		if l.Kind == model.KindRules {
			return !slices.ContainsFunc(familyRules.kinds(), func(k stack.Kind) bool { return slices.Contains(scope.Only, k) })
		}
		return !slices.Contains(scope.Only, l.Kind)
	})
}

// family is a list that can fail as a whole.
type family string

const (
	familyRules      family = "forwarding rules"
	familyAddresses  family = "addresses"
	familyPools      family = "target pools"
	familyBackends   family = "backend services"
	familyChecks     family = "health checks"
	familyHTTPChecks family = "http health checks"
	familyFirewalls  family = "firewalls"
	familyGroups     family = "instance groups"
	familyNEGs       family = "network endpoint groups"
	familyZones      family = "zones"
	familySubnets    family = "subnetworks"
	familyInstances  family = "instances"
	familyReserved   family = "reserved addresses"
	familyOthers     family = "instance groups of others"
)

// familyOf is the list that brings a kind, or answers its look-ups; empty for facts.
func familyOf(kind stack.Kind) family {
	switch kind {
	case model.KindRules, model.KindExternalRule, model.KindInternalRule:
		return familyRules
	case model.KindAddress:
		return familyAddresses
	case model.KindPool:
		return familyPools
	case model.KindBackend:
		return familyBackends
	case model.KindCheck, model.KindRegionalCheck:
		return familyChecks
	case model.KindHTTPCheck:
		return familyHTTPChecks
	case model.KindFirewall, model.KindCheckFirewall, model.KindDeny:
		return familyFirewalls
	case model.KindGroup:
		return familyGroups
	case model.KindNEG:
		return familyNEGs
	}
	return ""
}

// kinds are the kinds that cannot be read when the list fails; none for facts, without which
// nothing can be built.
func (f family) kinds() []stack.Kind {
	all := []stack.Kind{
		model.KindExternalRule, model.KindInternalRule, model.KindAddress, model.KindPool, model.KindBackend, model.KindCheck, model.KindRegionalCheck,
		model.KindHTTPCheck, model.KindFirewall, model.KindCheckFirewall, model.KindDeny, model.KindGroup, model.KindNEG,
	}
	return slices.DeleteFunc(all, func(k stack.Kind) bool { return familyOf(k) != f })
}

// lists makes the calls that serve all scopes.
func (r *read) lists() {
	kit.ForEach([]task{
		{familyRules, r.listRules},
		{familyAddresses, r.listAddresses},
		{familyPools, r.listPools},
		{familyBackends, r.listBackends},
		{familyChecks, r.listChecks},
		{familyHTTPChecks, r.listHTTPChecks},
		{familyFirewalls, r.listFirewalls},
		{familyGroups, r.listGroups},
		{familyNEGs, r.listNEGs},
	}, r.attempt)
	if r.mustSeeAllRules() {
		r.attempt(task{familyRules, r.listAllRules})
	}
}

type task struct {
	family family
	run    func([]string) error
}

// attempt lists what the scopes look up in the family, if they do.
func (r *read) attempt(t task) {
	wanted := r.wanted(t.family)
	if len(wanted) == 0 {
		return
	}
	r.mu.Lock()
	r.asked[t.family] = true
	r.mu.Unlock()
	if err := t.run(wanted); err != nil {
		r.fail(t.family, err)
	}
}

func (r *read) fail(f family, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[f] = err
}

// wanted are the names and patterns that are looked up in the family, each once.
// Shallow scopes want to see forwarding rules and nothing else.
func (r *read) wanted(f family) []string {
	var out []string
	for _, scope := range r.scopes {
		if scope.Depth != providers.Deep && f != familyRules {
			continue
		}
		for _, l := range scope.Own {
			switch {
			case familyOf(l.Kind) == f:
				out = append(out, l.Value)
			case f == familyChecks && l.Kind == model.KindCheckFirewall && l.By == model.ByUse:
				// Whether a shared firewall is in use, its checks tell.
				for _, k := range model.FirewallChecks(l.Value) {
					if familyOf(k.Kind) == f {
						out = append(out, k.Name)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// byUses reports whether any scope asks for shared resources of the kind by their use.
func (r *read) byUses(kinds ...stack.Kind) bool {
	return slices.ContainsFunc(r.scopes, func(scope providers.Scope) bool {
		return scope.Depth == providers.Deep && slices.ContainsFunc(scope.Own, func(l providers.Lookup) bool {
			return l.By == model.ByUse && slices.Contains(kinds, l.Kind)
		})
	})
}

// longestFilter bounds a filter, since it is a part of a URL.
const longestFilter = 2000

// filterOf returns a filter for names, or for every text of the form of load balancers'
// names if there are too many. A list without names has no filter.
func filterOf(names []string) *string {
	if len(names) == 0 {
		return nil
	}
	filter := `name eq "(` + strings.ReplaceAll(strings.Join(names, "|"), "*", hexDigits) + `)"`
	if len(filter) > longestFilter {
		filter = `name eq "(a[0-9a-f]{31}.*|k8s.*)"`
	}
	return &filter
}

// hexDigits is what "*" stands for in patterns of names.
const hexDigits = "[0-9a-f]{6}"

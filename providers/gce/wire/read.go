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

// read is one Read at work. Collections are written by one goroutine each, the
// rest under mu.
type read struct {
	*Session
	ctx    context.Context
	scopes []providers.Scope
	collections
	learned

	mu        sync.Mutex
	asked     map[family]bool // lists that were asked for
	failed    map[family]error
	blind     providers.Blind             // part of what they are in could not be reached
	users     map[string]bool             // paths that a backend service anywhere in the project refers to
	unsure    map[family]bool             // not all of the project is known, so no resource counts as unused
	broken    map[string]error            // members of one group could not be read, by path
	members   map[string][]string         // of instance groups, by path
	endpoints map[string][]model.Endpoint // of endpoint groups, by path
}

// collections are what the lists brought: regional and global things by name,
// zonal ones by zone and name.
type collections struct {
	forwarding   map[string]*computepb.ForwardingRule
	addressList  map[string]*computepb.Address
	pools        map[string]*computepb.TargetPool
	backends     map[string]*computepb.BackendService
	checks       map[string]*computepb.HealthCheck
	regionChecks map[string]*computepb.HealthCheck
	httpChecks   map[string]*raw.HttpHealthCheck
	firewalls    map[string]*computepb.Firewall
	groupList    map[spot]*computepb.InstanceGroup
	negs         map[spot]*computepb.NetworkEndpointGroup
}

// spot is where a zonal thing is.
type spot struct{ zone, name string }

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
		Session: s, ctx: ctx, scopes: scopes,
		collections: collections{
			forwarding: map[string]*computepb.ForwardingRule{}, addressList: map[string]*computepb.Address{}, pools: map[string]*computepb.TargetPool{},
			backends: map[string]*computepb.BackendService{}, checks: map[string]*computepb.HealthCheck{}, regionChecks: map[string]*computepb.HealthCheck{},
			httpChecks: map[string]*raw.HttpHealthCheck{}, firewalls: map[string]*computepb.Firewall{},
			groupList: map[spot]*computepb.InstanceGroup{}, negs: map[spot]*computepb.NetworkEndpointGroup{},
		},
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

// kinds are the kinds that cannot be read when the list fails; none for facts.
func (f family) kinds() []stack.Kind {
	switch f {
	case familyRules:
		return []stack.Kind{model.KindExternalRule, model.KindInternalRule}
	case familyAddresses:
		return []stack.Kind{model.KindAddress}
	case familyPools:
		return []stack.Kind{model.KindPool}
	case familyBackends:
		return []stack.Kind{model.KindBackend}
	case familyChecks:
		return []stack.Kind{model.KindCheck, model.KindRegionalCheck}
	case familyHTTPChecks:
		return []stack.Kind{model.KindHTTPCheck}
	case familyFirewalls:
		return []stack.Kind{model.KindCheckFirewall, model.KindDeny, model.KindFirewall}
	case familyGroups:
		return []stack.Kind{model.KindGroup}
	case familyNEGs:
		return []stack.Kind{model.KindNEG}
	default: // facts: without them nothing can be built
		return nil
	}
}

// lookedUp are the kinds of look-ups that a list answers.
func (f family) lookedUp() []stack.Kind {
	if f == familyRules {
		return []stack.Kind{model.KindRules}
	}
	return f.kinds()
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
	kinds := f.lookedUp()
	var out []string
	for _, scope := range r.scopes {
		if scope.Depth != providers.Deep && f != familyRules {
			continue
		}
		for _, l := range scope.Own {
			switch {
			case slices.Contains(kinds, l.Kind):
				out = append(out, l.Value)
			case f == familyChecks && l.Kind == model.KindCheckFirewall && l.By == model.ByUse:
				// Whether a shared firewall is in use, its checks tell.
				for _, k := range model.FirewallChecks(l.Value) {
					if slices.Contains(kinds, k.Kind) {
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

package model

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/test/laws"
)

// seenIn lists, for an order or mechanism, the beginnings of moves in which a law is broken
// without it.
var seenIn = map[string]string{
	"edges: clients are allowed before all others are denied":                    "web: internal -> internal deny",
	"edges: clients are allowed until no others are denied":                      "web: internal deny -> internal",
	"edges: without the entry that denies, the network would reach the frontend": "web: internal deny -> (none)",
	"mechanism: no address is known to be one Service's alone":                   "web: internal deny -> (none)",
	"mechanism: leftovers are not found":                                         "web: gateway -> ranges",
	"role: load-balancer-entries is no entry point":                              "web: internal ranges -> ranges",
	"role: security-rule-entry is no admits":                                     "web: ports -> second",
	"mechanism: entries always follow the rule":                                  "web: second -> gateway",
	"mechanism: entries of the old address are deleted at once":                  "web: second -> ranges",
	"mechanism: no stack is incomplete":                                          "web: internal ranges -> ranges",
	"mechanism: load balancers are left without a switch":                        "web: internal ranges -> ranges",
	"mechanism: a frontend moves before Azure has assigned its address":          "web: second -> ranges",
	"mechanism: ports are not bridged":                                           "web: internal ports -> internal deny",
}

const (
	noFlows     = "private link services have no flows"
	nextPlan    = "the next plan does what Azure refuses in another order"
	switchWaits = "a switch waits for every create and update"
	foreseen    = "conflicts that were read are refused before; TestTakenPortIsNotOpened has one that was not"
)

// idleOrders says of the others why the laws hold without them.
var idleOrders = map[string]string{
	"edges: a pool is created by name with the rules that refer to it, in their PUT": nextPlan,
	"edges: a pool is deleted once no rule refers to it":                             nextPlan,
	"edges: the owner in the tags of the address is whose the entry is":              "public IPs of Services are not shared here; TestCrash has those",
	"edges: an address is closed before it is released":                              "no other Service gets the address in between; TestUserAddressIsClosed has that",
	"edges: a frontend cannot move while a private link service refers to it":        noFlows,
	"edges: a private link service is created on the frontend in its new place":      noFlows,
	"restore: private-link-service is not restored":                                  noFlows,
	"order: private-link-service is created before it is deleted":                    noFlows,
	"impact: private-link-service does not mark replace":                             noFlows,
	"impact: private-link-service does not mark delete":                              noFlows,
	"role: backend-pool is no members":                                               switchWaits,
	"role: pool-nics is no members":                                                  switchWaits,
	"role: pool-scale-set is no members":                                             switchWaits,
	"role: load-balancer-entries is no port":                                         foreseen,
	"order: security-rule-entry is widened first":                                    foreseen,
	"evidence: security-rule-entry is proven by nothing":                             "entries for an address that is gone are found as leftovers; TestCrash has the others",
	"impact: load-balancer-entries does not mark delete":                             "a load balancer is left without a successor only when its Service is deleted",
	"impact: load-balancer-entries does not mark Frontends":                          "the new address serves from the same call on",
	"impact: public-ip does not mark delete":                                         "nothing serves at a public IP that is deleted",
	"mechanism: backends do not follow a refused step":                               "Services share pools, and only what one of them owns follows in place of a refused step",
}

// idleInterfaces does so for pools of network interfaces.
var idleInterfaces = map[string]string{
	"edges: machines can join a pool once it exists":                                      nextPlan,
	"edges: a load balancer with machines in it cannot be deleted with its last frontend": nextPlan,
	"edges: the new load balancer serves before the old one loses its machines":           switchWaits,
	"edges: the old load balancer is left once machines are behind the new one":           "machines that are gone count as serving, so a pool of yesterday's serves as well",
}

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms for load balancers
// of nodes, a law is broken, or it is said why not. Pools of pods have no flows.
func TestLawsSeeEveryMechanism(t *testing.T) {
	kinds := balancerRules()
	maps.Copy(kinds, otherRules())
	fresh := func() *laws.Subject {
		s, other := publicLaws(t), internalLaws(t)
		for _, c := range other.Cases {
			if strings.Contains(c.Name, "internal") {
				s.Cases = append(s.Cases, c)
			}
		}
		s.Neighbours, s.Known = [][2]string{{"public", "public"}}, append(s.Known, other.Known...)
		// This exception is about shared addresses, and would hide most mutations elsewhere.
		s.Known = slices.DeleteFunc(s.Known, func(k laws.Known) bool { return k.Reason == sharedFirst })
		return s
	}
	bounds := laws.Bounds{Moves: 3, Pairs: 1}
	laws.Mutate(t, diff.Rules{Kinds: kinds, Edges: orderEdges()}, listMechanisms(),
		laws.MutationSet{Fresh: fresh, Bounds: bounds, Seen: seenIn, Idle: idleOrders},
		laws.MutationSet{Fresh: func() *laws.Subject { return interfaceLaws(t) }, Bounds: bounds, Idle: idleInterfaces})
}

// listMechanisms returns mutations of what is no rule.
func listMechanisms() []laws.Mutation {
	change := func(f func(have, want *stack.Stack)) func(*laws.Subject) {
		return func(s *laws.Subject) {
			for i, c := range s.Cases {
				s.Cases[i].Build = func(w *laws.World, o stack.Owner, day laws.Day, have *stack.Stack) *stack.Stack {
					want := c.Build(w, o, day, have)
					if want != nil {
						f(have, want)
					}
					return want
				}
			}
		}
	}
	read := func(f func(*stack.Resource)) func(*laws.Subject) {
		return func(s *laws.Subject) {
			whole := s.Read
			s.Read = func(w *laws.World, view *stack.Stack) *stack.Stack {
				out := whole(w, view)
				for i := range out.Resources {
					f(&out.Resources[i])
				}
				return out
			}
		}
	}
	return []laws.Mutation{
		{Name: "mechanism: entries always follow the rule", Apply: change(func(_, want *stack.Stack) {
			for i, r := range want.Resources {
				if a, ok := r.Spec.(Access); ok {
					a.AfterRule = true
					want.Resources[i].Spec = a
				}
			}
		})},
		{Name: "mechanism: no stack is incomplete", Apply: change(func(_, want *stack.Stack) { want.Incomplete = "" })},
		{Name: "mechanism: a frontend moves before Azure has assigned its address", Apply: change(moveAtOnce)},
		{Name: "mechanism: load balancers are left without a switch", Apply: func(s *laws.Subject) {
			rule := s.Rules.Kinds[KindEntries]
			rule.Single = false
			s.Rules.Kinds = maps.Clone(s.Rules.Kinds)
			s.Rules.Kinds[KindEntries] = rule
		}},
		{Name: "mechanism: no address is known to be one Service's alone", Apply: read(func(r *stack.Resource) {
			if a, ok := r.Spec.(Access); ok {
				a.Alone = false
				r.Spec = a
			}
		})},
		{Name: "mechanism: leftovers are not found", Apply: read(func(r *stack.Resource) {
			if r.Proof == stack.Leftover {
				r.Proof = stack.None
			}
		})},
		{Name: "mechanism: ports are not bridged", Apply: change(func(_, want *stack.Stack) {
			want.Resources = slices.DeleteFunc(slices.Clone(want.Resources), func(r stack.Resource) bool {
				a, ok := r.Spec.(Access)
				return ok && slices.Equal(a.Sources, []string{sourceNetwork})
			})
		})},
		{Name: "mechanism: entries of the old address are deleted at once", Apply: change(func(_, want *stack.Stack) {
			if want.Incomplete != "" {
				want.Resources = slices.DeleteFunc(slices.Clone(want.Resources), func(r stack.Resource) bool { return r.Key.Kind == KindAccess })
			}
		})},
	}
}

// moveAtOnce has the frontend refer to the public IP that the stack creates.
func moveAtOnce(have, want *stack.Stack) {
	for _, ip := range want.Of(KindPublicIP) {
		if _, exists := have.Get(ip.Key); exists || want.Incomplete == "" {
			continue
		}
		for i, r := range want.Resources {
			if e, ok := r.Spec.(Entries); ok {
				e.Frontends = slices.Clone(e.Frontends)
				e.Frontends[0].PublicIP, e.Frontends[0].Address = stack.RefTo(ip.Key), ""
				want.Resources[i].Spec = e
			}
		}
	}
}

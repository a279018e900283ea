package model

import (
	"slices"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/laws"
)

// seenOlder and seenNewer list, for an order or mechanism, the beginnings of moves in which a
// law is broken without it.
var (
	seenOlder = map[string]string{
		"edges: a port of an address may be another Service's until the forwarding rule for it exists": "web: ig here -> ig ports",
		"impact: external-forwarding-rule does not mark replace":                                       "web: pool -> pool here",
		"impact: external-forwarding-rule does not mark delete":                                        "web: pool ranges -> ig",
		"impact: internal-forwarding-rule does not mark replace":                                       "web: ig -> ig here",
		"restore: external-forwarding-rule is not restored":                                            "web: pool -> pool here",
		"restore: internal-forwarding-rule is not restored":                                            "web: ig -> ig here",
		"role: external-forwarding-rule is no entry point":                                             "web: ig -> pool udp",
		"role: internal-forwarding-rule is no entry point":                                             "web: ig -> pool udp",
		"role: firewall is no completes":                                                               "web: pool -> pool ports",
		"mechanism: no IP is held":                                                                     "web: pool -> pool ports",
	}
	seenNewer = map[string]string{
		"restore: backend-service is not restored":                                      "web: neg -> netlb",
		"edges: a backend service that a rule refers to keeps its protocol":             "web: neg -> neg udp",
		"edges: a rule has the protocol of its backend service":                         "web: neg -> neg udp",
		"impact: internal-forwarding-rule does not mark delete":                         "web: neg -> netlb",
		"edges: clients are admitted before the firewall that admitted them is deleted": "web: neg dual -> neg last",
	}
)

const (
	nextPlan  = "the next plan does what Google Cloud refuses in another order"
	noHealth  = "health checks have no part in flows"
	noDenials = "firewalls that deny are not among the cases"
	ownDelete = "it is deleted without a successor only when its Service is deleted, or after its rule"
)

// idleOrders says of the others why the laws hold without them.
var idleOrders = map[string]string{
	"edges: two rules cannot have one IP and port":                                                   nextPlan,
	"edges: a rule for all of IP may stand beside others, so no client is cut off":                   "the order only spares the interruption that the plan marks",
	"edges: a machine in two groups with load balancers is refused, and with it the backend service": "machines have one group in the cases",
	"edges: nodes would be unhealthy while the check exists without its firewall":                    noHealth,
	"edges: nodes must let the new check in before they are judged by it":                            noHealth,
	"edges: nodes would be unhealthy behind the new rule":                                            noHealth,
	"edges: what is allowed must be stronger before everything else is denied":                       noDenials,
	"edges: an allowing rule may have the denial's priority only once the denial is deleted":         noDenials,
	"edges: what the old rule needs exists until the new rule does":                                  "it matters where the old rule is refused as well and restored in a later run: TestRefusedMove",
	"edges: an address is closed before it is released":                                              "no other Service gets the address in between, and a firewall without a rule leads nowhere",
	"order: address is created before it is deleted":                                                 nextPlan,
	"order: backend-service is created before it is deleted":                                         nextPlan,
	"order: external-forwarding-rule is created before it is deleted":                                nextPlan,
	"order: internal-forwarding-rule is created before it is deleted":                                nextPlan,
	"order: target-pool is created before it is deleted":                                             nextPlan,
	"impact: backend-service does not mark replace":                                                  ownDelete,
	"impact: backend-service does not mark delete":                                                   ownDelete,
	"impact: backend-service does not mark Affinity":                                                 "session affinity has no part in flows",
	"restore: target-pool is not restored":                                                           "no case has another session affinity",
	"impact: target-pool does not mark replace":                                                      ownDelete,
	"impact: target-pool does not mark delete":                                                       ownDelete,
}

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms, a law is broken, or
// it is said why not.
func TestLawsSeeEveryMechanism(t *testing.T) {
	bounds := laws.Bounds{Moves: 3, Pairs: 1}
	laws.Mutate(t, Rules(), []laws.Mutation{{Name: "mechanism: no IP is held", Apply: holdNothing}},
		laws.MutationSet{Fresh: func() *laws.Subject { return olderLaws(t) }, Bounds: bounds, Seen: seenOlder, Idle: idleOrders},
		laws.MutationSet{Fresh: func() *laws.Subject { return newerLaws(t) }, Bounds: bounds, Seen: seenNewer},
		laws.MutationSet{Fresh: func() *laws.Subject { return pickedLaws(t, "pool", "ig there") }, Seen: map[string]string{
			"edges: the IP is held before its rule is deleted": "web: pool -> ig there",
		}})
}

// pickedLaws returns Services of some of the older kinds, without neighbours.
func pickedLaws(t *testing.T, names ...string) *laws.Subject {
	s := olderLaws(t)
	s.Cases = slices.DeleteFunc(s.Cases, func(c laws.Case) bool { return !slices.Contains(names, c.Name) })
	s.Neighbours = nil
	return s
}

// holdNothing takes addresses out of every desired stack.
func holdNothing(s *laws.Subject) {
	for i, c := range s.Cases {
		s.Cases[i].Build = func(w *laws.World, o stack.Owner, day laws.Day, have *stack.Stack) *stack.Stack {
			want := c.Build(w, o, day, have)
			if want == nil {
				return nil
			}
			for _, r := range want.Of(KindAddress) {
				want.Drop(r.Key)
			}
			for j, r := range want.Resources {
				if rule, ok := r.Spec.(Rule); ok {
					rule.Address = stack.Ref{}
					want.Resources[j].Spec = rule
				}
			}
			return want
		}
	}
}

package model

import (
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
		"restore: backend-service is not restored":                          "web: neg -> netlb",
		"edges: a backend service that a rule refers to keeps its protocol": "web: neg -> neg udp",
		"edges: a rule has the protocol of its backend service":             "web: neg -> neg udp",
		"impact: internal-forwarding-rule does not mark delete":             "web: neg -> netlb",
	}
)

const (
	nextPlan  = "the next plan does what Google Cloud refuses in another order"
	noHealth  = "health checks have no part in flows"
	noDenials = "firewalls that deny are not among the cases"
	otherKind = "a rule of another kind takes the place of the old one under the same name, which the engine treats as a replacement"
	ownDelete = "it is deleted without a successor only when its Service is deleted, or after its rule"
)

// idleOrders says of the others why the laws hold without them.
var idleOrders = map[string]string{
	"edges: the IP is held before its rule is deleted":                                               "the new rule needs its address, and the old one leaves after everything that the new one needs",
	"edges: two rules cannot have one IP and port":                                                   nextPlan,
	"edges: a rule for all of IP may stand beside others, so no client is cut off":                   "the order only spares the interruption that the plan marks",
	"edges: clients are admitted before the firewall that admitted them is deleted":                  "firewalls of one Service are deleted with their rules",
	"edges: a machine in two groups with load balancers is refused, and with it the backend service": "machines have one group in the cases",
	"edges: nodes would be unhealthy while the check exists without its firewall":                    noHealth,
	"edges: nodes must let the new check in before they are judged by it":                            noHealth,
	"edges: what is allowed must be stronger before everything else is denied":                       noDenials,
	"edges: an allowing rule may have the denial's priority only once the denial is deleted":         noDenials,
	"edges: what Google Cloud refuses of the new rule must not take the old one away":                otherKind,
	"edges: what the old rule needs exists until the new rule does":                                  "the engine keeps what a restored rule refers to",
	"edges: an address is closed before it is released":                                              "no other Service gets the address in between",
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
		laws.MutationSet{Fresh: func() *laws.Subject { return newerLaws(t) }, Bounds: bounds, Seen: seenNewer})
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

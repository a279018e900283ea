package openstack_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/test/laws"
)

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms, a law is broken, or it
// is said why not.
func TestLawsSeeEveryMechanism(t *testing.T) {
	const (
		nextPlan  = "the next plan does what OpenStack refuses in another order"
		noError   = "load balancers in ERROR are not among the cases"
		noShare   = "load balancers that Services share are not among the cases"
		noHealth  = "health monitors have no part in flows"
		noAddress = "no case replaces a floating IP beside a load balancer that stays"
		closed    = "it is deleted only for a port that is not desired any more, or with its load balancer"
		asParts   = "members are another kind, with the same role"
	)
	laws.Mutate(t, model.Rules(), nil, laws.MutationSet{
		Fresh:  func() *laws.Subject { return amphoraSubject(t) },
		Bounds: laws.Bounds{Moves: 3, Pairs: 1},
		Seen: map[string]string{
			"edges: nodes admit the traffic at a new node port before the load balancer sends it":                                "web: internal -> other node port",
			"edges: the ranges of an internal load balancer may admit everyone, and are narrowed before it has a public address": "web: internal -> ranges",
			"edges: the ranges of a load balancer are widened after it has lost its public address":                              "web: ranges -> internal",
			"role: listener is no port":                        "web: local-checked -> other ports",
			"role: load-balancer is no entry point":            "web: one port -> (none)",
			"role: members is no members":                      "web: internal -> other node port",
			"role: security-group-ports is no admits":          "web: one port -> (none)",
			"role: security-group-rules is no admits":          "web: internal -> other node port",
			"impact: listener does not mark replace":           "web: internal -> http",
			"restore: listener is not restored":                "web: internal -> http",
			"mechanism: backends do not follow a refused step": "web: other ports -> one port",
		},
		Idle: map[string]string{
			"edges: a load balancer in ERROR takes no change of what is below it": noError,
			"edges: a group that a port has cannot be deleted":                    nextPlan,
			"order: floating-ip is created before it is deleted":                  noAddress,
			"order: floating-ip-binding is created before it is deleted":          noAddress,
			"order: health-monitor is created before it is deleted":               noHealth,
			"order: listener is created before it is deleted":                     nextPlan,
			"impact: floating-ip does not mark replace":                           noAddress,
			"impact: floating-ip does not mark delete":                            noAddress,
			"impact: floating-ip-binding does not mark replace":                   noAddress,
			"impact: floating-ip-binding does not mark delete":                    noAddress,
			"impact: listener does not mark delete":                               closed,
			"impact: load-balancer does not mark replace":                         noError,
			"impact: load-balancer does not mark Status":                          noError,
			"impact: load-balancer does not mark delete":                          "a load balancer is deleted without a successor only with its Service",
			"impact: pool does not mark replace":                                  "its listener is replaced as well, which is marked",
			"impact: pool does not mark delete":                                   closed,
			"role: health-monitor is no members":                                  noHealth,
			"role: pool is no members":                                            asParts,
			"restore: health-monitor is not restored":                             noHealth,
			"evidence: listener is proven by nothing":                             noShare,
			"evidence: pool is proven by nothing":                                 noShare,
		},
	}, laws.MutationSet{
		Fresh:  func() *laws.Subject { return ovnSubject(t) },
		Bounds: laws.Bounds{Moves: 3, Pairs: 1},
		Seen: map[string]string{
			"edges: the rules for an internal load balancer may admit everyone, and are deleted before it has a public address": "web: internal -> ranges",
			"edges: the rules for an internal load balancer are created after it has lost its public address":                   "web: ranges -> internal",
			"edges: a new port that the nodes do not admit must take no old one away":                                           "web: other numbers, ranges -> mixed-sticky",
			"edges: a new port does not admit the clients of an old one":                                                        "web: plain -> other numbers, ranges",
			"edges: a port that closes is not opened to more clients before":                                                    "web: other numbers, ranges -> plain",
			"restore: security-group-rules is not restored":                                                                     "web: ranges -> other numbers and ranges",
		},
	})
}

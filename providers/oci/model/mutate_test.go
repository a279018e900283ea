package model

import (
	"testing"

	"github.com/berth-lb/berth/test/laws"
)

// idleOrders says of orders and mechanisms why the laws hold without them.
func idleOrders() map[string]string {
	const (
		nextPlan = "the next plan does what Oracle Cloud refuses in another order"
		noHTTPS  = "rule sets and certificates are not among the cases"
		closed   = "it is deleted only for a port that is not desired any more, or with its load balancer"
		inPlace  = "a listener that changes its protocol serves in the laws"
		failed   = "only a load balancer that has failed is replaced, and none is among the cases"
		single   = "it is deleted without a successor only with its Service"
	)
	return map[string]string{
		"edges: rules that name a group are in its way":                                  nextPlan,
		"edges: a listener names its rule sets":                                          noHTTPS,
		"edges: a rule set that a listener names cannot be deleted":                      noHTTPS,
		"edges: it names the certificate":                                                noHTTPS,
		"edges: a certificate that is named cannot be deleted":                           noHTTPS,
		"edges: a backend set of a family needs an address of the family":                nextPlan,
		"edges: an address family that listeners and backend sets use cannot be removed": nextPlan,
		"edges: a group that something is in cannot be deleted":                          nextPlan,
		"impact: backend-set does not mark delete":                                       closed,
		"impact: listener does not mark delete":                                          closed,
		"impact: listener does not mark Protocol":                                        inPlace,
		"order: load-balancer is created before it is deleted":                           failed,
		"impact: load-balancer does not mark Shape":                                      "a change of the shape has no part in flows",
		"impact: load-balancer does not mark delete":                                     single,
		"impact: load-balancer does not mark replace":                                    failed,
		"impact: network-backend-set does not mark delete":                               closed,
		"impact: network-listener does not mark delete":                                  closed,
		"impact: network-listener does not mark Protocol":                                inPlace,
		"order: network-load-balancer is created before it is deleted":                   failed,
		"impact: network-load-balancer does not mark Shape":                              "a change of the shape has no part in flows",
		"impact: network-load-balancer does not mark delete":                             single,
		"impact: network-load-balancer does not mark replace":                            failed,
	}
}

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms, a law is broken, or
// it is said why not.
func TestLawsSeeEveryMechanism(t *testing.T) {
	laws.Mutate(t, Rules(), nil,
		laws.MutationSet{
			Fresh: func() *laws.Subject { return groupLaws(t) }, Bounds: laws.Bounds{Moves: 5, Pairs: 1}, Idle: idleOrders(),
			Seen: map[string]string{
				"edges: nodes admit traffic at a new port before the backend set sends to it": "web: lb ranges -> lb node port",
				"role: backend-set is no members":                                             "web: lb ranges -> lb node port",
				"role: listener is no port":                                                   "web: lb -> lb ports",
				"role: load-balancer is no entry point":                                       "web: lb ranges -> nlb ports",
				"role: network-backend-set is no members":                                     "web: nlb local -> nlb",
				"role: network-listener is no port":                                           "web: nlb ports -> nlb local",
				"role: network-load-balancer is no entry point":                               "web: lb ranges -> nlb ports",
				"role: network-security-group-rules is no admits":                             "web: lb -> lb http",
				"mechanism: backends do not follow a refused step":                            "web: lb -> lb http",
			},
		},
		laws.MutationSet{
			Fresh: func() *laws.Subject { return listLaws(t) }, Bounds: laws.Bounds{Moves: 3, Pairs: 1},
			Seen: map[string]string{
				"edges: the node port of the backend set is the evidence of ownership of the rule, so the rule is deleted first": "web: lb node port -> lb",
				"evidence: security-list-rule is proven by nothing":                                                              "web: lb ports -> nlb",
				"role: security-list-rule is no admits":                                                                          "web: lb -> lb ports",
			},
		},
	)
}

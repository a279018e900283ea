package model

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/laws"
)

// seenOrders lists, for an order or mechanism, the beginnings of moves in which a law is broken
// without it.
func seenOrders() map[string]string {
	return map[string]string{
		"edges: nodes must let the new group in before the load balancer sends from it":   "web: clb, other node ports -> clb, named group",
		"edges: nodes must let the old group in until the load balancer has left it":      "web: clb, other node ports -> clb, named group",
		"edges: nodes must admit the old targets until the target group has the new ones": "web: nlb, other node ports -> bare",
		"edges: the new group must admit the clients before the load balancer has it":     "web: clb, named group -> clb",
		"edges: the old targets serve until the nodes admit the new ones":                 "web: nlb, other node ports -> bare",
		"edges: clients of the old port are served until its listener is deleted":         "web: nlb-lbc, pods -> nlb, other ports",
		"edges: a listener must not send to an empty target group":                        "web: nlb, TLS to the nodes -> nlb, other ports",
		"edges: a listener must not be switched to an empty target group":                 "web: nlb, ranges -> nlb, TLS to the nodes",
		"edges: the load balancer serves until AWS has deleted it":                        "web: nlb-lbc -> (none)",
		"edges: clients of the new port are let in first":                                 "web: nlb-lbc -> nlb-lbc, other ports",
		"edges: a new port that the nodes do not admit must take no old one away":         "web: nlb, other ports -> nlb, other node ports",
		"edges: a listener that AWS refuses must take no other one away":                  "web: nlb, TLS to the nodes -> nlb, other ports",
		"edges: clients of the old port are admitted until its listener is deleted":       "web: nlb-lbc -> nlb-lbc, other ports",
		"edges: a new port that the groups do not admit must take no old one away":        "web: clb, other ports -> clb, named group",
		"impact: classic-listener does not mark replace":                                  "web: clb, other node ports -> clb, ranges",
		"role: classic-load-balancer is no entry point":                                   "web: clb, other ports -> nlb, ranges",
		"role: network-load-balancer is no entry point":                                   "web: clb, other ports -> nlb, ranges",
	}
}

// idleOrders says of the others why the laws hold without them.
func idleOrders() map[string]string {
	const (
		evidence = "evidence of ownership matters after a crash, which the schedules of test/explore cover"
		noGroups = "groups of Services are not among the cases"
		noHealth = "health checks have no part in flows"
		noPolicy = "TLS policies of Classic Load Balancers have no part in flows"
		noGuard  = "deletion protection is not among the cases"
		noDual   = "no case has both families"
		ownEnd   = "it is deleted without a successor only with its Service"
		inPlace  = "a load balancer is never replaced under its name"
		subnets  = "no case changes subnets"
		nextPlan = "the next plan does what AWS refuses in another order"
	)
	return map[string]string{
		"edges: a rule is known as ours by the load balancer, so a crash in between must leave the load balancer":    evidence,
		"edges: the old port is checked until the target group has the new one":                                      noHealth,
		"edges: the listeners go with the load balancer, and they hold the target group":                             nextPlan,
		"edges: a policy that AWS refuses must take no listener away":                                                noPolicy,
		"edges: an instance port has policies only while a listener uses it":                                         noPolicy,
		"edges: the check may move to the instance port of a new listener":                                           noHealth,
		"edges: the load balancer is the only evidence that the rule is ours":                                        "no case has rules that the official controller has written",
		"edges: AWS deletes no load balancer under deletion protection":                                              noGuard,
		"edges: IPv6 addresses and prefixes go to a load balancer of both families":                                  noDual,
		"edges: a target group identifies a member, so a crash in between must leave one":                            noGroups,
		"edges: the listeners are deleted with the load balancer, and the target group identifies the former member": noGroups,
		"edges: the target group identifies the former member":                                                       noGroups,
		"edges: a new port that admits no client must take no old one away":                                          noGroups,
		"order: classic-listener is created before it is deleted":                                                    "two listeners of one port have one slot, so the old one is deleted first in any case",
		"impact: classic-listener does not mark delete":                                                              "a port that is not desired any more may be lost",
		"impact: classic-load-balancer does not mark Subnets":                                                        subnets,
		"impact: classic-load-balancer does not mark delete":                                                         ownEnd,
		"impact: classic-load-balancer does not mark replace":                                                        inPlace,
		"role: front-security-group-rule is no admits":                                                               noGroups,
		"impact: listener does not mark Protocol":                                                                    "a listener that changes its protocol serves in the laws",
		"impact: listener does not mark delete":                                                                      "a port that is not desired any more may be lost",
		"impact: network-load-balancer does not mark Mappings":                                                       subnets,
		"impact: network-load-balancer does not mark delete":                                                         ownEnd,
		"impact: network-load-balancer does not mark replace":                                                        inPlace,
		"role: shared-network-load-balancer is no entry point":                                                       noGroups,
		"impact: shared-network-load-balancer does not mark Mappings":                                                noGroups,
		"impact: shared-network-load-balancer does not mark delete":                                                  noGroups,
		"impact: shared-network-load-balancer does not mark replace":                                                 noGroups,
		"linger: target-group is deleted at once":                                                                    "connections that a switched listener keeps have no part in flows",
		"impact: target-group does not mark replace":                                                                 "the new target group has targets before the listener is switched to it",
	}
}

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms, a law is broken, or
// it is said why not.
func TestLawsSeeEveryMechanism(t *testing.T) {
	laws.Mutate(t, Rules(), nil, laws.MutationSet{
		Fresh: func() *laws.Subject { return lawsSubject(t) }, Bounds: laws.Bounds{Moves: 3, Pairs: 1}, Seen: seenOrders(), Idle: idleOrders(),
	}, laws.MutationSet{
		Fresh: func() *laws.Subject { return switchingLaws(t) }, Bounds: laws.Bounds{Pairs: 1},
		Seen: map[string]string{
			"edges: nodes must admit the new targets before the listener is switched to them": "",
			"edges: the listener uses the old node port until it is switched":                 "",
			"mechanism: backends do not follow a refused step":                                "",
		},
	}, laws.MutationSet{
		Fresh: func() *laws.Subject { return pickedLaws(t, "nlb, ranges", "nlb, other ports") }, Bounds: laws.Bounds{Pairs: 1},
		Seen: map[string]string{
			"edges: a port that closes is not opened to more clients before": "web: nlb, ranges -> nlb, other ports",
			"edges: a new port does not admit the clients of an old one":     "web: nlb, other ports -> nlb, ranges",
		},
	}, laws.MutationSet{
		Fresh: func() *laws.Subject { return pickedLaws(t, "nlb, ranges", "nlb, other ports and ranges") }, Bounds: laws.Bounds{Pairs: 1},
		Seen: map[string]string{
			"restore: node-security-group-rule is not restored": "web: nlb, ranges -> nlb, other ports and ranges",
			"restore: listener is not restored":                 "web: nlb, ranges -> nlb, other ports and ranges",
		},
	}, laws.MutationSet{
		Fresh: func() *laws.Subject { return pickedLaws(t, "bare", "bare, ranges") }, Bounds: laws.Bounds{Pairs: 1},
		Seen: map[string]string{"edges: traffic that is allowed before and after must be allowed in between": ""},
	}, laws.MutationSet{
		Fresh: func() *laws.Subject { return pickedLaws(t, "clb", "clb, other node ports") }, Bounds: laws.Bounds{Pairs: 1},
		Seen: map[string]string{"restore: classic-listener is not restored": ""},
	})
}

// pickedLaws returns the Services of some cases, without neighbours.
func pickedLaws(t testing.TB, names ...string) *laws.Subject {
	s := lawsSubject(t)
	s.Cases = slices.DeleteFunc(s.Cases, func(c laws.Case) bool { return !slices.Contains(names, c.Name) })
	s.Neighbours = nil
	return s
}

// switchingLaws returns Services between which listeners are switched to other node ports.
func switchingLaws(t testing.TB) *laws.Subject {
	s := pickedLaws(t, "nlb")
	keys := map[string]string{"type": "nlb", "ssl-cert": testCertificate, "backend-protocol": "ssl"}
	moved := lawsCase{"nlb, TLS at other node ports", keys, func(s *corev1.ServiceSpec) { s.Ports[0].NodePort, s.Ports[1].NodePort = 31090, 31490 }}
	s.Cases = append(s.Cases, lawsServices(t).Case(t, moved.name, moved.service()))
	return s
}

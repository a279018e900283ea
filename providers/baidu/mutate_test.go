package baidu_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/test/laws"
)

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms, a law is broken, or it
// is said why not.
func TestLawsSeeEveryMechanism(t *testing.T) {
	const (
		single = "a Service has one load balancer, which is deleted with it"
		closed = "it is deleted only for a port that is not desired any more, or with its load balancer"
		others = "normal load balancers and groups of addresses are not among the cases"
	)
	laws.Mutate(t, model.Rules(), nil, laws.MutationSet{
		Fresh: func() *laws.Subject { return lawsSubject(t) }, Bounds: laws.Bounds{Moves: 12, Pairs: 1},
		Seen: map[string]string{
			"role: listener is no port":            "web: plain -> mixed",
			"role: policy is no port":              "web: plain -> mixed",
			"restore: policy is not restored":      "web: plain -> other node port",
			"impact: policy does not mark replace": "web: plain -> other node port",
		},
		Idle: map[string]string{
			"role: server-group is no members":                 "a policy refers to its group, and a group is created with its servers",
			"mechanism: backends do not follow a refused step": "no step in place of which servers could follow ends a group that serves",
			"order: policy is created before it is deleted":    "the next plan does what the cloud refuses in another order",
			"role: backend-servers is no members":              others,
			"role: group-port is no members":                   "a policy refers to the port of its group, and is created after it",
			"role: ip-group is no members":                     others,
			"role: load-balancer is no entry point":            single,
			"impact: eip does not mark delete":                 single,
			"impact: ip-group does not mark delete":            others,
			"impact: listener does not mark delete":            closed,
			"impact: load-balancer does not mark EIP":          "no case changes the address",
			"impact: load-balancer does not mark delete":       single,
			"impact: policy does not mark delete":              closed,
			"impact: server-group does not mark delete":        single,
		},
	})
}

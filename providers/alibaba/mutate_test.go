package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/test/laws"
)

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms, a law is broken, or it
// is said why not.
func TestLawsSeeEveryMechanism(t *testing.T) {
	const (
		single = "a Service has one load balancer, which is deleted with it"
		closed = "it is deleted only for a port that is not desired any more"
	)
	laws.Mutate(t, model.Rules(), nil, laws.MutationSet{
		Fresh: func() *laws.Subject { return lawsSubject(t) }, Bounds: laws.Bounds{Moves: 12, Pairs: 1},
		Seen: map[string]string{
			"role: listener is no port":                        "web: other ports -> other node port",
			"restore: listener is not restored":                "web: one port -> by http",
			"impact: listener does not mark replace":           "web: one port -> by http",
			"mechanism: backends do not follow a refused step": "web: other ports -> listed",
		},
		Idle: map[string]string{
			"order: listener is created before it is deleted": "the next plan does what the cloud refuses in another order",
			"role: load-balancer is no entry point":           single,
			"impact: load-balancer does not mark delete":      single,
			"impact: listener does not mark delete":           closed,
			"impact: vserver-group does not mark delete":      closed,
			"role: vserver-group is no members":               "a listener refers to its group, and a group is created with its servers",
		},
	}, laws.MutationSet{
		Fresh: func() *laws.Subject { return netLawsSubject(t) }, Bounds: laws.Bounds{Moves: 60, Pairs: 1},
		Seen: map[string]string{
			"role: network-listener is no port":                                               "",
			"restore: network-listener is not restored":                                       "",
			"impact: network-listener does not mark replace":                                  "",
			"edges: a new port is not open to clients that the load balancer is not to admit": "",
			"edges: a port that closes is not opened to more clients before":                  "",
			"edges: clients are limited in one way before more are admitted in another":       "",
		},
		Idle: map[string]string{
			"order: network-listener is created before it is deleted": "the next plan does what the cloud refuses in another order",
			"role: security-group is no admits":                       "a load balancer refers to its security group, and is created with it",
			"role: network-load-balancer is no entry point":           single,
			"impact: network-load-balancer does not mark delete":      single,
			"impact: network-listener does not mark delete":           closed,
			"impact: server-group does not mark delete":               closed,
			"role: server-group is no members":                        "a listener refers to its group, and a group is created with its servers",
		},
	})
}

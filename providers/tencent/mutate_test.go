package tencent_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/test/laws"
)

// TestLawsSeeEveryMechanism: without any one of the orders and mechanisms, a law is broken, or it
// is said why not.
func TestLawsSeeEveryMechanism(t *testing.T) {
	const (
		single = "a Service has one load balancer, which is deleted with it"
		closed = "it is deleted only for a port that is not desired any more, or with its listener"
	)
	laws.Mutate(t, model.Rules(), nil, laws.MutationSet{
		Fresh: func() *laws.Subject { return lawsSubject(t) }, Bounds: laws.Bounds{Moves: 20, Pairs: 1},
		Seen: map[string]string{
			"role: listener is no port":                        "web: plain -> mixed",
			"role: rule is no port":                            "web: other ports -> one host",
			"role: rule is no completes":                       "web: plain -> one host",
			"restore: listener is not restored":                "web: plain -> one host",
			"restore: rule is not restored":                    "web: one host -> plain",
			"impact: listener does not mark replace":           "web: plain -> one host",
			"mechanism: backends do not follow a refused step": "web: plain -> mixed",
		},
		Idle: map[string]string{
			"order: listener is created before it is deleted": "the next plan does what the cloud refuses in another order",
			"role: load-balancer is no entry point":           single,
			"impact: load-balancer does not mark delete":      single,
			"impact: listener does not mark delete":           closed,
			"impact: rule does not mark delete":               closed,
		},
	})
}

package alibaba_test

import (
	"testing"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

// netPortChanges are the changes of ports for network load balancers.
func netPortChanges(notes map[string]string) []props.Case {
	list := props.PortChanges(notes)
	for _, c := range list {
		asNet(c.Service)
	}
	return list
}

// TestNetLaws holds the rules of network load balancers against the laws about traffic.
func TestNetLaws(t *testing.T) {
	laws.Check(t, netLawsSubject(t), laws.Bounds{Moves: 60, Pairs: 6})
}

// netLawsSubject returns the cloud as the laws see it, with network load balancers.
func netLawsSubject(t testing.TB) *laws.Subject {
	s := subjectOf(t, append(netPortChanges(nil),
		netCase("plain", nil),
		netCase("tuned", withKeys("scheduler", "rr", "proxy-protocol", "on", "idle-timeout", "60")),
		netCase("secure", withKeys("protocol-port", "tcpssl:443", "cert-id", "c-1")),
		netCase("mixed", nil, withUDP),
		netCase("ranges", withKeys("address-type", "internet"), withRanges("203.0.113.0/24")),
		netCase("other ranges", withKeys("address-type", "internet"), withRanges("198.51.100.0/24", "203.0.113.128/25")),
		netCase("by address", withKeys("server-group-type", "ip")),
		netCase("intranet", withKeys("address-type", "intranet")),
	))
	s.Known = []laws.Known{{
		Law: laws.NothingLost, Refused: []laws.Match{{Action: plan.Create, Kind: model.KindNetListener}}, Only: laws.Unrestored,
		Reason: "a listener is restored after a definite refusal of the new one, by the process that has deleted it",
	}}
	return s
}

// TestNetLawsPods holds them against the laws for pods as backends.
func TestNetLawsPods(t *testing.T) {
	laws.Check(t, subjectOf(t, append(netPortChanges(podKeys()), netCase("nodes", nil), netCase("light", podKeys("default-weight", "20")))), laws.Bounds{Moves: 30, Pairs: 6})
}

package offline

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/view"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/golden"
)

// front and back are what a cloud might have.
type front struct{ Name string }
type listener struct{ Group stack.Ref }
type back struct{ Port int }

// TestTree: the tree leads from the load balancer over each listener to its group and
// members; what is no way to a member is left out.
func TestTree(t *testing.T) {
	lb, group, other := stack.Key{Kind: "balancer"}, stack.Key{Kind: "group", Name: "tcp-80"}, stack.Key{Kind: "group", Name: "tcp-443"}
	have := &stack.Stack{}
	for _, r := range []stack.Resource{
		{Key: lb, ID: "lb-1", Proof: stack.Derived, Spec: front{"web"}},
		{Key: stack.Key{Kind: "balancer", Name: "theirs"}, ID: "lb-2", Spec: front{"theirs"}},
		{Key: stack.Key{Kind: "listener", Name: "80"}, In: lb, Spec: listener{stack.RefTo(group)}},
		{Key: stack.Key{Kind: "listener", Name: "443"}, In: lb, Spec: listener{stack.RefTo(other)}},
		{Key: group, Spec: back{80}}, {Key: other, Spec: back{443}}, {Key: stack.Key{Kind: "group", Name: "unused"}, Spec: back{1}},
	} {
		have.Put(r)
	}
	serves := func(k stack.Kind) bool { return k == "balancer" }
	health := []providers.MemberHealth{
		{Of: group, Member: "i-1:30080", Healthy: true, State: "healthy"}, {Of: group, Member: "i-2:30080", State: "unhealthy", Why: "Health checks failed"},
		{Of: other, Member: "i-1:30443", State: "initial"},
		{Of: lb, Part: "rule tcp-53", Member: "10.0.0.4", Healthy: true, State: "Up"}, {Of: lb, Part: "rule tcp-53", Member: "10.0.0.5", State: "Down", Why: "Down_Probe_HttpEndpointUnreachable"},
	}
	s := newStanding(newStood("web", "lb.example.com", newCondition(status.TypeAccepted, status.ReasonAccepted, true, ""), newCondition(status.TypeProgrammed, status.ReasonProgrammed, true, "nlb web serves 80/TCP")))
	s.Balancers = growBranches(have, health, serves)
	blind := s
	blind.Balancers, blind.Unseen = nil, "the provider x does not tell how members are"
	text, err := Standings{Services: []view.Service{s, blind}, named: true}.Render("human", 0)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/status-members.golden", text)
}

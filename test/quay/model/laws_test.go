package model

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
	simquay "github.com/berth-lb/berth/test/sim/quay"
)

// lawsSubject returns Quay as the laws see it: Services of several kinds, which share
// openings.
func lawsSubject(t testing.TB) *laws.Subject {
	cloud, services := Cloud(), lawsServices()
	s := &laws.Subject{Name: "quay", Rules: cloud.Rules, Flows: cloud.Flows, Match: cloud.MatchFound, Refuses: refuseName, Created: proveByName, Known: knownViolations()}
	for _, c := range lawCases() {
		s.Cases = append(s.Cases, services.Case(t, c.Name, c.Service))
	}
	for _, a := range []string{"plain", "mixed", "udp", "internal"} {
		for _, b := range []string{"plain", "udp", "mixed"} {
			s.Neighbours = append(s.Neighbours, [2]string{a, b})
		}
	}
	return s
}

// lawsServices makes cases of Services.
func lawsServices() laws.Services[Config, struct{}] {
	cloud := Cloud()
	return laws.Services[Config, struct{}]{Cloud: &cloud, Cluster: "test", Nodes: machinesOf}
}

// TestSequences: operations in any order end in the state of a new Service.
func TestSequences(t *testing.T) {
	cloud := Cloud()
	laws.Sequences{
		Choose: func(svc *corev1.Service) string { return cloud.Choose(svc).Kind }, Capabilities: cloud.Capabilities,
		Keys: cloud.Annotations, Kinds: map[string]func(*corev1.Service){Kind: nil}, Least: 1,
		Fresh: func(t testing.TB) (*laws.Subject, func(testing.TB, *corev1.Service) laws.Case) {
			return lawsSubject(t), func(t testing.TB, svc *corev1.Service) laws.Case { return lawsServices().Case(t, "case", svc) }
		},
	}.Run(t)
}

// lawCases returns the Services that are changed into each other.
func lawCases() []props.Case {
	return []props.Case{
		props.Service("plain", nil),
		props.Service("internal", map[string]string{"quay.example/internal": "true"}),
		props.Service("mixed", nil, func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }),
		props.Service("udp", nil, props.UDP),
		props.Service("other ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[1].Port = 8080, 8443 }),
		props.Service("one port", nil, func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }),
		props.Service("other node ports", nil, func(s *corev1.ServiceSpec) { s.Ports[0].NodePort = 31080 }),
		props.Service("internal udp", map[string]string{"quay.example/internal": "true"}, props.UDP),
	}
}

// machinesOf returns three machines; on the second day another one has replaced the third.
func machinesOf(day laws.Day) []corev1.Node {
	var out []corev1.Node
	for _, n := range []int{1, 2, 3 + int(day)} {
		out = append(out, simquay.Machine(n))
	}
	return out
}

// proveByName gives openings the proof that a read finds: their name, which is of the cluster.
func proveByName(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource {
	if r.Key.Kind == KindOpening {
		r.Proof = stack.Name
	}
	return r
}

// refuseName refuses a second load balancer of a name, as the API does.
func refuseName(w *laws.World, s plan.Step) error {
	want, ok := s.Target.Spec.(Balancer)
	if !ok || s.ID.Action != plan.Create {
		return nil
	}
	for _, o := range w.Owners() {
		for _, r := range w.Observed(o).Of(KindBalancer) {
			if b, is := r.Spec.(Balancer); is && b.Name == want.Name {
				return fault.New(fault.Exists, "balancer %s exists", b.Name)
			}
		}
	}
	return nil
}

// TestLaws holds the rules of Quay against the laws about traffic.
func TestLaws(t *testing.T) {
	laws.Check(t, lawsSubject(t), laws.Bounds{Moves: 160, Pairs: 6, Also: []string{"web: plain -> other ports"}})
}

// TestLawsSeeEveryMechanism: without any one of them, a law is broken.
func TestLawsSeeEveryMechanism(t *testing.T) {
	seen := map[string]string{"mechanism: backends do not follow a refused step": ""}
	for _, m := range laws.MutationsOf(Rules()) {
		seen[m.Name] = ""
	}
	idle := map[string]string{
		"impact: balancer does not mark delete": "a balancer is deleted without a successor only when its Service is, and then nothing has to be served",
		"impact: listener does not mark delete": "a listener is deleted only for a port that is not desired any more",
		"role: machines is no members":          "a listener of a new port may exist before its machines: no client uses it yet",
	}
	maps.DeleteFunc(seen, func(name, _ string) bool { return idle[name] != "" })
	laws.Mutate(t, Rules(), nil, laws.MutationSet{Fresh: func() *laws.Subject { return lawsSubject(t) }, Bounds: laws.Bounds{Moves: 45, Pairs: 1}, Seen: seen, Idle: idle})
}

// knownViolations lists what the rules of Quay do not guarantee today.
func knownViolations() []laws.Known {
	balancer := func(a plan.Action) []laws.Match { return []laws.Match{{Action: a, Kind: KindBalancer}} }
	shut := laws.Match{Action: plan.Delete, Kind: KindOpening}
	const neighbours = "an opening has no evidence of a Service, so another one deletes it while a listener that is not desired any more still needs it"
	return []laws.Known{
		{Law: laws.NothingLost, Refused: balancer(plan.Create), Reason: "the old load balancer is not restored when the new one is refused"},
		{Law: laws.NothingLost, Refused: []laws.Match{{Action: plan.Create, Kind: KindOpening}}, Reason: "a load balancer is replaced before the openings of its listeners are created"},
		{Law: laws.Backends, Refused: balancer(plan.Delete), Reason: "the machines of a load balancer that is to be replaced are not updated before it is deleted"},
		{Law: laws.WholeDeletion, Neighbour: shut, Reason: neighbours},
		{Law: laws.NothingLost, Neighbour: shut, Reason: neighbours},
	}
}

package model

import (
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
)

const lawsCluster = "shop"

// lawsSubject returns AWS as the laws see it: load balancers of three kinds, which share the
// security group of the nodes.
func lawsSubject(t testing.TB) *laws.Subject {
	cloud, services := Cloud(), lawsServices(t)
	s := &laws.Subject{
		Name: "aws", Rules: cloud.Rules, Flows: cloud.Flows, Match: cloud.MatchFound, Read: readAsAWS,
		Created: func(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource { return withoutAsides(r) },
		Updated: func(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource { return withoutAsides(r) },
		Beside:  hasOtherName, Known: knownViolations(), Probes: traffic.Ranges("10.0.1.0/24", "10.0.3.0/24"),
	}
	for _, c := range lawsCases() {
		s.Cases = append(s.Cases, services.Case(t, c.name, c.service()))
	}
	s.Neighbours = append(s.Neighbours, [][2]string{{"clb", "nlb"}, {"nlb", "nlb"}, {"nlb", "clb"}, {"nlb-lbc", "nlb-lbc"}, {"bare", "nlb-lbc"}, {"nlb-lbc", "bare"}, {"bare", "bare"}}...)
	return s
}

// lawsServices makes cases of Services.
func lawsServices(t testing.TB) laws.Services[Config, *Facts] {
	cloud, world := Cloud(), suite().Bare(t).World
	return laws.Services[Config, *Facts]{
		Cloud: &cloud, Config: parseConfig(t, world.Config+"\n[Berth]\nLoadBalancerController = true\n"), Cluster: lawsCluster, Nodes: nodesOn, Slices: podsOnDay,
		Facts: func(*laws.World, providers.Input[Config]) *Facts { return lawsFacts(world.Facts) },
	}
}

// lawsCase is a Service by its annotations, without their prefix.
type lawsCase struct {
	name   string
	keys   map[string]string
	change func(*corev1.ServiceSpec)
}

func lawsCases() []lawsCase {
	lbc := func(more map[string]string) map[string]string {
		out := map[string]string{"type": "external", "nlb-target-type": targetInstance, "scheme": schemePublic}
		maps.Copy(out, more)
		return out
	}
	nlb, bare := map[string]string{"type": "nlb"}, map[string]string{"disable-nlb-sg": "true"}
	ports := func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[1].Port = 8080, 8443 }
	nodePorts := func(s *corev1.ServiceSpec) { s.Ports[0].NodePort = 31090 }
	ranges := func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"192.0.2.0/24", "10.0.0.0/8"} }
	barePods := map[string]string{"disable-nlb-sg": "true", "nlb-target-type": targetIP}
	return []lawsCase{
		{"clb", nil, nil},
		{"clb, other ports", nil, ports},
		{"clb, other node ports", nil, nodePorts},
		{"clb, ranges", nil, ranges},
		{"clb, named group", map[string]string{"security-groups": "sg-user"}, nil},
		{"nlb", nlb, nil},
		{"nlb, other ports", nlb, ports},
		{"nlb, other node ports", nlb, nodePorts},
		{"nlb, ranges", nlb, ranges},
		{"nlb, TLS to the nodes", map[string]string{"type": "nlb", "ssl-cert": testCertificate, "backend-protocol": "ssl"}, nil},
		{"nlb-lbc", lbc(nil), nil},
		{"nlb-lbc, pods", lbc(map[string]string{"nlb-target-type": targetIP}), nil},
		{"nlb-lbc, other ports", lbc(nil), ports},
		{"nlb-lbc, ranges", lbc(nil), ranges},
		{"bare", lbc(bare), nil},
		{"bare, pods", lbc(barePods), nil},
		{"bare, ranges", lbc(bare), ranges},
		{"nlb, other ports and ranges", nlb, func(s *corev1.ServiceSpec) { ports(s); s.LoadBalancerSourceRanges = []string{"172.16.0.0/12"} }},
	}
}

func (c lawsCase) service() *corev1.Service {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
		Ports: []corev1.ServicePort{
			{Name: "http", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 31080},
			{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, NodePort: 31443},
		},
	}}
	for key, value := range c.keys {
		svc.Annotations[lbPrefix+key] = value
	}
	if c.change != nil {
		c.change(&svc.Spec)
	}
	return svc
}

// nodesOn returns three nodes; on the second day another one has replaced the third.
func nodesOn(day laws.Day) []corev1.Node {
	var out []corev1.Node
	for _, n := range []int{1, 2, 3 + int(day)} {
		out = append(out, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", n)},
			Spec:       corev1.NodeSpec{ProviderID: fmt.Sprintf("aws:///eu-west-1a/i-0%d", n)},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
	}
	return out
}

// podsOnDay returns a pod on each node of a day.
func podsOnDay(svc *corev1.Service, day laws.Day) cases.Around {
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "web"}, AddressType: discoveryv1.AddressTypeIPv4}
	for _, n := range nodesOn(day) {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{"10.0.2." + n.Name[len("node-"):]}, NodeName: new(n.Name)})
	}
	for _, p := range svc.Spec.Ports {
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: new(p.Name), Protocol: new(p.Protocol), Port: new(int32(8080))})
	}
	return cases.Around{Slices: []*discoveryv1.EndpointSlice{slice}}
}

// lawsFacts returns the facts of an account with the nodes of both days in one group.
func lawsFacts(of *Facts) *Facts {
	f := *of
	f.Instances, f.members = map[string]Instance{}, nil
	for n := range 5 {
		id := fmt.Sprint("i-0", n)
		f.Instances[id] = Instance{ID: id, Zone: f.Subnets[0].Zone, Groups: []string{"sg-nodes"}}
	}
	f.NodeGroups = []NodeGroup{{ID: "sg-nodes"}}
	return &f
}

// withoutAsides returns a resource without the fields that only desired stacks have.
func withoutAsides(r stack.Resource) stack.Resource {
	switch spec := r.Spec.(type) {
	case Listener:
		spec.Leaving = ""
		r.Spec = spec
	case Targets:
		spec.Own, spec.Moves = false, false
		r.Spec = spec
	case NodeRule:
		spec.Opens, spec.Shuts = false, false
		r.Spec = spec
	case ClassicPort:
		spec.Waits, spec.Trial = false, false
		r.Spec = spec
	}
	return r
}

// readAsAWS gives target groups the names that a read finds by their listeners, and rules of the
// nodes the proof that they carry.
func readAsAWS(_ *laws.World, view *stack.Stack) *stack.Stack {
	names := map[string]string{}
	taken := map[string]bool{}
	for r, l := range stack.Each[Listener](view, KindListener) {
		names[l.TargetGroup.To.Name] = r.Key.Name
		for _, w := range l.Shares {
			for _, g := range view.Of(KindTargetGroup) {
				if w.Group == g.ID {
					names[g.Key.Name] = LeavingMark + r.Key.Name
				}
			}
		}
	}
	for _, name := range names {
		taken[name] = true
	}
	for _, g := range view.Of(KindTargetGroup) {
		if _, used := names[g.Key.Name]; !used && taken[g.Key.Name] {
			spec, _ := g.Spec.(TargetGroup)
			names[g.Key.Name] = "free-" + spec.Name
		}
	}
	for i := range view.Resources {
		r := &view.Resources[i]
		if r.In.Kind == KindTargetGroup && r.Key.Name != r.In.Name {
			r.Key.Name = r.In.Name // of a group that was replaced
		}
	}
	view = renameGroups(view, names)
	for i := range view.Resources {
		r := &view.Resources[i]
		if rule, ok := r.Spec.(NodeRule); ok {
			r.Proof = proofIn(view, rule)
		}
	}
	return view
}

// proofIn is the proof that a read finds of a rule of the nodes.
func proofIn(view *stack.Stack, rule NodeRule) stack.Proof {
	lb := LoadBalancerName(view.Owner.UID)
	ours := func(d string) bool { return d == ClientDescription(lb) || d == HealthDescription(lb) }
	switch {
	case ours(rule.Description):
		return stack.Description
	case rule.Description == OwnRuleDescription, rule.Description == ClassicDescription(lawsCluster):
		return stack.Leftover
	case rule.Description == RuleMTU:
		others := false
		for _, other := range stack.Each[NodeRule](view, KindNodeRule) {
			if other.CIDR == rule.CIDR && ours(other.Description) {
				return stack.Description
			}
			others = others || other.CIDR == rule.CIDR && OfBalancer(other.Description) && other.Description != RuleMTU
		}
		if !others {
			return stack.Description
		}
	case rule.Source.To.Kind == KindGroup:
		return stack.Derived
	}
	return stack.None
}

// hasOtherName reports whether two target groups differ in their names, which AWS tells them
// apart by.
func hasOtherName(existing, r stack.Resource) bool {
	a, is := existing.Spec.(TargetGroup)
	b, _ := r.Spec.(TargetGroup)
	return is && a.Name != b.Name
}

func knownViolations() []laws.Known {
	const exchanged = "an exchange of ports and clients is undone after a definite refusal, by the process that has begun it"
	refused := func(a plan.Action, kind stack.Kind) []laws.Match { return []laws.Match{{Action: a, Kind: kind}} }
	return []laws.Known{
		{Law: laws.NothingLost, Refused: refused(plan.Create, KindClassicPort), Only: laws.AfterRestart, Reason: "a listener is restored by the process that has deleted it"},
		{Law: laws.NothingLost, Refused: refused(plan.Create, KindClassicPort), Only: laws.WithoutAnswer, Reason: "a listener is restored only after a definite refusal of the new one"},
		{Law: laws.NothingLost, Refused: refused(plan.Create, KindListener), Only: laws.Unrestored, Reason: exchanged},
		{Law: laws.NothingLost, Refused: refused(plan.Delete, KindListener), Only: laws.Unrestored, Reason: exchanged},
		{Law: laws.NothingLost, Refused: refused(plan.Delete, KindNodeRule), Only: laws.Unrestored, Reason: exchanged},
	}
}

// TestLaws holds the plans of AWS against the laws about traffic.
func TestLaws(t *testing.T) {
	laws.Check(t, lawsSubject(t), laws.Bounds{Moves: 60, Pairs: 6, Also: []string{
		"web: clb -> nlb", "web: nlb -> clb", "web: clb -> clb, other ports", "web: nlb -> nlb, other ports", "web: nlb-lbc -> nlb-lbc, other ports",
		"web: nlb, other ports -> nlb, ranges", "web: clb, other ports -> clb, named group", "web: clb -> clb, other node ports",
		"web: nlb, ranges -> nlb, other ports and ranges", "web: nlb, other ports and ranges -> nlb, ranges",
	}})
}

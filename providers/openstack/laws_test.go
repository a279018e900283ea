package openstack_test

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
	common "github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

// limitClients limits the clients of a Service.
func limitClients(list ...string) func(*corev1.ServiceSpec) {
	return func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = list }
}

// lawCases returns the Services that are changed into each other.
func lawCases() []props.Case {
	moved := func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[0].NodePort = 8080, 31080 }
	return append(propsCases()[:6],
		props.Service("ranges", nil, limitClients("10.0.0.0/8", "192.0.2.0/24")),
		props.Service("other ranges", nil, limitClients("192.0.2.0/25")),
		props.Service("other ports", nil, moved),
		props.Service("other node port", nil, func(s *corev1.ServiceSpec) { s.Ports[1].NodePort = 31443 }),
		props.Service("one port", nil, func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }),
	)
}

// ovnCases returns the Services of the driver ovn. It ends no connections, and its listeners have
// no ranges: rules of security groups admit clients to node ports. Some cases have other ports
// with the same node ports.
func ovnCases() []props.Case {
	renumbered := func(s *corev1.ServiceSpec) { s.Ports[0].Port = 8080 }
	out := slices.DeleteFunc(lawCases(), func(c props.Case) bool { return c.Name == "http" || c.Name == "proxied" })
	return append(out,
		props.Service("other numbers", nil, renumbered),
		props.Service("other numbers, ranges", nil, renumbered, limitClients("10.0.0.0/8", "192.0.2.0/24")),
		props.Service("other numbers and ranges", nil, renumbered, limitClients("172.16.0.0/12")),
	)
}

// ovnConfig selects the driver ovn, with security groups for the nodes.
const ovnConfig = managed + "lb-provider = ovn\nlb-method = SOURCE_IP_PORT\n"

// lawsSubject returns OpenStack as the laws see it, with the configuration added.
func lawsSubject(t testing.TB, name, config string, list []props.Case) *laws.Subject {
	cloud := openstack.Cloud()
	parsed := common.Config(t, model.ReadConfig, "[LoadBalancer]\nsubnet-id = s-1\nfloating-network-id = n-1\n"+config)
	parsed.Features = model.FeaturesOf(26, parsed.Provider)
	facts := &model.Facts{External: "n-1", Externals: map[string]bool{"n-1": true}, NodeSubnets: map[string]string{}, NodePorts: map[string][]model.NodePort{},
		Subnets: map[string]model.Subnet{"s-1": {ID: "s-1", Network: "n-2", CIDR: netip.MustParsePrefix("10.0.0.0/16")}}}
	for n := 1; n <= 4; n++ {
		address := fmt.Sprintf("10.0.0.%d", n)
		facts.NodeSubnets[address] = "s-1"
		facts.NodePorts[fmt.Sprintf("server-%d", n)] = []model.NodePort{{ID: fmt.Sprintf("port-%d", n), Address: address, Subnet: "s-1", Secured: true}}
	}
	services := laws.Services[model.Config, *model.Facts]{
		Cloud: &cloud, Config: parsed, Cluster: "kubernetes", Nodes: serversOf,
		Facts: func(*laws.World, model.Input) *model.Facts { return facts },
	}
	s := &laws.Subject{Name: name, Rules: cloud.Rules, Flows: shutNodes(cloud.Flows), Created: chooseAddress}
	for _, c := range list {
		s.Cases = append(s.Cases, services.Case(t, c.Name, c.Service))
	}
	return s
}

// shutNodes returns the flows of a cluster whose nodes admit only what managed groups do, also
// before the first group exists.
func shutNodes(flows traffic.Func) traffic.Func {
	other := &stack.Stack{Owner: stack.Owner{Namespace: "shop", Name: "other"}}
	other.Put(stack.Resource{Key: stack.Key{Kind: model.KindGroup}, Spec: model.Group{Name: "of another Service"}})
	return func(world []*stack.Stack) []traffic.Flow { return flows(append(slices.Clone(world), other)) }
}

// amphoraSubject returns OpenStack with the driver amphora, which ends connections.
func amphoraSubject(t testing.TB) *laws.Subject {
	s := lawsSubject(t, "openstack", managed+"create-monitor = true\n", lawCases())
	s.Known = knownViolations()
	return s
}

// serversOf returns three nodes; on the second day another one has replaced the third.
func serversOf(day laws.Day) []corev1.Node {
	var out []corev1.Node
	for _, n := range []int{1, 2, 3 + int(day)} {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n)}, Spec: corev1.NodeSpec{ProviderID: fmt.Sprintf("openstack:///server-%d", n)}}
		node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.0.%d", n)}}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		out = append(out, node)
	}
	return out
}

// chooseAddress gives load balancers and floating IPs the addresses that the cloud chooses.
func chooseAddress(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource {
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.ID)) // never fails
	switch spec := r.Spec.(type) {
	case model.Balancer:
		if spec.Address == "" {
			spec.Address = fmt.Sprintf("10.0.%d.%d", 128+h.Sum32()%64, h.Sum32()>>8%256)
		}
		spec.Port = "port-of-" + r.ID
		r.Spec = spec
	case model.FloatingIP:
		if spec.Address == "" {
			spec.Address = fmt.Sprintf("203.0.113.%d", h.Sum32()%256)
		}
		r.Spec = spec
	}
	return r
}

// TestLaws holds the rules against the laws about traffic.
func TestLaws(t *testing.T) {
	laws.Check(t, amphoraSubject(t), laws.Bounds{Pairs: 20})
}

// TestLawsOVN holds the rules against the laws with the driver ovn.
func TestLawsOVN(t *testing.T) {
	laws.Check(t, ovnSubject(t), laws.Bounds{Pairs: 20})
}

// ovnSubject returns OpenStack with the driver ovn.
func ovnSubject(t testing.TB) *laws.Subject {
	const exchanged = "an exchange of ports and clients is undone after a definite refusal, by the process that has begun it"
	s := lawsSubject(t, "openstack-ovn", ovnConfig, ovnCases())
	for _, a := range []plan.Action{plan.Create, plan.Delete} {
		s.Known = append(s.Known, laws.Known{Law: laws.NothingLost, Refused: []laws.Match{{Action: a, Kind: model.KindListener}}, Only: laws.Unrestored, Reason: exchanged})
	}
	return s
}

// knownViolations lists what the rules do not guarantee today.
func knownViolations() []laws.Known {
	on := func(a plan.Action, k stack.Kind) []laws.Match { return []laws.Match{{Action: a, Kind: k}} }
	return []laws.Known{
		{Law: laws.NothingLost, Refused: on(plan.Create, model.KindListener), Only: laws.Unrestored, Reason: "a listener is restored after a definite refusal of the new one, by the process that has deleted it"},
	}
}

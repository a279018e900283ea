package model

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
	"github.com/berth-lb/berth/test/props"
)

// The network of the laws: load balancers and nodes have a subnet each.
const (
	lawsFront = "ocid1.subnet.oc1.iad.front"
	lawsNodes = "ocid1.subnet.oc1.iad.nodes"
	lawsGroup = "ocid1.networksecuritygroup.oc1.iad.nodes"
)

// TestLawsLists holds the plans with rules in security lists against the laws about traffic.
func TestLawsLists(t *testing.T) { laws.Check(t, listLaws(t), laws.Bounds{Moves: 24, Pairs: 6}) }

func listLaws(t *testing.T) *laws.Subject {
	s := lawsSubject(t, "lists", pickCases("lb", "lb ports", "lb node port", "lb other ranges", "nlb", "nlb local", "nlb dual"))
	s.Read = readEntries
	s.Known = []laws.Known{
		{Law: laws.NothingLost, From: "lb node port", Reason: oldNodePort},
		{Law: laws.NothingLost, From: "nlb local", Reason: oldNodePort},
		{Law: laws.WholeDeletion, From: "lb", Refused: refusedSteps(plan.Delete, KindEntry), Only: laws.AfterRestart, Reason: noRecord},
	}
	return s
}

// TestLawsShared does so for Services that share a security list.
func TestLawsShared(t *testing.T) { laws.Check(t, sharedLaws(t), laws.Bounds{Moves: 14, Pairs: 6}) }

func sharedLaws(t *testing.T) *laws.Subject {
	s := lawsSubject(t, "shared", pickCases("lb", "lb ports", "lb ranges", "nlb", "nlb local"))
	s.Read = readEntries
	s.Neighbours = [][2]string{{"lb", "lb"}, {"lb ports", "lb"}, {"lb", "lb ranges"}, {"nlb", "lb"}, {"lb", "nlb local"}, {"nlb local", "nlb"}}
	s.Known = []laws.Known{
		{Law: laws.NothingLost, From: "nlb local", Reason: oldNodePort},
		{Law: laws.WholeDeletion, From: "lb", Beside: "lb", Refused: refusedSteps(plan.Delete, KindBalancer), Only: laws.AfterRestart, Reason: noRecord},
		{Law: laws.WholeDeletion, From: "lb", Beside: "lb", Refused: refusedSteps(plan.Delete, KindBalancer), Only: laws.WithoutAnswer, Reason: "a deletion without an answer may still be performed, and rules that are created after it have no load balancer as evidence"},
		{Law: laws.WholeDeletion, Refused: refusedSteps(plan.Delete, KindEntry), Only: laws.AfterRestart, Reason: noRecord},
	}
	return s
}

// noRecord is why a rule that a previous process has deleted is not restored.
const noRecord = "a rule of a security list has no mark, and OwnedScope reads nothing of what the Service desires, so a new process cannot compute the rules that the last one has deleted"

// pickCases returns the cases of these names, with rules in security lists.
func pickCases(names ...string) []props.Case {
	return slices.DeleteFunc(lawCases("SL-All"), func(c props.Case) bool { return !slices.Contains(names, c.Name) })
}

// TestLawsGroups does so with rules in network security groups.
func TestLawsGroups(t *testing.T) { laws.Check(t, groupLaws(t), laws.Bounds{Pairs: 6}) }

func groupLaws(t *testing.T) *laws.Subject {
	return lawsSubject(t, "groups", lawCases("NSG", backendGroupsKey.Name, lawsGroup))
}

// TestLawsNone does so where the operator manages all rules.
func TestLawsNone(t *testing.T) { laws.Check(t, noneLaws(t), laws.Bounds{Moves: 90, Pairs: 6}) }

func noneLaws(t *testing.T) *laws.Subject {
	nlb := map[string]string{typeKey.Name: NLB, ruleModeKey.Name: "None"}
	list := append(lawCases("None"), props.Service("nlb mixed", nlb, func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }))
	return lawsSubject(t, "none", list)
}

// oldNodePort is why nothing is kept for a node port, or a port of health checks, that a Service had.
const oldNodePort = "kube-proxy answers at the ports of the present Service alone, so the old ones answer no client"

func refusedSteps(a plan.Action, k stack.Kind) []laws.Match {
	return []laws.Match{{Action: a, Kind: k}}
}

// lawCases returns the Services that are changed into each other, with a mode of rules.
func lawCases(mode string, annotations ...string) []props.Case {
	with := func(kind string, more ...string) map[string]string {
		out := map[string]string{typeKey.Name: kind, ruleModeKey.Name: mode}
		for i := 0; i+1 < len(annotations); i += 2 {
			out[annotations[i]] = annotations[i+1]
		}
		for i := 0; i+1 < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	ranges := func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "192.0.2.0/24"} }
	otherRanges := func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"192.0.2.0/25"} }
	ports := func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[1].Port = 8080, 8443 }
	one := func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }
	nodePort := func(s *corev1.ServiceSpec) { s.Ports[1].NodePort = 31443 }
	return []props.Case{
		props.Service("lb", with(LB)),
		props.Service("lb ranges", with(LB), ranges),
		props.Service("lb other ranges", with(LB), otherRanges),
		props.Service("lb ports", with(LB), ports),
		props.Service("lb one", with(LB), one),
		props.Service("lb node port", with(LB), nodePort),
		props.Service("lb http", with(LB, protocolKey.Name, "HTTP", shapeKey.Name, "flexible", leastKey.Name, "10", mostKey.Name, "100"), ports),
		props.Service("nlb", with(NLB)),
		props.Service("nlb ports", with(NLB), ports),
		props.Service("nlb local", with(NLB), props.Local, ranges),
		props.Service("nlb dual", with(NLB), props.Dual),
	}
}

// lawsSubject returns a tenancy as the laws see it.
func lawsSubject(t testing.TB, name string, list []props.Case) *laws.Subject {
	t.Helper()
	front := Subnet{ID: lawsFront, VCN: "vcn", CIDR: netip.MustParsePrefix("10.0.16.0/20"), CIDR6: []netip.Prefix{netip.MustParsePrefix("2001:db8:10:1::/64")}, List: "front"}
	nodes := Subnet{ID: lawsNodes, VCN: "vcn", CIDR: netip.MustParsePrefix("10.0.128.0/17"), CIDR6: []netip.Prefix{netip.MustParsePrefix("2001:db8:10:2::/64")}, List: "nodes"}
	facts := &Facts{Subnets: map[string]Subnet{lawsFront: front, lawsNodes: nodes}, Machines: []Subnet{nodes}, Groups: map[string]bool{lawsGroup: true}}
	cloud := Cloud()
	config := cases.Config(t, ReadConfig, "auth: {region: iad, tenancy: t, user: u, key: k, fingerprint: f}\ncompartment: ocid1.compartment.oc1..c\nvcn: vcn\nloadBalancer: {subnet1: "+lawsFront+"}\n")
	services := laws.Services[Config, *Facts]{Cloud: &cloud, Config: config, Cluster: "kubernetes", Nodes: lawsMachines, Facts: func(*laws.World, Input) *Facts { return facts }}
	s := &laws.Subject{Name: name, Rules: cloud.Rules, Flows: cloud.Flows, Created: completeCreated, Refuses: refuseStep, AdmitsPorts: true}
	for _, c := range list {
		byOwner := map[stack.Owner]laws.Case{}
		for i := range 3 {
			svc := c.Service.DeepCopy()
			for n := range svc.Spec.Ports {
				svc.Spec.Ports[n].NodePort += int32(100 * i) // of one Service in a cluster
			}
			if svc.Spec.HealthCheckNodePort > 0 {
				svc.Spec.HealthCheckNodePort += int32(100 * i)
			}
			byOwner[laws.OwnerOf(i)] = services.Case(t, c.Name, svc)
		}
		s.Cases = append(s.Cases, laws.Case{Name: c.Name, Build: func(w *laws.World, o stack.Owner, day laws.Day, have *stack.Stack) *stack.Stack {
			return byOwner[o].Build(w, o, day, have)
		}, Today: byOwner[laws.OwnerOf(0)].Today, Vary: byOwner[laws.OwnerOf(0)].Vary})
	}
	return s
}

// lawsMachines returns three nodes; on the second day another one has replaced the third.
func lawsMachines(day laws.Day) []corev1.Node {
	var out []corev1.Node
	for _, n := range []int{1, 2, 3 + int(day)} {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n)}, Spec: corev1.NodeSpec{ProviderID: fmt.Sprintf("oci://ocid1.instance.oc1.iad.n%d", n)}}
		node.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.129.%d", n)},
			{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("2001:db8:10:2::%d", n)},
		}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		out = append(out, node)
	}
	return out
}

// completeCreated gives load balancers the addresses that the cloud chooses, and parts the
// identifiers and proofs that a read returns.
func completeCreated(_ *laws.World, _ stack.Owner, r stack.Resource) stack.Resource {
	switch spec := r.Spec.(type) {
	case Balancer:
		h := fnv.New32a()
		_, _ = h.Write([]byte(r.ID)) // never fails
		r.Proof = stack.Name
		spec.Addresses = []Address{{IP: fmt.Sprintf("198.18.%d.%d", h.Sum32()%256, h.Sum32()>>8%256), Public: true}}
		if spec.Version != V4 {
			spec.Addresses = append(spec.Addresses, Address{IP: fmt.Sprintf("2001:db8:10:1::%x", h.Sum32()%65536), Public: true})
		}
		r.Spec = spec
	case Entry:
		r.Proof = stack.Leftover
	case GroupRules:
		r.Proof = stack.Description
	case BackendSet, Listener:
		r.Proof = stack.Derived
	}
	return r
}

// readEntries gives rules of security lists the proof that a read returns: a rule without a
// description is a Service's if its port is one of the Service's load balancers.
func readEntries(_ *laws.World, view *stack.Stack) *stack.Stack {
	listening, behind := map[int32]bool{}, map[int32]bool{}
	for _, r := range view.Resources {
		switch spec := r.Spec.(type) {
		case Listener:
			listening[spec.Port] = true
		case BackendSet:
			behind[spec.Health.Port], behind[nodeports.KubeProxyPort] = true, true
			for _, b := range spec.Backends {
				behind[b.Port] = true
			}
		}
	}
	for i, r := range view.Resources {
		e, is := r.Spec.(Entry)
		if !is {
			continue
		}
		ours := behind[e.Port]
		if e.List == "front" && e.Direction == Ingress {
			ours = listening[e.Port]
		}
		view.Resources[i].Proof = stack.None
		if ours {
			view.Resources[i].Proof = stack.Leftover
		}
	}
	return view
}

// refuseStep refuses what the cloud refuses: the deletion of a backend set that a listener
// has, of a group that a load balancer is in, and a family that nothing has an address of.
func refuseStep(w *laws.World, s plan.Step) error {
	view := w.Observed(s.ID.Owner)
	if s.ID.Action == plan.Delete {
		for _, r := range view.Resources {
			refs := stack.Refs(r.Spec)
			if r.In == s.Target.In && slices.ContainsFunc(refs, func(ref stack.Ref) bool { return ref.To == s.Target.Key }) && s.Target.In != (stack.Key{}) {
				return fault.New(fault.Invalid, "%s is in use by %s", s.Target.Key, r.Key)
			}
			if b, is := r.Spec.(Balancer); is && s.Target.Key == groupKey() && !b.Own.IsZero() {
				return fault.New(fault.Invalid, "%s is in use by %s", s.Target.Key, r.Key)
			}
		}
		return nil
	}
	if set, is := s.Target.Spec.(BackendSet); is && s.ID.Action == plan.Create {
		if b, ok := stack.SpecOf[Balancer](view, s.Target.In); ok && set.Version == V6 && b.Version == V4 {
			return fault.New(fault.Invalid, "%s has no address of IPv6", s.Target.In)
		}
	}
	return nil
}

package model

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/laws"
)

// The reserved addresses of the project: several forwarding rules may have each.
const (
	reservedExternal = "203.0.113.9"
	reservedInternal = "10.128.0.9"
)

// TestLawsOlder holds the plans of target pools and of internal load balancers on instance
// groups against the laws about traffic.
func TestLawsOlder(t *testing.T) { laws.Check(t, olderLaws(t), laws.Bounds{Pairs: 10}) }

// TestLawsNewer holds the plans of the newer kinds against the laws.
func TestLawsNewer(t *testing.T) { laws.Check(t, newerLaws(t), laws.Bounds{Pairs: 10}) }

func lawsSubject(t testing.TB, name string, services map[string]*corev1.Service) *laws.Subject {
	t.Helper()
	config, cloud := lawsConfig(t), Cloud()
	s := &laws.Subject{Name: name, Rules: cloud.Rules, Flows: cloud.Flows, Match: cloud.MatchFound, Created: giveAddress, Updated: giveAddress, Refuses: refuseStep}
	for _, n := range sortedNames(services) {
		c := &lawsCase{t: t, cloud: &cloud, config: config, svc: services[n], known: map[ofDay]input{}}
		s.Cases = append(s.Cases, laws.Case{Name: n, Build: c.build, Publish: c.publish, Vary: c.vary})
	}
	return s
}

// lawsConfig returns the configuration of the cluster.
func lawsConfig(t testing.TB) Config {
	t.Helper()
	config, problems, err := ReadConfig(strings.NewReader(`[global]
project-id = proj
network-name = net
subnetwork-name = sub
local-zone = us-central1-a
multizone = true
node-tags = gke-c1-node
[berth]
cluster-id = 1a2b3c4d5e6f7081
cluster-uid = 1a2b3c4d5e6f7081
kube-system-uid = kubesystem-uid1
`))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return config
}

// lawsCase builds a Service as the loop does it, with the address that was published before.
type lawsCase struct {
	t      testing.TB
	cloud  *providers.Cloud[Config, *Facts]
	config Config
	svc    *corev1.Service
	known  map[ofDay]input
}

// ofDay names what a Service is built from.
type ofDay struct {
	owner stack.Owner
	day   laws.Day
}

// input returns what a Service is built from, with the status that it has published.
func (c *lawsCase) input(w *laws.World, o stack.Owner, day laws.Day) input {
	in, ok := c.known[ofDay{o, day}]
	if !ok {
		svc := c.svc.DeepCopy()
		svc.Namespace, svc.Name, svc.UID = o.Namespace, o.Name, types.UID(o.UID)
		var problems annotations.Problems
		in, problems = cases.Input(c.cloud, c.config, svc, cases.Around{Cluster: "kubernetes", Nodes: lawsNodes(day)})
		if problems.Errors() {
			c.t.Fatal(problems.Strings())
		}
		c.known[ofDay{o, day}] = in
	}
	svc := *in.Service
	svc.Status.LoadBalancer.Ingress, _ = w.Published(o).([]corev1.LoadBalancerIngress)
	in.Service = &svc
	return in
}

func (c *lawsCase) build(w *laws.World, o stack.Owner, day laws.Day, have *stack.Stack) *stack.Stack {
	in := c.input(w, o, day)
	want, problems, err := buildStack(in, lawsFacts(w, in), have)
	if err != nil {
		c.t.Fatal(err)
	}
	if problems.Errors() {
		return nil
	}
	return want
}

// publish returns the addresses of the load balancer; nil if none serves.
func (c *lawsCase) publish(w *laws.World, o stack.Owner, day laws.Day, have *stack.Stack) any {
	if now := statusOf(c.input(w, o, day), have).Ingress; len(now) > 0 {
		return now
	}
	return nil
}

// vary returns the case of the Service with a change.
func (c *lawsCase) vary(change func(*corev1.Service)) laws.Case {
	varied := &lawsCase{t: c.t, cloud: c.cloud, config: c.config, svc: c.svc.DeepCopy(), known: map[ofDay]input{}}
	change(varied.svc)
	return laws.Case{Build: varied.build}
}

func sortedNames(services map[string]*corev1.Service) []string {
	var out []string
	for n := range services {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// lawsNodes returns three machines; on the second day another one has replaced the third.
func lawsNodes(day laws.Day) []corev1.Node {
	var out []corev1.Node
	for _, n := range []int{1, 2, 3 + int(day)} {
		name, ip := fmt.Sprintf("node-%d", n), fmt.Sprintf("10.128.0.1%d", n)
		out = append(out, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: "us-central1-a"}},
			Spec:       corev1.NodeSpec{ProviderID: "gce://proj/us-central1-a/" + name},
			Status: corev1.NodeStatus{
				Addresses:  []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
	}
	return out
}

// lawsFacts returns what a read would bring: subnets, machines, reserved addresses, and the rules on them.
func lawsFacts(w *laws.World, in providers.Input[Config]) *Facts {
	const region = "projects/proj/regions/us-central1/subnetworks/"
	f := &Facts{
		Zones: []string{"us-central1-a"}, Network: "projects/proj/global/networks/net", Subnet: region + "sub", Instances: map[string]Instance{},
		Subnets: []Subnet{
			{Name: "sub", Path: region + "sub", Network: "projects/proj/global/networks/net", CIDR: "10.128.0.0/20", StackType: "IPV4_IPV6", IPv6Access: SchemeExternal},
			{Name: "sub6", Path: region + "sub6", Network: "projects/proj/global/networks/net", CIDR: "10.131.0.0/20", StackType: "IPV4_IPV6", IPv6Access: SchemeInternal},
		},
		Addresses: []Reserved{
			{Name: "inside", IP: reservedInternal, IPVersion: VersionIPv4, Type: SchemeInternal, Subnet: region + "sub", Purpose: purposeShared},
			{Name: "outside", IP: reservedExternal, IPVersion: VersionIPv4, Type: SchemeExternal, Tier: TierPremium},
		},
	}
	for n := range 4 {
		f.Instances[fmt.Sprintf("node-%d", n+1)] = Instance{Zone: "us-central1-a", Tags: []string{"gke-c1-node"}}
	}
	for _, r := range rulesIn(w) {
		if r.IP == in.Service.Spec.LoadBalancerIP {
			f.Rules = append(f.Rules, OtherRule{Name: r.Name, Description: r.Description, Scheme: r.Scheme, Network: r.Network, IP: r.IP, Protocol: r.Protocol, Ports: r.Ports})
		}
	}
	return f
}

// specsIn returns the specs of a type of all owners.
func specsIn[T any](w *laws.World) []T {
	var out []T
	for _, o := range w.Owners() {
		for _, r := range w.Observed(o).Resources {
			if spec, ok := r.Spec.(T); ok {
				out = append(out, spec)
			}
		}
	}
	return out
}

func rulesIn(w *laws.World) []Rule { return specsIn[Rule](w) }

// giveAddress completes rules, addresses and firewalls with IPs, as the cloud does.
func giveAddress(w *laws.World, o stack.Owner, r stack.Resource) stack.Resource {
	switch spec := r.Spec.(type) {
	case Rule:
		if held, _, ok := w.Find(KindAddress, spec.Address.ID); ok && spec.IP == "" {
			a, _ := held.Spec.(Address)
			spec.IP = a.IP
		}
		if spec.IP == "" {
			spec.IP = newIP(w, o, spec.Scheme, spec.IPVersion)
		}
		spec.Address, spec.Wish = stack.Ref{}, false
		r.Spec = spec
	case Address:
		if spec.IP == "" {
			spec.IP = newIP(w, o, spec.Type, spec.IPVersion)
		}
		r.Spec = spec
	case Firewall:
		to := spec.Destination
		if rule, _, ok := w.Find(to.To.Kind, to.ID); ok && to.ID != "" {
			at, _ := rule.Spec.(Rule)
			ip := at.IP
			if at.IPVersion == VersionIPv6 && at.Scheme == SchemeExternal {
				ip += ExternalRange
			}
			r.Spec = spec.At(ip)
		}
	}
	return r
}

// newIP returns an address that no rule had before.
func newIP(w *laws.World, o stack.Owner, scheme, version string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(w.NewID(o, stack.Key{Kind: "ip", Name: scheme + version}))) // never fails
	n := h.Sum32()
	a, b := n>>8&0xff, n&0xff
	switch {
	case version == VersionIPv6 && scheme == SchemeInternal:
		return fmt.Sprintf("fd20::%x:%x:0:0", a+1, b+1)
	case version == VersionIPv6:
		return fmt.Sprintf("2001:db8:%x:%x::", a+1, b+1)
	case scheme == SchemeInternal:
		return fmt.Sprintf("10.128.%d.%d", a%8+4, b)
	}
	return fmt.Sprintf("198.18.%d.%d", a, b)
}

// refuseStep refuses what Google Cloud refuses in this state.
func refuseStep(w *laws.World, s plan.Step) error {
	switch spec := s.Target.Spec.(type) {
	case Rule:
		if s.ID.Action == plan.Create {
			return refuseRule(w, spec)
		}
	case Backend:
		if s.ID.Action == plan.Update && s.Touches("Protocol") && isReferred(w, s) {
			return fault.New(fault.Invalid, "a forwarding rule refers to %s", s.ID.Key)
		}
	}
	if s.ID.Action == plan.Delete && isReferred(w, s) {
		return fault.New(fault.InUse, "%s is in use", s.ID.Key)
	}
	return nil
}

func refuseRule(w *laws.World, rule Rule) error {
	reserved := rule.IP == reservedExternal || rule.IP == reservedInternal
	for _, a := range specsIn[Address](w) {
		reserved = reserved || a.IP == rule.IP
	}
	if rule.IP != "" && rule.Scheme == SchemeExternal && !reserved {
		return fault.New(fault.Invalid, "%s is not reserved", rule.IP)
	}
	if rule.IP == reservedInternal && LastOf(rule.Subnet) != "sub" {
		return fault.New(fault.Invalid, "%s is outside of %s", rule.IP, rule.Subnet)
	}
	for _, other := range rulesIn(w) {
		switch {
		case other.Name == rule.Name:
			return fault.New(fault.Exists, "%s exists", rule.Name)
		case other.IP == rule.IP && other.Scheme == rule.Scheme && other.Protocol == rule.Protocol && other.Ports.hasCommon(rule.Ports):
			return fault.New(fault.Invalid, "%s is in use by %s", rule.IP, other.Name)
		}
	}
	return nil
}

// isReferred reports whether a resource refers to the target of the step.
func isReferred(w *laws.World, s plan.Step) bool {
	for _, o := range w.Owners() {
		view := w.Observed(o)
		for _, r := range view.Resources {
			if _, door := r.Spec.(Firewall); door {
				continue
			}
			for _, ref := range stack.Refs(r.Spec) {
				target, _ := view.Get(ref.To)
				if s.Target.ID != "" && (ref.ID == s.Target.ID || target.ID == s.Target.ID && target.Key.Kind == s.Target.Key.Kind) {
					return true
				}
			}
		}
	}
	return false
}

package model

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/laws"
)

// TestLawsPublic holds the plans of public Services against the laws about traffic.
func TestLawsPublic(t *testing.T) { laws.Check(t, publicLaws(t), laws.Bounds{Pairs: 6}) }

// TestLawsInternal does so for internal Services, and for moves between both kinds.
func TestLawsInternal(t *testing.T) {
	laws.Check(t, internalLaws(t), laws.Bounds{Pairs: 6})
}

func lawsSubject(t testing.TB, name string, list map[string]*corev1.Service) *laws.Subject {
	t.Helper()
	return lawsSubjectOf(t, name, testConfig(), list)
}

func lawsSubjectOf(t testing.TB, name string, c Config, list map[string]*corev1.Service) *laws.Subject {
	t.Helper()
	cloud := bundle()
	s := &laws.Subject{
		Name: name, Rules: cloud.Rules, Flows: cloud.Flows, Match: cloud.MatchFound, Read: readShared,
		Created: chooseAddress, Updated: chooseAddress, Refuses: refuseStep,
	}
	for ip, at := range map[string]string{"gateway": gatewayIP, "second": secondIP} {
		s.Existing = append(s.Existing, stack.Resource{
			Key: PublicIPKey("rg", ip), ID: testConfig().PublicIPID(PublicIPKey("rg", ip)), Ownership: stack.External,
			Spec: PublicIP{Group: "rg", Name: ip, Version: ipv4, Address: at, SKU: "Standard"},
		})
	}
	services := laws.Services[Config, *Facts]{Cloud: cloud, Config: c, Cluster: "kubernetes", Nodes: lawsNodes, Facts: lawsFacts}
	for n, svc := range list {
		s.Cases = append(s.Cases, services.Case(t, n, svc))
	}
	slices.SortFunc(s.Cases, func(a, b laws.Case) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// lawsNodes returns three machines; on the second day another one has replaced the third.
func lawsNodes(day laws.Day) []corev1.Node {
	var out []corev1.Node
	for _, n := range []int{1, 2, 3 + int(day)} {
		name := fmt.Sprintf("node-%d", n)
		out = append(out, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.NodeSpec{ProviderID: "azure:///subscriptions/sub/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/" + name},
			Status: corev1.NodeStatus{
				Addresses: []corev1.NodeAddress{
					{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.240.0.%d", n)}, {Type: corev1.NodeInternalIP, Address: fmt.Sprintf("fd00::%d", n)},
				},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
	}
	return out
}

// balancersIn lists the load balancers that the entries of all owners make up.
func balancersIn(w *laws.World) []FoundBalancer {
	var out []FoundBalancer
	for _, o := range w.Owners() {
		for _, r := range w.Held(o) {
			e, ok := r.Spec.(Entries)
			if !ok {
				continue
			}
			i := slices.IndexFunc(out, func(lb FoundBalancer) bool { return lb.Name == e.Balancer })
			if i < 0 {
				out, i = append(out, FoundBalancer{Name: e.Balancer, SKU: "Standard"}), len(out)
			}
			lb := &out[i]
			for _, f := range e.Frontends {
				at := slices.IndexFunc(lb.Frontends, func(g FoundFrontend) bool { return g.Name == f.Name })
				if at < 0 {
					lb.Frontends, at = append(lb.Frontends, FoundFrontend{Frontend: f}), len(lb.Frontends)
				}
				for _, rule := range e.Rules {
					if rule.Frontend == f.Name {
						lb.Frontends[at].Users = append(lb.Frontends[at].Users, rule.Name)
						lb.Frontends[at].Serves = append(lb.Frontends[at].Serves, rule.servedPort())
					}
				}
			}
		}
	}
	for i := range out {
		for j := range out[i].Frontends {
			if ref := out[i].Frontends[j].PublicIP; ref.ID != "" {
				out[i].Frontends[j].PublicIP = stack.RefTo(PublicIPKeyOf(ref.ID))
			}
		}
	}
	return out
}

// publicIPsIn lists the public IPs of the user, and the created ones.
func publicIPsIn(w *laws.World) []FoundIP {
	var out []FoundIP
	for _, r := range w.Held(stack.Owner{}) {
		ip, ok := r.Spec.(PublicIP)
		if !ok {
			continue
		}
		found := FoundIP{Group: ip.Group, Name: ip.Name, Address: ip.Address, Version: ip.Version, SKU: "Standard", Tags: ip.Tags, Cluster: ip.Tags.Cluster(), IPTags: Tags{}}
		if ip.IPTags != nil {
			found.IPTags = *ip.IPTags
		}
		for _, o := range w.Owners() {
			if slices.ContainsFunc(w.Held(o), func(b stack.Resource) bool { return b.Key == bindingKey(ip.Group, ip.Name) }) {
				found.Services = append(found.Services, ServiceKey(o))
			}
		}
		out = append(out, found)
	}
	return out
}

// lawsFacts returns what a read would bring.
func lawsFacts(w *laws.World, _ providers.Input[Config]) *Facts {
	f := testFacts()
	f.Machines = map[string]Machine{}
	for _, day := range []laws.Day{laws.Before, laws.Today} {
		for _, n := range lawsNodes(day) {
			f.Machines[lowerCase(n.Spec.ProviderID)] = Machine{NIC: "/nics/" + n.Name}
		}
	}
	f.Security, f.Groups, f.Balancers, f.PublicIPs = true, []string{"rg"}, balancersIn(w), publicIPsIn(w)
	return &f
}

// readShared completes a read with what the session derives of shared resources: whose they
// are, and which of them concern the owner.
func readShared(w *laws.World, view *stack.Stack) *stack.Stack {
	base := BaseName(view.Owner.UID)
	var entries []Entries
	for i, r := range view.Resources {
		if e, ok := r.Spec.(Entries); ok {
			e.Frontends = slices.Clone(e.Frontends)
			for j, f := range e.Frontends {
				if f.PublicIP.ID != "" {
					e.Frontends[j].PublicIP = stack.RefTo(PublicIPKeyOf(f.PublicIP.ID))
				}
			}
			view.Resources[i].Spec = e
			entries = append(entries, e)
		}
	}
	balancers, ips := balancersIn(w), publicIPsIn(w)
	var nodes []string
	for _, day := range []laws.Day{laws.Before, laws.Today} {
		for _, n := range lawsNodes(day) {
			for _, a := range n.Status.Addresses {
				nodes = append(nodes, a.Address)
			}
		}
	}
	who := SeekerOf(testConfig(), base, entries, balancers, ips, nodes, []string{gatewayIP, secondIP, "10.240.9.1", "10.240.9.2"}, view.Owner)
	out := &stack.Stack{Owner: view.Owner}
	for _, r := range view.Resources {
		switch spec := r.Spec.(type) {
		case Access:
			proof, concerns := who.proof(spec)
			if !concerns {
				continue
			}
			r.Proof, spec.Alone = proof, who.Own[spec.Destination] || who.leftover(spec.Destination)
			r.Spec = spec
		case Pool:
			r.Proof = poolProofIn(w, view.Owner, entries, r.Key)
		case NICs:
			r.Proof = poolProofIn(w, view.Owner, entries, spec.Pool.To)
		case PublicIP:
			i := slices.IndexFunc(ips, func(f FoundIP) bool { return f.Name == spec.Name })
			if r.Ownership == stack.External || !slices.Contains(ips[i].Services, ServiceKey(view.Owner)) {
				continue
			}
			spec.Services = ips[i].Services
			r.Spec = spec
		}
		out.Resources = append(out.Resources, r)
	}
	return out
}

// poolProofIn is PoolProof of the world.
func poolProofIn(w *laws.World, me stack.Owner, mine []Entries, pool stack.Key) stack.Proof {
	uses := func(e Entries) bool {
		return slices.ContainsFunc(e.Rules, func(r Rule) bool { return PoolKey(e.Balancer, r.Pool) == pool })
	}
	if slices.ContainsFunc(mine, uses) {
		return stack.Derived
	}
	for _, o := range w.Owners() {
		for _, r := range w.Held(o) {
			if e, ok := r.Spec.(Entries); ok && o != me && uses(e) {
				return stack.None
			}
		}
	}
	if slices.ContainsFunc(mine, func(e Entries) bool { return strings.HasPrefix(pool.Name, lowerCase(e.Balancer)+"/") }) {
		return stack.Derived
	}
	return stack.None
}

// chooseAddress completes public IPs and frontends with addresses, as Azure does.
func chooseAddress(w *laws.World, o stack.Owner, r stack.Resource) stack.Resource {
	switch spec := r.Spec.(type) {
	case PublicIP:
		if spec.Address == "" {
			spec.Address = lawsAddress(w, o, "198.18.%d.%d", "2603:1020::%x:%x", spec.Version)
		}
		r.ID, r.Spec = testConfig().PublicIPID(r.Key), spec
	case Entries:
		spec.Frontends = slices.Clone(spec.Frontends)
		for i := range spec.Frontends {
			f := &spec.Frontends[i]
			if held, _, ok := w.Find(KindPublicIP, f.PublicIP.ID); ok && f.PublicIP.ID != "" {
				ip, _ := held.Spec.(PublicIP)
				f.Address = ip.Address
			}
			if f.Address == "" && f.PublicIP.IsZero() {
				f.Address = lawsAddress(w, o, "10.240.%d.%d", "fd00::%x:%x", f.Version)
			}
		}
		r.Spec = spec
	}
	return r
}

// lawsAddress returns an address that nothing had before.
func lawsAddress(w *laws.World, o stack.Owner, four, six, version string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(w.NewID(o, stack.Key{Kind: "ip", Name: four + version}))) // never fails
	n := h.Sum32()
	if version == IPv6 {
		return Canonical(fmt.Sprintf(six, n>>16&0xffff, n&0xffff))
	}
	return fmt.Sprintf(four, 16+n>>8&0x7f, 1+n&0x7f)
}

// refuseStep refuses what Azure refuses in this state.
func refuseStep(w *laws.World, s plan.Step) error {
	switch spec := s.Target.Spec.(type) {
	case PublicIP:
		if s.ID.Action != plan.Delete {
			return nil
		}
		for _, lb := range balancersIn(w) {
			for _, f := range lb.Frontends {
				if f.PublicIP.To == s.Target.Key {
					return fault.New(fault.InUse, "%s is attached to %s", spec.Name, f.Name)
				}
			}
		}
	case Pool:
		return refusePool(w, s, spec)
	case Entries:
		if s.ID.Action == plan.Delete {
			return refuseLast(w, s, spec)
		}
		for _, o := range w.Owners() {
			for _, r := range w.Held(o) {
				other, ok := r.Spec.(Entries)
				if ok && o != s.ID.Owner && sharesPort(spec, other) {
					return fault.New(fault.Taken, "a port is taken by %s", o)
				}
			}
		}
	}
	return nil
}

// othersOn returns the entries in a load balancer, without those of one owner.
func othersOn(w *laws.World, balancer string, but stack.Owner) []Entries {
	var out []Entries
	for _, o := range w.Owners() {
		for _, r := range w.Held(o) {
			if e, ok := r.Spec.(Entries); ok && e.Balancer == balancer && o != but {
				out = append(out, e)
			}
		}
	}
	return out
}

// refusePool refuses a pool of a load balancer that does not exist, and the deletion of one
// that a rule refers to.
func refusePool(w *laws.World, s plan.Step, pool Pool) error {
	all := othersOn(w, pool.Balancer, stack.Owner{})
	switch s.ID.Action {
	case plan.Create:
		if len(all) == 0 {
			return fault.New(fault.Invalid, "load balancer %s does not exist", pool.Balancer)
		}
	case plan.Delete:
		for _, e := range all {
			if slices.ContainsFunc(e.Rules, func(r Rule) bool { return PoolKey(e.Balancer, r.Pool) == s.Target.Key }) {
				return fault.New(fault.InUse, "a rule refers to %s", s.Target.Key)
			}
		}
	case plan.Update, plan.Forget:
	}
	return nil
}

// refuseLast refuses the deletion of the last entries of a load balancer with machines in it.
func refuseLast(w *laws.World, s plan.Step, entries Entries) error {
	if len(othersOn(w, entries.Balancer, s.ID.Owner)) > 0 {
		return nil
	}
	for _, r := range w.Held(stack.Owner{}) {
		if nics, ok := r.Spec.(NICs); ok && len(nics.Members) > 0 && r.In == BalancerKey(entries.Balancer) {
			return fault.New(fault.InUse, "machines are in %s", r.Key)
		}
	}
	return nil
}

// sharesPort reports whether two Services have one port of one address.
func sharesPort(a, b Entries) bool {
	ports := map[string]bool{}
	at := func(e Entries, r Rule) string {
		for _, f := range e.Frontends {
			if f.Name == r.Frontend {
				return fmt.Sprint(f.Address, r.Protocol, r.FrontendPort)
			}
		}
		return ""
	}
	for _, r := range a.Rules {
		ports[at(a, r)] = true
	}
	return slices.ContainsFunc(b.Rules, func(r Rule) bool { return ports[at(b, r)] })
}

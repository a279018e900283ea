package model

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/ledger"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// TestUnchangedMakesNoAddress: what runs and is not changed never holds an IP.
func TestUnchangedMakesNoAddress(t *testing.T) {
	for _, c := range suite().All(t) {
		if !c.World.TakeOver {
			continue
		}
		if r := c.Run(t); len(r.Want.Of(KindAddress)) > 0 {
			t.Errorf("%s: %v", c.Name, r.Want.Of(KindAddress))
		}
	}
}

// TestShared: a resource that the Services of a cluster share has one identity and
// content, whichever Service wants it, and is deleted with the last one.
func TestShared(t *testing.T) {
	c := suite().Open(t, "ilb-ig-basic")
	other := c.Service.DeepCopy()
	other.Name, other.UID = "other", "1f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
	wants := map[string]*stack.Stack{}
	for _, svc := range []*corev1.Service{c.Service, other} {
		in, _ := inputOf(c.Config, svc, c.World.Nodes)
		want, problems, err := buildStack(in, c.World.Facts, nil)
		if err != nil || problems.Errors() {
			t.Fatal(err, problems)
		}
		wants[svc.Name] = want
	}
	shared := func(s *stack.Stack) map[stack.Key]stack.Spec {
		out := map[stack.Key]stack.Spec{}
		for _, r := range s.Resources {
			if r.Ownership == stack.Shared {
				out[r.Key] = r.Spec
			}
		}
		return out
	}
	if d := cmp.Diff(shared(wants["name"]), shared(wants["other"])); d != "" || len(shared(wants["name"])) != 4 {
		t.Errorf("(-name +other)\n%s", d)
	}
	l := ledger.New()
	l.SetReady()
	l.Enter(wants["other"].Owner, wants["other"].Resources)
	p := diff.Compare(&stack.Stack{Owner: wants["name"].Owner}, asFound(wants["name"], nil), Rules(), l)
	for _, s := range p.Steps {
		_, isShared := shared(wants["name"])[s.ID.Key]
		if isShared != (s.ID.Action == plan.Forget) {
			t.Errorf("%s: shared is %t", s.ID, isShared)
		}
	}
}

// TestFollow: a Service that cannot be understood keeps what it has, with the
// nodes of today.
func TestFollow(t *testing.T) {
	for _, name := range []string{"tp-basic", "ilb-ig-basic", "netlb-basic", "takeover-ilb-neg"} {
		t.Run(name, func(t *testing.T) {
			c := suite().Open(t, name)
			r := c.Run(t)
			have := asFound(r.Want, r.Have)
			in, _ := c.Input(c.Service)
			if p := diff.Compare(keepServing(in, c.World.Facts, have), have, Rules(), cases.ReadyLedger()); !p.Empty() {
				t.Errorf("nothing has changed:\n%s", planText(p))
			}
			c.World.Nodes = c.World.Nodes[:2] // zone b has none any more
			in, _ = c.Input(c.Service)
			p := diff.Compare(keepServing(in, c.World.Facts, have), have, Rules(), cases.ReadyLedger())
			if name == "tp-basic" {
				return // the instance still exists
			}
			if len(p.Steps) == 0 || len(p.Blocked) > 0 {
				t.Errorf("a node has gone:\n%s", planText(p))
			}
		})
	}
}

// TestStatusOfReplacedFamily: the address of one family stays published while its rule is
// replaced, and no longer than the Service has the family.
func TestStatusOfReplacedFamily(t *testing.T) {
	c := suite().Open(t, "netlb-neg-dual")
	in, _ := c.Input(c.Service)
	want, _, err := buildStack(in, c.World.Facts, c.Have(t))
	if err != nil {
		t.Fatal(err)
	}
	have := asFound(want, c.Have(t))
	in.Service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.7"}, {IP: "2001:db8::7"}}
	for r, rule := range stack.Each[Rule](have, KindExternalRule) {
		if rule.IPVersion == VersionIPv4 {
			have.Drop(r.Key)
		}
	}
	if got := statusOf(in, have).Ingress; len(got) != 2 || got[0].IP != "203.0.113.7" {
		t.Errorf("both families: %v", got)
	}
	in.Service.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol}
	if got := statusOf(in, have).Ingress; len(got) != 1 || got[0].IP == "203.0.113.7" {
		t.Errorf("one family: %v", got)
	}
}

// TestStatusWhileMoving: until the new load balancer exists the status names the old
// one.
func TestStatusWhileMoving(t *testing.T) {
	c := suite().Open(t, "tp-to-ilb-neg")
	have := c.Have(t)
	in, _ := c.Input(c.Service)
	if got := statusOf(in, have).Ingress; len(got) != 1 || got[0].IP != "203.0.113.77" {
		t.Errorf("before: %v", got)
	}
	want, _, err := buildStack(in, c.World.Facts, have)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range asFound(want, have).Resources {
		have.Put(r)
	}
	if got := statusOf(in, have).Ingress; len(got) != 1 || got[0].IP != "10.128.0.77" {
		t.Errorf("after: %v", got)
	}
}

func TestLegacyOutputs(t *testing.T) {
	for name, key := range map[string]string{"tp-basic": outLegacyPool, "ilb-ig-basic": outLegacyBackend} {
		c := suite().Open(t, name)
		r := c.Run(t)
		have := asFound(r.Want, r.Have)
		if _, touched := statusOf(r.In, have).Annotations[key]; touched {
			t.Errorf("%s: %s is written though it is not configured", name, key)
		}
		r.In.Config.LegacyOutputs = true
		if got := statusOf(r.In, have).Annotations[key]; got != "a0f1e2d3c4b5a69788796a5b4c3d2e1f" {
			t.Errorf("%s: %s is %q", name, key, got)
		}
	}
}

// TestRange: a range that spans the wanted list serves it; nothing else does.
func TestSamePorts(t *testing.T) {
	for _, tt := range []struct {
		want, have Ports
		same       bool
	}{
		{Ports{Range: "80-443"}, Ports{Range: "80-443"}, true},
		{Ports{List: []string{"80", "443"}}, Ports{Range: "80-443"}, true},
		{Ports{Range: "80-443"}, Ports{List: []string{"80", "443"}}, false},
		{Ports{List: []string{"80", "443"}}, Ports{List: []string{"443", "80"}}, true},
		{Ports{List: []string{"80"}}, Ports{List: []string{"80", "81"}}, false},
		{Ports{All: true}, Ports{All: true}, true},
		{Ports{All: true}, Ports{Range: "1-65535"}, false},
	} {
		if got := samePorts(tt.want, tt.have); got != tt.same {
			t.Errorf("%+v and %+v: %t", tt.want, tt.have, got)
		}
	}
}

func TestSameAllowed(t *testing.T) {
	a := []Allowed{{Protocol: "UDP", Ports: []string{"53"}}, {Protocol: "TCP", Ports: []string{"80", "81", "82"}}}
	b := []Allowed{{Protocol: "tcp", Ports: []string{"80-82"}}, {Protocol: "udp", Ports: []string{"53"}}}
	if !sameAllowed(a, b) {
		t.Error("ports one by one are the same as a range")
	}
	if sameAllowed(a, b[:1]) || sameAllowed([]Allowed{{Protocol: "all"}}, []Allowed{{Protocol: "tcp"}}) {
		t.Error("others are not")
	}
}

// TestCommand: an administrator can create the firewall by hand.
func TestCommand(t *testing.T) {
	r := suite().Open(t, "tp-deny-on").Run(t)
	allow, _ := r.Want.Get(stack.Key{Kind: KindFirewall, Name: keyLegacy})
	deny, _ := r.Want.Get(stack.Key{Kind: KindDeny, Name: keyLegacy})
	got := allow.Spec.(Firewall).Command("create", "host") + "\n" + deny.Spec.(Firewall).Command("delete", "host")
	want := `gcloud compute firewall-rules create k8s-fw-a0f1e2d3c4b5a69788796a5b4c3d2e1f --project host --network net ` +
		`--description "{\"kubernetes.io/service-name\":\"namespace/name\", \"kubernetes.io/service-ip\":\"203.0.113.77\"}" ` +
		`--allow tcp:80,tcp:443 --source-ranges 0.0.0.0/0 --destination-ranges 203.0.113.77 --target-tags gke-c1-node --priority 999` + "\n" +
		`gcloud compute firewall-rules delete k8s-fw-a0f1e2d3c4b5a69788796a5b4c3d2e1f-deny --project host`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestLongNamesKeepOfficial: an official firewall whose name has lost its hash
// stays where it names this Service, and is left alone where it names another.
func TestLongNamesKeepOfficial(t *testing.T) {
	c := suite().Open(t, "ilb-neg-dual-long-name")
	have := c.Have(t)
	name, _ := NamesOf(c.Config, stack.Owner{Namespace: c.Service.Namespace, Name: c.Service.Name}).checkFirewallIPv6()
	for _, proof := range []stack.Proof{stack.None, stack.Description} {
		have.Put(stack.Resource{Key: stack.Key{Kind: KindCheckFirewall, Name: keyV2IPv6}, Proof: proof, Spec: Firewall{Name: name}})
		in, _ := c.Input(c.Service)
		want, _, err := buildStack(in, c.World.Facts, have)
		if err != nil {
			t.Fatal(err)
		}
		_, official := want.Get(stack.Key{Kind: KindCheckFirewall, Name: keyV2IPv6})
		_, whole := want.Get(stack.Key{Kind: KindCheckFirewall, Name: keyV2Whole})
		if ours := proof != stack.None; official != ours || whole == ours {
			t.Errorf("ours %t: official name %t, whole name %t", ours, official, whole)
		}
		if p := diff.Compare(want, have, Rules(), cases.ReadyLedger()); proof == stack.None && strings.Contains(planText(p), name) {
			t.Errorf("another Service's firewall is in the plan:\n%s", planText(p))
		}
	}
}

// TestScope: a Service asks for the shared resources that it may want by name, and for
// the rest by use; addresses are asked for only where an annotation names one.
func TestScope(t *testing.T) {
	c := suite().Open(t, "takeover-ilb-neg")
	in, _ := inputOf(c.Config, c.Service, c.World.Nodes)
	s, err := Scope(in)
	if err != nil {
		t.Fatal(err)
	}
	var wanted, facts []string
	shared := map[string]bool{}
	for _, n := range SharedNames(c.Config) {
		shared[string(n.Key.Kind)+" "+n.Name] = true
	}
	for _, l := range s.Own {
		if name := string(l.Kind) + " " + l.Value; shared[name] && l.By == ByName {
			wanted = append(wanted, name)
		}
	}
	for _, l := range s.Facts {
		facts = append(facts, string(l.Kind))
	}
	if d := cmp.Diff([]string{"health-check k8s2-7kpbhpki-l4-shared-hc", "health-check-firewall k8s2-7kpbhpki-l4-shared-hc-fw"}, wanted); d != "" {
		t.Errorf("wanted (-want +got)\n%s", d)
	}
	if d := cmp.Diff([]string{"zones", "subnetworks"}, facts); d != "" {
		t.Errorf("facts (-want +got)\n%s", d)
	}
	if own := len(OwnedScope(in.Identity).Own); own != len(s.Own) {
		t.Errorf("ownedScope looks for %d names, scope for %d", own, len(s.Own))
	}
}

// TestIdentity: without the ids that names are made of nothing is built.
func TestIdentity(t *testing.T) {
	c := suite().Open(t, "tp-basic")
	c.Config.Identity = Identity{}
	in, _ := inputOf(c.Config, c.Service, c.World.Nodes)
	if _, _, err := buildStack(in, c.World.Facts, nil); err == nil {
		t.Error("built without ids")
	}
}

package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/stack"
)

// TestFormerSizeRules: the rules about the size of packets of an older AWS Load Balancer Controller
// are kept and reported; a range that it did not have gets the rule of today.
func TestFormerSizeRules(t *testing.T) {
	w := keyWorld(t)
	svc := suite().Open(t, "lbc-instances").Service.DeepCopy()
	svc.Spec.LoadBalancerClass = new(classLBC)
	svc.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "2001:db8::/32"}
	svc.Annotations = map[string]string{icmpKey.Name: "on", spellKey("ip-address-type"): addressDual}
	config := parseConfig(t, w.Config+"\n[Berth]\nLoadBalancerController = true\n")
	in, problems := inputOf(config, w.ClusterName, svc, w.Nodes)
	if problems.Errors() {
		t.Fatal(problems.Strings())
	}
	fresh, _, err := buildStack(in, w.Facts, &stack.Stack{})
	if err != nil {
		t.Fatal(err)
	}
	key := stack.Key{Kind: KindIngress, Name: managedGroupKey().Name}
	former := ingressOf(t, fresh, key)
	for i, r := range former {
		if strings.HasPrefix(r.Protocol, "icmp") {
			former[i] = formerSizeRule(r.CIDR)
		}
	}
	slices.SortFunc(former, Permission.Compare)
	have := &stack.Stack{Resources: []stack.Resource{{Key: key, In: managedGroupKey(), Proof: stack.Tag, Ownership: stack.Owned, Spec: Ingress{Rules: former}}}}
	kept, told, err := buildStack(in, w.Facts, have)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(former, ingressOf(t, kept, key)); d != "" {
		t.Errorf("rules of a take-over (-want +got):\n%s", d)
	}
	if text := strings.Join(told.Strings(), "; "); !strings.Contains(text, icmpKey.Name) || !strings.Contains(text, "another type of ICMP") {
		t.Errorf("not reported: %s", text)
	}
	in.Service.Spec.LoadBalancerSourceRanges = append(in.Service.Spec.LoadBalancerSourceRanges, "192.0.2.0/24")
	wider, _, err := buildStack(in, w.Facts, have)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []Permission{formerSizeRule("10.0.0.0/8"), formerSizeRule("2001:db8::/32"), sizeRule("192.0.2.0/24")} {
		if !slices.Contains(ingressOf(t, wider, key), rule) {
			t.Errorf("no rule %+v", rule)
		}
	}
}

// ingressOf returns a copy of the rules of a group.
func ingressOf(t *testing.T, s *stack.Stack, key stack.Key) []Permission {
	t.Helper()
	r, found := s.Get(key)
	spec, ok := r.Spec.(Ingress)
	if !found || !ok {
		t.Fatalf("no %v", key)
	}
	return slices.Clone(spec.Rules)
}

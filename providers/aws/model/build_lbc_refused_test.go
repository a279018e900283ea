package model

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// buildKeyed builds a Service of kind LBC with annotations in the world of keyWorld.
func buildKeyed(t *testing.T, facts *Facts, have *stack.Stack, keys map[string]string, families ...corev1.IPFamily) (*stack.Stack, annotations.Problems) {
	t.Helper()
	w := keyWorld(t)
	if facts == nil {
		facts = w.Facts
	}
	svc := suite().Open(t, "lbc-instances").Service.DeepCopy()
	svc.Spec.LoadBalancerClass = new(classLBC)
	svc.Spec.Ports, svc.Spec.ExternalTrafficPolicy, svc.Spec.HealthCheckNodePort = svc.Spec.Ports[:2], "", 0
	svc.Spec.IPFamilies, svc.Spec.SessionAffinity = families, ""
	svc.Annotations = map[string]string{}
	for key, value := range keys {
		svc.Annotations[spellKey(key)] = value
	}
	in, problems := inputOf(parseConfig(t, w.Config+"\n[Berth]\nLoadBalancerController = true\n"), w.ClusterName, svc, w.Nodes)
	want, more, err := buildStack(in, facts, have)
	if err != nil {
		t.Fatal(err)
	}
	return want, append(problems, more...)
}

// demandProblem fails unless a problem of the severity contains the text.
func demandProblem(t *testing.T, problems annotations.Problems, severity annotations.Severity, text string) {
	t.Helper()
	if !slices.ContainsFunc(problems, func(p annotations.Problem) bool {
		return p.Severity == severity && strings.Contains(strings.Join(annotations.Problems{p}.Strings(), ""), text)
	}) {
		t.Errorf("no problem %q in %q", text, problems.Strings())
	}
}

// TestIPv6NeedsDualStack verifies that targets of IPv6 are refused where AWS would refuse their
// listener, and a subnet without IPv6 on a live load balancer that is to have both families.
func TestIPv6NeedsDualStack(t *testing.T) {
	for _, target := range []string{targetIP, targetInstance} {
		for _, families := range [][]corev1.IPFamily{{corev1.IPv6Protocol}, {corev1.IPv4Protocol, corev1.IPv6Protocol}} {
			want, problems := buildKeyed(t, nil, nil, map[string]string{"nlb-target-type": target}, families...)
			if want != nil {
				t.Errorf("%s %v: is not refused", target, families)
			}
			demandProblem(t, problems, annotations.Error, "spec.ipFamilies")
			if want, problems = buildKeyed(t, nil, nil, map[string]string{"nlb-target-type": target, "ip-address-type": addressDual}, families...); want == nil {
				t.Errorf("%s %v with dualstack: %q", target, families, problems.Strings())
			}
		}
	}
	facts := keyWorld(t).Facts
	want, _ := buildKeyed(t, facts, nil, nil)
	facts.Subnets[slices.IndexFunc(facts.Subnets, func(s Subnet) bool { return s.ID == onlyNetwork(want).Mappings[0].Subnet })].CIDR6 = ""
	want, problems := buildKeyed(t, facts, asFound(want), map[string]string{"ip-address-type": addressDual})
	if want != nil {
		t.Error("a live load balancer in a subnet without IPv6 is not refused")
	}
	demandProblem(t, problems, annotations.Error, "needs IPv6 in every subnet")
}

func onlyNetwork(s *stack.Stack) Network {
	spec, _ := stack.SpecOf[Network](s, networkKey())
	return spec
}

// TestSubnetsByName verifies that each mention of a name takes one subnet of it, and that a live
// load balancer stays in its subnets.
func TestSubnetsByName(t *testing.T) {
	facts := keyWorld(t).Facts
	facts.Subnets = nil
	for _, s := range []string{"c", "a", "b"} {
		facts.Subnets = append(facts.Subnets, Subnet{ID: "subnet-" + s, Name: "edge", Zone: "eu-west-1" + s, CIDR: "10.0.0.0/24"})
	}
	chosen := func(names string, have *stack.Stack) (string, annotations.Problems) {
		want, problems := buildKeyed(t, facts, have, map[string]string{"subnets": names})
		if want == nil {
			return "", problems
		}
		return strings.Join(subnetNames(onlyNetwork(want).Mappings), " "), problems
	}
	for names, want := range map[string]string{
		"edge": "subnet-a", "edge,edge": "subnet-a subnet-b", "edge,edge,edge": "subnet-a subnet-b subnet-c", "edge,edge,edge,edge": "", "subnet-c": "subnet-c",
	} {
		if got, problems := chosen(names, nil); got != want {
			t.Errorf("%s: %q, want %q; %q", names, got, want, problems.Strings())
		}
	}
	live, _ := buildKeyed(t, facts, nil, map[string]string{"subnets": "subnet-b,subnet-c"})
	if got, _ := chosen("edge,edge", asFound(live)); got != "subnet-b subnet-c" {
		t.Errorf("a live load balancer moves to %q", got)
	}
}

// TestNameOfLiveBalancer verifies that a changed name is reported as without effect.
func TestNameOfLiveBalancer(t *testing.T) {
	live, _ := buildKeyed(t, nil, nil, map[string]string{"name": "old"})
	want, problems := buildKeyed(t, nil, asFound(live), map[string]string{"name": "new"})
	demandProblem(t, problems, annotations.Warning, "AWS cannot rename it")
	if want == nil {
		t.Error("the Service is refused")
	}
	if _, problems := buildKeyed(t, nil, asFound(live), map[string]string{"name": "old"}); strings.Contains(strings.Join(problems.Strings(), ""), "rename") {
		t.Errorf("%q", problems.Strings())
	}
}

// TestZonesWithoutSubnet verifies that targets to which AWS sends nothing are reported.
func TestZonesWithoutSubnet(t *testing.T) {
	facts := keyWorld(t).Facts
	placed, _ := buildKeyed(t, facts, nil, nil)
	zones := map[bool]string{}
	for i, m := range onlyNetwork(placed).Mappings {
		zones[i == 0] = facts.Subnets[slices.IndexFunc(facts.Subnets, func(s Subnet) bool { return s.ID == m.Subnet })].Zone
	}
	for id, i := range facts.Instances {
		i.Zone = zones[id == "i-0a"]
		facts.Instances[id] = i
	}
	all, problems := buildKeyed(t, facts, nil, nil)
	if len(problems) > 0 {
		t.Fatalf("%q", problems.Strings())
	}
	first := onlyNetwork(all).Mappings[0].Subnet
	want, problems := buildKeyed(t, facts, nil, map[string]string{"subnets": first})
	demandProblem(t, problems, annotations.Warning, "have no subnet of the load balancer")
	if d := cmp.Diff(len(all.Of(KindTargets)), len(want.Of(KindTargets))); d != "" {
		t.Error("targets are left out")
	}
}

// TestRangesOfBareBalancer: a load balancer without security groups limits its clients by the rules
// of the nodes. Where these cannot do so, a Service with source ranges is refused.
func TestRangesOfBareBalancer(t *testing.T) {
	for name, tc := range map[string]struct {
		keys    map[string]string
		refused bool
	}{
		"nodes":                         {map[string]string{"nlb-target-type": targetInstance}, false},
		"pods":                          {map[string]string{"nlb-target-type": targetIP}, true},
		"pods that see clients":         {map[string]string{"nlb-target-type": targetIP, "target-group-attributes": attrPreserveIP + "=true"}, false},
		"nodes that do not see clients": {map[string]string{"nlb-target-type": targetInstance, "target-group-attributes": attrPreserveIP + "=false"}, true},
		"rules of the user":             {map[string]string{"nlb-target-type": targetInstance, "manage-backend-security-group-rules": "false"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, ranges := range []string{"192.0.2.0/24", "0.0.0.0/0"} {
				keys := map[string]string{"disable-nlb-sg": "true", "load-balancer-source-ranges": ranges}
				maps.Copy(keys, tc.keys)
				want, problems := buildKeyed(t, nil, nil, keys, corev1.IPv4Protocol)
				if refused := tc.refused && ranges != "0.0.0.0/0"; (want == nil) != refused {
					t.Errorf("%s: refused %v: %q", ranges, want == nil, problems.Strings())
				} else if refused {
					demandProblem(t, problems, annotations.Error, "has no effect")
				}
			}
		})
	}
}

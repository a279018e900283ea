package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

func reachOf(values map[string]string) providers.Reach {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: values}}
	kind := chooseKind(svc).Kind
	bag, _ := Annotations().Parse(kind, annotations.SourceOf(svc))
	return computeReach(input{Service: svc, Kind: kind, Values: bag})
}

// TestReachOfScheme has every spelling that the official controller tells apart:
// it compares with "" and "false", and takes everything else for internal.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws.go.
func TestReachOfScheme(t *testing.T) {
	for _, kind := range []string{"", "nlb", "NLB", "clb"} {
		for value, internet := range map[string]bool{
			"": true, "false": true, "true": false, "False": false, "FALSE": false, "no": false, "0": false, "0.0.0.0/0": false, " ": false, " false": false,
		} {
			got := reachOf(map[string]string{typeKey.Name: kind, internalKey.Name: value})
			want := annotations.Origin{Source: annotations.FromAnnotation, Key: internalKey.Name, Raw: value}
			if got.Internet != internet || got.Scheme != want || got.Internal != "true" {
				t.Errorf("type %q, internal %q: got %+v", kind, value, got)
			}
		}
	}
	got := reachOf(nil)
	if want := (providers.Reach{Kind: CLB, Internet: true, Scheme: annotations.Origin{Source: annotations.FromDefault, Key: internalKey.Name}, Internal: "true", Size: providers.Size{Rules: 1}}); !cmp.Equal(want, got) {
		t.Errorf("nothing said (-want +got):\n%s", cmp.Diff(want, got))
	}
	// A key that only looks like it does not make it internal.
	if got := reachOf(map[string]string{"service.beta.kubernetes.io/aws-load-balancer-Internal": "true"}); !got.Internet {
		t.Error("a misspelt key counts")
	}
}

func TestReachOfNames(t *testing.T) {
	got := reachOf(map[string]string{
		typeKey.Name: "nlb", groupsKey.Name: "sg-1a,sg-2b", subnetsKey.Name: "subnet-1, public", eipKey.Name: "eipalloc-1a,eipalloc-2b",
		certKey.Name: "arn:aws:acm:eu-west-1:123456789012:certificate/0a", logsBucketKey.Name: "logs", privateIPKey.Name: "10.0.0.9",
	}).Names
	classic := reachOf(map[string]string{extraGroupsKey.Name: "sg-3c"}).Names
	want := []providers.Naming{
		{Thing: annotations.ThingAddress, Key: eipKey.Name, Value: "eipalloc-1a"},
		{Thing: annotations.ThingAddress, Key: eipKey.Name, Value: "eipalloc-2b"},
		{Thing: annotations.ThingAddress, Key: privateIPKey.Name, Value: "10.0.0.9"},
		{Thing: annotations.ThingBucket, Key: logsBucketKey.Name, Value: "logs"},
		{Thing: annotations.ThingCertificate, Key: certKey.Name, Value: "arn:aws:acm:eu-west-1:123456789012:certificate/0a"},
		{Thing: annotations.ThingSecurityGroup, Key: groupsKey.Name, Value: "sg-1a"},
		{Thing: annotations.ThingSecurityGroup, Key: groupsKey.Name, Value: "sg-2b"},
		{Thing: annotations.ThingSubnet, Key: subnetsKey.Name, Value: "subnet-1"},
		{Thing: annotations.ThingSubnet, Key: subnetsKey.Name, Value: "public"},
		{Thing: annotations.ThingSecurityGroup, Key: extraGroupsKey.Name, Value: "sg-3c"},
	}
	if diff := cmp.Diff(want, append(got, classic...)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestOpens: a group that a Classic Load Balancer is given is let in by the nodes on all
// ports; none of its own is, nor that of the configuration, nor one of a Network Load
// Balancer, nor any where the groups of nodes are never edited.
func TestOpens(t *testing.T) {
	named := []providers.Naming{{Thing: annotations.ThingSecurityGroup, Key: groupsKey.Name, Value: "sg-1a"}}
	group := map[string]string{groupsKey.Name: "sg-1a"}
	for name, c := range map[string]struct {
		values map[string]string
		want   []providers.Naming
	}{
		"classic": {group, named}, "network": {map[string]string{groupsKey.Name: "sg-1a", typeKey.Name: "nlb"}, nil},
		"extra": {map[string]string{extraGroupsKey.Name: "sg-1a"}, nil}, "own": {nil, nil},
	} {
		if d := cmp.Diff(c.want, reachOf(c.values).Opens); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: group}}
	bag, _ := Annotations().Parse(CLB, annotations.SourceOf(svc))
	in := input{Service: svc, Kind: CLB, Values: bag}
	all := func(source stack.Ref) *stack.Stack {
		return &stack.Stack{Resources: []stack.Resource{{Key: stack.Key{Kind: KindNodeRule, Name: "r"}, Spec: NodeRule{Group: "sg-nodes", Permission: Permission{Protocol: "-1", Source: source}}}}}
	}
	if d := cmp.Diff(named, reachAfter(in, all(stack.RefID("sg-1a"))).Opens); d != "" {
		t.Errorf("once built (-want +got):\n%s", d)
	}
	if got := reachAfter(in, all(stack.RefTo(stack.Key{Kind: KindGroup}))).Opens; len(got) > 0 {
		t.Errorf("a group of its own: %v", got)
	}
	in.Config.SharedGroup = "sg-shared"
	if got := reachAfter(in, all(stack.RefID("sg-shared"))).Opens; len(got) > 0 {
		t.Errorf("the group of the configuration: %v", got)
	}
	if in.Config.DisableNodeRules = true; len(computeReach(in).Opens) > 0 {
		t.Error("groups of nodes are never edited, and still something opens them")
	}
}

// TestBecomes: what a live load balancer keeps is what it reaches, whatever the Service
// says now: its scheme, and the addresses in its subnets.
func TestBecomes(t *testing.T) {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{internalKey.Name: "true", typeKey.Name: "nlb"}}}
	bag, _ := Annotations().Parse(NLB, annotations.SourceOf(svc))
	in := input{Service: svc, Kind: NLB, Values: bag}
	wants := func(lb Network) *stack.Stack {
		return &stack.Stack{Resources: []stack.Resource{{Key: networkKey(), Spec: lb}}}
	}
	if got := reachAfter(in, wants(Network{Scheme: SchemeInternal})); got.Internet || len(got.Names) > 0 {
		t.Errorf("an internal one: %+v", got)
	}
	got := reachAfter(in, wants(Network{Scheme: schemePublic, Mappings: []Mapping{{Subnet: "subnet-a", Allocation: "eipalloc-1"}}}))
	if !got.Internet || got.Scheme.Raw != schemePublic {
		t.Errorf("one that the internet can reach: %+v", got)
	}
	want := []providers.Naming{{Thing: annotations.ThingAddress, Key: "address of the load balancer in subnet-a", Value: "eipalloc-1"}}
	if d := cmp.Diff(want, got.Names); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
}

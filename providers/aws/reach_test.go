package aws

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
)

func reachOf(values map[string]string) providers.Reach {
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: values}}
	kind := choose(svc).Kind
	bag, _ := Annotations().Parse(kind, annotations.SourceOf(svc))
	return reach(input{Service: svc, Kind: kind, Values: bag})
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
	if want := (providers.Reach{Kind: CLB, Internet: true, Scheme: annotations.Origin{Source: annotations.FromDefault, Key: internalKey.Name}, Internal: "true"}); !cmp.Equal(want, got) {
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
		{Thing: providers.ThingAddress, Key: eipKey.Name, Value: "eipalloc-1a"},
		{Thing: providers.ThingAddress, Key: eipKey.Name, Value: "eipalloc-2b"},
		{Thing: providers.ThingAddress, Key: privateIPKey.Name, Value: "10.0.0.9"},
		{Thing: providers.ThingBucket, Key: logsBucketKey.Name, Value: "logs"},
		{Thing: providers.ThingCertificate, Key: certKey.Name, Value: "arn:aws:acm:eu-west-1:123456789012:certificate/0a"},
		{Thing: providers.ThingSecurityGroup, Key: groupsKey.Name, Value: "sg-1a"},
		{Thing: providers.ThingSecurityGroup, Key: groupsKey.Name, Value: "sg-2b"},
		{Thing: providers.ThingSubnet, Key: subnetsKey.Name, Value: "subnet-1"},
		{Thing: providers.ThingSubnet, Key: subnetsKey.Name, Value: "public"},
		{Thing: providers.ThingSecurityGroup, Key: extraGroupsKey.Name, Value: "sg-3c"},
	}
	if diff := cmp.Diff(want, append(got, classic...)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

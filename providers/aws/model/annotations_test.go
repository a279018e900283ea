package model

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// TestEveryKeyIsDeclared: testdata/keys.txt has every key that one of the
// official controllers reads.
func TestEveryKeyIsDeclared(t *testing.T) {
	cases.Declared(t, slices.DeleteFunc(Annotations().Names(), cases.Ours))
}

func TestDeclarations(t *testing.T) {
	set, err := declareAnnotations()
	if err != nil {
		t.Fatal(err)
	}
	cases.Described(t, set, CLB, NLB, LBC)
}

func parseAnnotations(kind string, values map[string]string, ports ...corev1.ServicePort) (*annotations.Bag, []string) {
	all := map[string]string{}
	for k, v := range values {
		all[lbPrefix+k] = v
	}
	bag, problems := Annotations().Parse(kind, annotations.SourceOf(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Annotations: all}, Spec: corev1.ServiceSpec{Ports: ports},
	}))
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Severity.String()+": "+strings.ReplaceAll(p.String(), lbPrefix, ""))
	}
	return bag, texts
}

func TestChecks(t *testing.T) {
	http, dns := corev1.ServicePort{Name: "http", Port: 80}, corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}
	const cert = "arn:aws:acm:eu-west-1:1:certificate/c"
	tests := []struct {
		name   string
		kind   string
		values map[string]string
		ports  []corev1.ServicePort
		want   []string
	}{
		{"plain words for the kind", CLB, map[string]string{"type": "classic"}, nil, nil},
		{"a kind that is none", CLB, map[string]string{"type": "alb"}, nil,
			[]string{`warning: type: "alb" is not a kind that is known here, so it means a Classic Load Balancer; legal is "nlb"; for a Classic Load Balancer leave the key out`}},
		{"internal by a range", CLB, map[string]string{"internal": "0.0.0.0/0"}, nil, nil},
		{"internal by no", NLB, map[string]string{"internal": "no"}, nil,
			[]string{`warning: internal: "no" means internal, as any text but the exact "false" does; legal is "true" or "false"`}},
		{"empty draining timeout is absent", CLB, map[string]string{"connection-draining-timeout": ""}, nil, nil},
		{"empty check interval is bad", CLB, map[string]string{"healthcheck-interval": ""}, nil,
			[]string{`error: healthcheck-interval: the empty text is not a whole number; legal is a whole number of seconds from 5 to 300`}},
		{"interval at the timeout", CLB, map[string]string{"healthcheck-interval": "5"}, nil,
			[]string{`error: healthcheck-interval: "5" is not longer than the timeout of 5 seconds; legal is a number above the timeout`}},
		{"blank before a port", CLB, map[string]string{"ssl-cert": cert, "ssl-ports": "http, 80"}, []corev1.ServicePort{http},
			[]string{`warning: ssl-ports: "http, 80" names " 80", which fits no port of the Service and has no effect; blanks count; legal is port numbers and names of the Service, without blanks`}},
		{"certificates of the other controller", NLB, map[string]string{"ssl-cert": cert + "," + cert}, nil,
			[]string{`error: ssl-cert: "` + cert + "," + cert + `" is a list, only one certificate is possible; legal is one ARN of ACM or IAM`}},
		{"bucket without logs", NLB, map[string]string{"access-log-s3-bucket-name": "b"}, nil,
			[]string{`warning: access-log-s3-bucket-name: "b" has no effect without access-log-enabled: "true"`}},
		{"logs without bucket", CLB, map[string]string{"access-log-enabled": "true"}, nil,
			[]string{`warning: access-log-enabled: "true" needs access-log-s3-bucket-name, unless the load balancer has a bucket already`}},
		{"udp without client addresses", NLB, map[string]string{"target-group-attributes": "preserve_client_ip.enabled=false"}, []corev1.ServicePort{dns},
			[]string{`error: target-group-attributes: "preserve_client_ip.enabled=false" switches off preserve_client_ip.enabled, which UDP ports cannot do without; legal is preserve_client_ip.enabled=true`}},
		{"attribute that is none", NLB, map[string]string{"target-group-attributes": "stickiness.enabled=true"}, nil,
			[]string{`error: target-group-attributes: "stickiness.enabled=true" has key "stickiness.enabled", only preserve_client_ip.enabled and proxy_protocol_v2.enabled can be set; legal is preserve_client_ip.enabled and proxy_protocol_v2.enabled, each =true or =false`}},
		{"proxy protocol of the other kind", NLB, map[string]string{"proxy-protocol": "*"}, nil,
			[]string{`warning: proxy-protocol: has no effect on nlb, only on clb and nlb-lbc`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := parseAnnotations(tt.kind, tt.values, tt.ports...); !slices.Equal(got, tt.want) {
				t.Errorf("problems (-want +got):\n%s", cmp.Diff(tt.want, got))
			}
		})
	}
}

func TestInternal(t *testing.T) {
	tests := map[string]bool{"": false, "false": false, "true": true, "0.0.0.0/0": true, "False": true, "0": true, " ": true}
	for value, want := range tests {
		bag, _ := parseAnnotations(CLB, map[string]string{"internal": value})
		if got := internalKey.Get(bag); got != want {
			t.Errorf("internal %q = %t, want %t", value, got, want)
		}
	}
}

func TestSSLPorts(t *testing.T) {
	port := corev1.ServicePort{Name: "https", Port: 443}
	tests := map[string]bool{"": true, "*": true, "443": true, "https": true, "80,443": true, "80, 443": false, "HTTPS": false, "80,*": false, "443,": true}
	for value, want := range tests {
		bag, _ := parseAnnotations(NLB, map[string]string{"ssl-ports": value}, port)
		if got := sslPortsKey.Get(bag).Has(port); got != want {
			t.Errorf("ssl-ports %q has 443: %t, want %t", value, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	tests := map[string]string{"nlb": NLB, "": CLB, "NLB": CLB, "clb": CLB, " nlb": CLB, "external": "", "nlb-ip": LBC}
	for value, want := range tests {
		svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{typeKey.Name: value}}}
		got := chooseKind(svc)
		if got.Kind != want || (got.Elsewhere == "") != (want != "") {
			t.Errorf("choose(%q) = %+v, want kind %q", value, got, want)
		}
	}
	if got := chooseKind(&corev1.Service{}); got.Kind != CLB {
		t.Errorf("choose without the key = %+v", got)
	}
}

func TestInstanceID(t *testing.T) {
	tests := map[string]string{
		"aws:///eu-west-1a/i-0a1b2c": "i-0a1b2c", "aws:////i-0a1b2c": "i-0a1b2c", "i-0a1b2c": "i-0a1b2c",
		"aws:///eu-west-1a/fargate-ip-10-0-0-1": "", "eks-hybrid:///eu/c/mi-1": "", "gce://p/z/n": "", "i-": "", "": "", "aws:///a/b/i-1": "", "i-1/x": "",
	}
	for id, want := range tests {
		got, ok := InstanceID(id)
		if got != want || ok != (want != "") {
			t.Errorf("instanceID(%q) = %q, %t; want %q", id, got, ok, want)
		}
	}
}

// TestTrace: where things can be does not depend on annotations.
func TestTrace(t *testing.T) {
	id := identity{Owner: stack.Owner{Namespace: "shop", Name: "web", UID: "u-1"}, Cluster: "kubernetes"}
	var got []string
	for _, l := range ownedScope(id).Own {
		got = append(got, string(l.Kind)+" "+l.By+" "+l.Value)
	}
	want := []string{
		"classic-load-balancer name au1", "network-load-balancer name au1", "security-group name k8s-elb-au1",
		"security-group name " + ManagedGroupName("kubernetes", id.Owner), "target-group prefix k8s-shop-web-", "target-group service-name shop/web",
		"network-load-balancer moved shop/web",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("own (-want +got):\n%s", d)
	}
}

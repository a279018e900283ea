package nodeports

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/cloud-provider/service/helpers"

	"github.com/berth-lb/berth/test/mutate"
)

func pointerTo[T any](v T) *T { return &v }

func newService(spec corev1.ServiceSpec) *corev1.Service {
	spec.Type = corev1.ServiceTypeLoadBalancer
	return &corev1.Service{Spec: spec}
}

func TestPorts(t *testing.T) {
	svc := newService(corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Name: "web", Protocol: corev1.ProtocolTCP, Port: 80, NodePort: 30080, TargetPort: intstr.FromString("http"), AppProtocol: pointerTo("kubernetes.io/h2c")},
		{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53, TargetPort: intstr.FromInt32(5353)},
		{Port: 22},
	}})
	want := []ServicePort{
		{Name: "web", Protocol: "TCP", Port: 80, NodePort: 30080, TargetPort: intstr.FromString("http"), AppProtocol: "kubernetes.io/h2c"},
		{Name: "dns", Protocol: "UDP", Port: 53, TargetPort: intstr.FromInt32(5353)},
		{Protocol: "TCP", Port: 22, TargetPort: intstr.FromInt32(22)},
	}
	if diff := cmp.Diff(want, Ports(svc)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func TestMissingNodePorts(t *testing.T) {
	web := func(nodePort int32) corev1.ServicePort {
		return corev1.ServicePort{Name: "web", Port: 80, NodePort: nodePort}
	}
	dns := func(nodePort int32) corev1.ServicePort {
		return corev1.ServicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP, NodePort: nodePort}
	}
	const lead = ": no node port, and this kind of load balancer sends to node ports; "
	const off = "spec.allocateLoadBalancerNodePorts is false: set it to true, or give the ports a nodePort"
	for name, tc := range map[string]struct {
		spec corev1.ServiceSpec
		want string
	}{
		"all there":                 {corev1.ServiceSpec{Ports: []corev1.ServicePort{web(30000), dns(30001)}}, ""},
		"switched off, ports kept":  {corev1.ServiceSpec{AllocateLoadBalancerNodePorts: pointerTo(false), Ports: []corev1.ServicePort{web(30000)}}, ""},
		"switched off, none":        {corev1.ServiceSpec{AllocateLoadBalancerNodePorts: pointerTo(false), Ports: []corev1.ServicePort{web(0), dns(0)}}, "ports web (80/TCP), dns (53/UDP)" + lead + off},
		"switched off, one by hand": {corev1.ServiceSpec{AllocateLoadBalancerNodePorts: pointerTo(false), Ports: []corev1.ServicePort{web(30000), dns(0)}}, "port dns (53/UDP)" + lead + off},
		"not yet":                   {corev1.ServiceSpec{AllocateLoadBalancerNodePorts: pointerTo(true), Ports: []corev1.ServicePort{web(0)}}, "port web (80/TCP)" + lead + "none has been allocated yet"},
		"not said":                  {corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}, "port 80/TCP" + lead + "none has been allocated yet"},
	} {
		got := MissingNodePorts(newService(tc.spec))
		if got.Message() != tc.want || got.Any() != (tc.want != "") {
			t.Errorf("%s:\nwant %q\ngot  %q", name, tc.want, got.Message())
		}
	}
}

func TestHealthOf(t *testing.T) {
	for name, tc := range map[string]struct {
		spec corev1.ServiceSpec
		want Health
	}{
		"not said":           {corev1.ServiceSpec{}, Health{Source: HealthByProvider}},
		"cluster":            {corev1.ServiceSpec{ExternalTrafficPolicy: "Cluster"}, Health{Source: HealthByProvider}},
		"cluster, old port":  {corev1.ServiceSpec{ExternalTrafficPolicy: "Cluster", HealthCheckNodePort: 31000}, Health{Source: HealthByProvider}},
		"local":              {corev1.ServiceSpec{ExternalTrafficPolicy: "Local", HealthCheckNodePort: 31000}, Health{Source: HealthByService, Path: "/healthz", Port: 31000}},
		"local without port": {corev1.ServiceSpec{ExternalTrafficPolicy: "Local"}, Health{Source: HealthMissing}},
	} {
		svc := newService(tc.spec)
		got := HealthOf(svc)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if (got.Message() != "") != (got.Source == HealthMissing) {
			t.Errorf("%s: message %q", name, got.Message())
		}
		path, port := helpers.GetServiceHealthCheckPathPort(svc)
		if path != got.Path || port != got.Port {
			t.Errorf("%s: the stock helper says %q %d, got %q %d", name, path, port, got.Path, got.Port)
		}
	}
	if diff := cmp.Diff(Health{Source: HealthByProvider, Path: "/healthz", Port: 10256}, SharedHealth()); diff != "" {
		t.Errorf("shared (-want +got):\n%s", diff)
	}
}

func TestFamilies(t *testing.T) {
	v4, v6 := corev1.IPv4Protocol, corev1.IPv6Protocol
	for name, tc := range map[string]struct {
		spec corev1.ServiceSpec
		want []corev1.IPFamily
	}{
		"field":           {corev1.ServiceSpec{IPFamilies: []corev1.IPFamily{v6, v4}, ClusterIP: "10.0.0.1"}, []corev1.IPFamily{v6, v4}},
		"cluster IPs":     {corev1.ServiceSpec{ClusterIPs: []string{"fd00::1", "10.0.0.1"}}, []corev1.IPFamily{v6, v4}},
		"one cluster IP":  {corev1.ServiceSpec{ClusterIP: "fd00::1"}, []corev1.IPFamily{v6}},
		"same twice":      {corev1.ServiceSpec{ClusterIPs: []string{"10.0.0.1", "10.0.0.2"}}, []corev1.IPFamily{v4}},
		"nothing":         {corev1.ServiceSpec{}, []corev1.IPFamily{v4}},
		"nothing of sort": {corev1.ServiceSpec{ClusterIP: "None"}, []corev1.IPFamily{v4}},
	} {
		if diff := cmp.Diff(tc.want, Families(newService(tc.spec))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := FamilyOf(netip.MustParseAddr("::ffff:10.0.0.1")); got != v4 {
		t.Errorf("mapped: want IPv4, got %q", got)
	}
	if got := FamilyOf(netip.Addr{}); got != corev1.IPFamilyUnknown {
		t.Errorf("zero: want unknown, got %q", got)
	}
}

func parsePrefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		out = append(out, netip.MustParsePrefix(t))
	}
	return out
}

func TestSourceRanges(t *testing.T) {
	for name, tc := range map[string]struct {
		field      []string
		annotation string
		want       []netip.Prefix
		source     RangesSource
		bad        []string
	}{
		"neither":                {want: parsePrefixes("0.0.0.0/0"), source: RangesFromDefault},
		"blank annotation":       {annotation: " \t ", want: parsePrefixes("0.0.0.0/0"), source: RangesFromDefault},
		"field":                  {field: []string{"10.0.0.0/8"}, want: parsePrefixes("10.0.0.0/8"), source: RangesFromSpec},
		"field wins":             {field: []string{"10.0.0.0/8"}, annotation: "bogus", want: parsePrefixes("10.0.0.0/8"), source: RangesFromSpec},
		"field with blanks":      {field: []string{" 10.0.0.0/8 "}, want: parsePrefixes("10.0.0.0/8"), source: RangesFromSpec},
		"sorted, masked, once":   {field: []string{"192.168.0.1/24", "10.0.0.0/8", "192.168.0.77/24", "10.0.0.0/16"}, want: parsePrefixes("10.0.0.0/8", "10.0.0.0/16", "192.168.0.0/24"), source: RangesFromSpec},
		"mixed families":         {field: []string{"2001:db8::1/32", "10.0.0.0/8"}, want: parsePrefixes("10.0.0.0/8", "2001:db8::/32"), source: RangesFromSpec},
		"masked to all clients":  {field: []string{"192.168.0.0/0"}, want: parsePrefixes("0.0.0.0/0"), source: RangesFromSpec},
		"leading zeros":          {field: []string{"010.000.0.0/8"}, want: parsePrefixes("10.0.0.0/8"), source: RangesFromSpec},
		"mapped":                 {field: []string{"::ffff:10.1.0.0/104"}, want: parsePrefixes("10.0.0.0/8"), source: RangesFromSpec},
		"mapped, short mask":     {field: []string{"::ffff:10.0.0.0/16"}, want: parsePrefixes("::/16"), source: RangesFromSpec},
		"annotation":             {annotation: " 10.0.0.0/8 , 192.168.1.1/24,10.0.0.0/8", want: parsePrefixes("10.0.0.0/8", "192.168.1.0/24"), source: RangesFromAnnotation},
		"annotation with IPv6":   {annotation: "::/0", want: parsePrefixes("::/0"), source: RangesFromAnnotation},
		"trailing comma":         {annotation: "10.0.0.0/8,", source: RangesFromAnnotation, bad: []string{""}},
		"bare address":           {annotation: "10.0.0.1", source: RangesFromAnnotation, bad: []string{"10.0.0.1"}},
		"all bad parts are told": {annotation: "bogus,10.0.0.0/8, 10.0.0.0/33", source: RangesFromAnnotation, bad: []string{"bogus", " 10.0.0.0/33"}},
		"bad field":              {field: []string{"10.0.0.0/8", ""}, annotation: "10.0.0.0/8", source: RangesFromSpec, bad: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			svc := newService(corev1.ServiceSpec{LoadBalancerSourceRanges: tc.field})
			if tc.annotation != "" {
				svc.Annotations = map[string]string{corev1.AnnotationLoadBalancerSourceRangesKey: tc.annotation}
			}
			got, source, err := SourceRanges(svc)
			var bad *RangesError
			if errors.As(err, &bad) {
				if diff := cmp.Diff(&RangesError{Source: tc.source, Bad: tc.bad}, bad); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
			}
			if (err != nil) != (tc.bad != nil) {
				t.Errorf("want bad parts %q, got error %v", tc.bad, err)
			}
			if source != tc.source {
				t.Errorf("want source %q, got %q", tc.source, source)
			}
			if diff := cmp.Diff(tc.want, got, byValue, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("ranges (-want +got):\n%s", diff)
			}
			// The stock helper is the reference for what is accepted at all.
			stock, stockErr := helpers.GetLoadBalancerSourceRanges(svc)
			if (stockErr != nil) != (err != nil) || err == nil && len(stock) != len(got) {
				t.Errorf("the stock helper says %v, %v", stock.StringSlice(), stockErr)
			}
		})
	}
}

func TestRangesErrorNamesTheBadParts(t *testing.T) {
	err := &RangesError{Source: RangesFromAnnotation, Bad: []string{"10.0.0.1", ""}}
	for _, part := range []string{"service.beta.kubernetes.io/load-balancer-source-ranges", `"10.0.0.1"`, `""`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("want %s in %q", part, err.Error())
		}
	}
}

func TestRangesFor(t *testing.T) {
	both := []corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol}
	all4, all6 := parsePrefixes("0.0.0.0/0"), parsePrefixes("::/0")
	if diff := cmp.Diff(parsePrefixes("0.0.0.0/0", "::/0"), RangesFor(all4, RangesFromDefault, both), byValue); diff != "" {
		t.Errorf("default for both (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(all6, RangesFor(all4, RangesFromDefault, both[:1]), byValue); diff != "" {
		t.Errorf("default for IPv6 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(all4, RangesFor(all4, RangesFromSpec, both), byValue); diff != "" {
		t.Errorf("written ranges (-want +got):\n%s", diff)
	}
	mixed := parsePrefixes("10.0.0.0/8", "::/0")
	if diff := cmp.Diff(mixed[1:], OfFamily(mixed, corev1.IPv6Protocol), byValue); diff != "" {
		t.Errorf("of IPv6 (-want +got):\n%s", diff)
	}
}

func FuzzSourceRanges(f *testing.F) {
	for _, s := range []string{"", "10.0.0.0/8", "10.0.0.0/8,", " ::/0 ,1.2.3.4/32", "010.0.0.0/08", "::ffff:1.2.3.4/96", "1.2.3.4", "a,b", "0.0.0.0/0,192.0.2.1/0"} {
		mutate.Add(f, 60, s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		svc := newService(corev1.ServiceSpec{})
		svc.Annotations = map[string]string{corev1.AnnotationLoadBalancerSourceRangesKey: text}
		got, _, err := SourceRanges(svc)
		_, stockErr := helpers.GetLoadBalancerSourceRanges(svc)
		if (err != nil) != (stockErr != nil) {
			t.Fatalf("%q: got error %v, the stock helper %v", text, err, stockErr)
		}
		if (err == nil) == (len(got) == 0) {
			t.Fatalf("%q: got %v and error %v", text, got, err)
		}
		for i, p := range got {
			if p != p.Masked() || p.Addr().Is4In6() || i > 0 && got[i-1] == p {
				t.Errorf("%q: %v is not canonical", text, got)
			}
		}
	})
}

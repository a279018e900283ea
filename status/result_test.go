package status

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/mutate"
)

func TestCanonical(t *testing.T) {
	vip, proxy, none := corev1.LoadBalancerIPModeVIP, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPMode("")
	for name, tc := range map[string]struct{ in, want corev1.LoadBalancerIngress }{
		"hostname":             {corev1.LoadBalancerIngress{Hostname: "My-LB.Example.COM."}, corev1.LoadBalancerIngress{Hostname: "my-lb.example.com"}},
		"hostname has no mode": {corev1.LoadBalancerIngress{Hostname: "a", IPMode: &vip}, corev1.LoadBalancerIngress{Hostname: "a"}},
		"mode is kept":         {corev1.LoadBalancerIngress{IP: "192.0.2.1", IPMode: &proxy}, corev1.LoadBalancerIngress{IP: "192.0.2.1", IPMode: &proxy}},
		"mode is filled in":    {corev1.LoadBalancerIngress{IP: "192.0.2.1"}, corev1.LoadBalancerIngress{IP: "192.0.2.1", IPMode: &vip}},
		"empty mode as well":   {corev1.LoadBalancerIngress{IP: "192.0.2.1", IPMode: &none}, corev1.LoadBalancerIngress{IP: "192.0.2.1", IPMode: &vip}},
		"long IPv6":            {corev1.LoadBalancerIngress{IP: "2001:0DB8:0:0::1", IPMode: &vip}, corev1.LoadBalancerIngress{IP: "2001:db8::1", IPMode: &vip}},
		"leading zeros":        {corev1.LoadBalancerIngress{IP: "010.0.0.1", IPMode: &vip}, corev1.LoadBalancerIngress{IP: "10.0.0.1", IPMode: &vip}},
		"mapped":               {corev1.LoadBalancerIngress{IP: "::ffff:10.0.0.1", IPMode: &vip}, corev1.LoadBalancerIngress{IP: "10.0.0.1", IPMode: &vip}},
		"both":                 {corev1.LoadBalancerIngress{IP: "10.0.0.1", Hostname: "A", IPMode: &vip}, corev1.LoadBalancerIngress{IP: "10.0.0.1", Hostname: "a", IPMode: &vip}},
	} {
		if diff := cmp.Diff(tc.want, Canonical(tc.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(corev1.LoadBalancerIngress{IP: "10.0.0.1", IPMode: &proxy}, IP("010.0.0.1", proxy)); diff != "" {
		t.Errorf("IP (-want +got):\n%s", diff)
	}
}

func TestClean(t *testing.T) {
	odd := corev1.LoadBalancerIPMode("Odd")
	good := corev1.PortStatus{Port: 80, Protocol: "TCP"}
	bad := corev1.PortStatus{Port: 0, Protocol: "TCP"}
	for name, tc := range map[string]struct {
		in   []corev1.LoadBalancerIngress
		want []corev1.LoadBalancerIngress
		told []string // parts of the error
	}{
		"nothing": {},
		"good ones in order, once": {
			in:   []corev1.LoadBalancerIngress{{Hostname: "b"}, {IP: "2001:db8::1"}, {Hostname: "a"}, {IP: "2001:DB8::0001"}, {Hostname: "B."}},
			want: []corev1.LoadBalancerIngress{{Hostname: "b"}, IP("2001:db8::1", corev1.LoadBalancerIPModeVIP), {Hostname: "a"}},
		},
		"one address with two modes": {
			in:   []corev1.LoadBalancerIngress{IP("10.0.0.1", "Proxy"), IP("10.0.0.1", "VIP")},
			want: []corev1.LoadBalancerIngress{IP("10.0.0.1", "Proxy"), IP("10.0.0.1", "VIP")},
		},
		"all that is bad is told": {
			in: []corev1.LoadBalancerIngress{
				{}, {IP: "10.0.0.256"}, {IP: "10.0.0.1", IPMode: &odd}, {Hostname: "10.0.0.1"}, {Hostname: "2001:db8::1"},
				{Hostname: "under_score"}, {Hostname: "a", Ports: []corev1.PortStatus{bad, good}}, {IP: "fe80::1%eth0"},
			},
			want: []corev1.LoadBalancerIngress{{Hostname: "a", Ports: []corev1.PortStatus{good}}},
			told: []string{"ingress 0: neither", `ingress 1: address "10.0.0.256"`, `ingress 2: address 10.0.0.1: IP mode "Odd"`, `ingress 3: host name "10.0.0.1"`, `ingress 4: host name "2001:db8::1"`, `ingress 5: host name "under_score"`, "ingress 6: port 0", `ingress 7: address "fe80::1%eth0"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := []Condition{PortsError("m")}
			got, err := Result{Ingress: tc.in, Conditions: conditions}.Clean()
			if diff := cmp.Diff(Result{Ingress: tc.want, Conditions: conditions}, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if (err != nil) != (tc.told != nil) {
				t.Fatalf("want %q told, got error %v", tc.told, err)
			}
			for _, part := range tc.told {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("want %q in:\n%v", part, err)
				}
			}
		})
	}
}

func TestCheckPort(t *testing.T) {
	port := func(number int32, protocol corev1.Protocol, text ...string) corev1.PortStatus {
		p := corev1.PortStatus{Port: number, Protocol: protocol}
		for _, s := range text {
			p.Error = &s
		}
		return p
	}
	for _, tc := range []struct {
		in corev1.PortStatus
		ok bool
	}{
		{port(1, "TCP"), true},
		{port(65535, "SCTP"), true},
		{port(53, "UDP", "LoadBalancerMixedProtocolNotSupported"), true},
		{port(53, "UDP", PortError(ReasonSlotTaken)), true},
		{port(53, "UDP", "a.b-c.example/X509"), true},
		{port(0, "TCP"), false},
		{port(65536, "TCP"), false},
		{port(80, "tcp"), false},
		{port(80, ""), false},
		{port(80, "TCP", ""), false},
		{port(80, "TCP", "free text"), false},
		{port(80, "TCP", "lowerCamel"), false},
		{port(80, "TCP", "9Lives"), false},
		{port(80, "TCP", "Snake_Case"), false},
		{port(80, "TCP", "/Reason"), false},
		{port(80, "TCP", "a.example/"), false},
		{port(80, "TCP", "UPPER.example/Reason"), false},
		{port(80, "TCP", "a/b/C"), false},
		{port(80, "TCP", strings.Repeat("A", 317)), false},
	} {
		if err := CheckPort(tc.in); (err == nil) != tc.ok {
			t.Errorf("%v: want ok %t, got %v", tc.in, tc.ok, err)
		}
	}
}

func TestPortStatuses(t *testing.T) {
	svc := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}, {Port: 53, Protocol: "UDP"}}}}
	got := PortStatuses(svc, func(p corev1.ServicePort) string {
		if p.Protocol == corev1.ProtocolUDP {
			return string(ReasonMixedProtocols)
		}
		return ""
	})
	want := []corev1.PortStatus{{Port: 80, Protocol: "TCP"}, {Port: 53, Protocol: "UDP", Error: pointerTo("LoadBalancerMixedProtocolNotSupported")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Reasons() {
		c := metav1.Condition{Type: r.Type, Reason: string(r.Reason)}
		if len(validation.IsQualifiedName(c.Type)) > 0 || !camelCase(c.Reason) {
			t.Errorf("%s: reason %q or its type is out of form", c.Type, c.Reason)
		}
		if seen[c.Type+c.Reason] {
			t.Errorf("%s: reason %s is there twice", c.Type, c.Reason)
		}
		seen[c.Type+c.Reason] = true
		checkSentence(t, c.Reason, r.Doc)
		if err := CheckPort(corev1.PortStatus{Port: 1, Protocol: "TCP", Error: pointerTo(PortError(r.Reason))}); err != nil {
			t.Errorf("as the error of a port: %v", err)
		}
	}
	for _, c := range []Condition{Accepted(""), NotAccepted(ReasonInvalidSpec, ""), Programmed(""), NotProgrammed(ReasonPending, ""), Replacing(""), PortsError("")} {
		if !seen[c.Type+string(c.Reason)] {
			t.Errorf("%s: reason %s is not in the list", c.Type, c.Reason)
		}
	}
}

func TestEventReasons(t *testing.T) {
	seen := map[EventReason]bool{}
	for _, e := range EventReasons() {
		if seen[e.Reason] || !camelCase(string(e.Reason)) {
			t.Errorf("%s: there twice, or out of form", e.Reason)
		}
		seen[e.Reason] = true
		checkSentence(t, string(e.Reason), e.Doc)
		if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning || e.Reason.Type() != e.Type {
			t.Errorf("%s: type %q in the list, %q by itself", e.Reason, e.Type, e.Reason.Type())
		}
	}
	if got := EventReason("Other").Type(); got != corev1.EventTypeWarning {
		t.Errorf("a reason out of the list: want a warning, got %s", got)
	}
}

func checkSentence(t *testing.T, what, doc string) {
	t.Helper()
	if !strings.HasSuffix(doc, ".") || strings.ContainsAny(doc, "|\n") {
		t.Errorf("%s: want a sentence fit for a table, got %q", what, doc)
	}
}

func TestEventMessage(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"short":                    {"a", "a"},
		"lines":                    {" a\n\tb  c\n", "a b c"},
		"no text":                  {"\xffa", "\uFFFDa"},
		"just fits":                {strings.Repeat("a", 1024), strings.Repeat("a", 1024)},
		"long":                     {strings.Repeat("a", 1025), strings.Repeat("a", 1021) + "..."},
		"long, between characters": {strings.Repeat("é", 600), strings.Repeat("é", 510) + "..."},
	} {
		if diff := cmp.Diff(tc.want, EventMessage(tc.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReference(t *testing.T) {
	golden.Check(t, "testdata/reference.golden.md", Reference())
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "10.0.0.1", "010.0.0.1", "::ffff:1.2.3.4", "fe80::1%eth0", "My-LB.example.com.", "a..b", "under_score", "\xff"} {
		mutate.Add(f, 30, s, s)
		mutate.Add(f, 30, s, "")
	}
	f.Fuzz(func(t *testing.T, ip, hostname string) {
		first, err := Result{Ingress: []corev1.LoadBalancerIngress{{IP: ip, Hostname: hostname}}}.Clean()
		if (err == nil) != (len(first.Ingress) == 1) {
			t.Fatalf("%q %q: want an entry or an error, got %v and %v", ip, hostname, first.Ingress, err)
		}
		again, err := first.Clean()
		if diff := cmp.Diff(first, again); diff != "" || err != nil {
			t.Errorf("%q %q: cleaning twice differs: %v\n%s", ip, hostname, err, diff)
		}
		for _, in := range first.Ingress {
			if (in.IP != "") != (in.IPMode != nil) {
				t.Errorf("%q %q: mode %v", ip, hostname, in.IPMode)
			}
			if in.IP != "" && len(validation.IsValidIP(nil, in.IP)) > 0 {
				t.Errorf("%q: %q is not an address for the API server", ip, in.IP)
			}
		}
	})
}

package model

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// TestProvenFirst: a listener is deleted only once AWS has accepted the certificate of
// its replacement, and the trial listener is deleted without an impact.
func TestProvenFirst(t *testing.T) {
	const cert, old = "arn:aws:acm:r:1:certificate/a", "arn:aws:acm:r:1:certificate/old"
	port := func(n int32, protocol, certificate string) stack.Resource {
		l := ClassicPort{Port: n, Protocol: protocol, InstancePort: 30000 + n, InstanceProtocol: "TCP", Certificate: certificate}
		return stack.Resource{Key: stack.Key{Kind: KindClassicPort, Name: Decimal(n)}, In: ClassicKey(), Proof: stack.Derived, Slot: PortSlot(n), Spec: l}
	}
	for name, tc := range map[string]struct {
		found, wanted []stack.Resource
		next          string
	}{
		"to TLS":                  {[]stack.Resource{port(80, "TCP", "")}, []stack.Resource{port(80, "SSL", cert)}, "80 TCP, 65535 SSL a"},
		"tried":                   {[]stack.Resource{port(80, "TCP", ""), port(65535, "SSL", cert)}, []stack.Resource{port(80, "SSL", cert)}, "80 SSL a"},
		"a port that is taken":    {[]stack.Resource{port(80, "TCP", "")}, []stack.Resource{port(80, "SSL", cert), port(65535, "SSL", cert)}, "80 TCP, 65534 SSL a"},
		"another port":            {[]stack.Resource{port(80, "TCP", "")}, []stack.Resource{port(443, "SSL", cert)}, "80 TCP, 65535 SSL a"},
		"one more":                {[]stack.Resource{port(80, "TCP", "")}, []stack.Resource{port(80, "TCP", ""), port(443, "SSL", cert)}, "80 TCP, 443 SSL a"},
		"another certificate":     {[]stack.Resource{port(443, "SSL", old)}, []stack.Resource{port(443, "SSL", cert)}, "443 SSL a"},
		"in place, and elsewhere": {[]stack.Resource{port(443, "SSL", old), port(80, "TCP", "")}, []stack.Resource{port(443, "SSL", cert), port(80, "SSL", cert)}, "443 SSL a, 80 TCP"},
		"no TLS any more":         {[]stack.Resource{port(443, "SSL", old)}, []stack.Resource{port(443, "TCP", "")}, "443 TCP"},
		"new":                     {nil, []stack.Resource{port(443, "SSL", cert)}, "443 SSL a"},
	} {
		b := &builder{have: &stack.Stack{Resources: tc.found}}
		var got []string
		for _, r := range b.provenFirst(tc.wanted) {
			l, _ := r.Spec.(ClassicPort)
			got = append(got, strings.TrimSpace(Decimal(l.Port)+" "+l.Protocol+" "+l.Certificate[strings.LastIndex(l.Certificate, "/")+1:]))
		}
		if text := strings.Join(got, ", "); text != tc.next {
			t.Errorf("%s: next are %s, want %s", name, text, tc.next)
		}
	}
	ports := []ClassicPort{{Port: 80, InstancePort: 30080}, {Port: 65535, InstancePort: 30080}, {Port: 65534, InstancePort: 31000}}
	MarkTrials(ports)
	for i, impact := range []plan.Impact{plan.Interrupts, plan.NoImpact, plan.Interrupts} {
		found := port(ports[i].Port, "TCP", "")
		found.Spec = ports[i]
		p := diff.Compare(&stack.Stack{}, &stack.Stack{Resources: []stack.Resource{found}}, Rules(), nil)
		if len(p.Steps) != 1 || p.Steps[0].Impact != impact {
			t.Errorf("to delete port %d has the impact %q, want %q", ports[i].Port, p.Steps[0].Impact, impact)
		}
	}
}

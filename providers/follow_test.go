package providers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// TestFollow: members that are nodes become the nodes of today; others are left as they are.
func TestFollow(t *testing.T) {
	isNode := func(m string) bool { return m[0] == 'n' }
	today := []string{"n1", "n3"}
	for name, tc := range map[string]struct{ found, want []string }{
		"nodes":               {[]string{"n1", "n2"}, today},
		"pods":                {[]string{"p1", "p2"}, []string{"p1", "p2"}},
		"a node beside a pod": {[]string{"p1", "n2"}, today},
		"no member":           {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tc.want, providers.Follow(tc.found, today, isNode)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestFollowPort: the port of a protocol is preferred to another one of the same number, and any port
// of the Service leads to its pods.
func TestFollowPort(t *testing.T) {
	ports := []nodeports.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}, {Port: 53, Protocol: corev1.ProtocolTCP}, {Port: 53, Protocol: corev1.ProtocolUDP}}
	for name, tc := range map[string]struct {
		number   int32
		protocol string
		want     nodeports.ServicePort
		known    bool
	}{
		"of the protocol":    {53, "UDP", ports[2], true},
		"of another one":     {80, "UDP", ports[0], true},
		"not of the Service": {443, "TCP", ports[2], false},
	} {
		t.Run(name, func(t *testing.T) {
			port, known := providers.FollowPort(ports, tc.number, tc.protocol)
			if d := cmp.Diff(tc.want, port); d != "" || known != tc.known {
				t.Errorf("known: %v; (-want +got):\n%s", known, d)
			}
		})
	}
}

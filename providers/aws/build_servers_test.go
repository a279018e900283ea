package aws

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
)

// TestServersAreToldOfAttributes: a change of what servers receive is told before it is made,
// and only where a target group serves already.
func TestServersAreToldOfAttributes(t *testing.T) {
	const both = "preserve_client_ip.enabled=true,proxy_protocol_v2.enabled=false"
	for name, tc := range map[string]struct {
		before, after string
		fresh         bool
		told          []string
	}{
		"as before":             {before: both, after: both},
		"PROXY protocol on":     {before: both, after: "proxy_protocol_v2.enabled=true", told: []string{"changes proxy_protocol_v2.enabled of a target group that serves from false to true"}},
		"PROXY protocol off":    {before: "proxy_protocol_v2.enabled=true", after: both, told: []string{"from true to false"}},
		"addresses of clients":  {before: both, after: "preserve_client_ip.enabled=false", told: []string{"changes preserve_client_ip.enabled of a target group that serves from true to false"}},
		"nothing that they see": {before: both, after: ""},
		"a new target group":    {after: "proxy_protocol_v2.enabled=true", fresh: true},
	} {
		values := func(attributes string) map[string]string {
			return map[string]string{lbPrefix + "type": "nlb", lbPrefix + "target-group-attributes": attributes}
		}
		svc, nodes, facts := crowd(3, 1, values(tc.before))
		var have *stack.Stack
		if !tc.fresh {
			first, _ := built(t, svc, nodes, facts, nil)
			have = asFound(first)
		}
		svc, _, _ = crowd(3, 1, values(tc.after))
		_, problems := built(t, svc, nodes, facts, have)
		told := strings.Join(problems.Strings(), "\n")
		for _, want := range tc.told {
			if !strings.Contains(told, want) {
				t.Errorf("%s: told %q, want %q", name, told, want)
			}
		}
		if len(tc.told) == 0 && strings.Contains(told, "that serves") {
			t.Errorf("%s: told %q", name, told)
		}
	}
}

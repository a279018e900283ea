package model

import (
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack"
)

// TestServersAreToldOfAttributes: a change of what servers receive is reported before it
// is applied, and only where a target group already serves.
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
		svc, nodes, facts := largeService(3, 1, values(tc.before))
		var have *stack.Stack
		if !tc.fresh {
			first, _ := buildLarge(t, svc, nodes, facts, nil)
			have = asFound(first)
		}
		svc, _, _ = largeService(3, 1, values(tc.after))
		_, problems := buildLarge(t, svc, nodes, facts, have)
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

// TestServersAreToldOfNodePorts: where a target group stays and all its targets get
// another node port, no target serves until it is checked. This is reported beforehand,
// and only then.
func TestServersAreToldOfNodePorts(t *testing.T) {
	config, _, err := readText("[Berth]\nLoadBalancerController = true")
	if err != nil {
		t.Fatal(err)
	}
	config.VPC = "vpc-1"
	serve := func(target string, nodePort int32, have *stack.Stack) (*stack.Stack, string) {
		svc, nodes, facts := largeService(3, 2, map[string]string{
			lbPrefix + "type": "external", lbPrefix + "nlb-target-type": target, lbPrefix + "scheme": "internet-facing", lbPrefix + "disable-nlb-sg": "true",
		})
		svc.Spec.Ports[0].NodePort = nodePort
		in, problems := inputOf(config, "kubernetes", svc, nodes)
		want, more, err := buildStack(in, facts, have)
		if err != nil || more.Errors() {
			t.Fatal(err, more.Strings())
		}
		return want, strings.Join(append(problems, more...).Strings(), "\n")
	}
	first, told := serve("instance", 30000, nil)
	const brief = "the node port 31000 in place of 30000"
	if strings.Contains(told, "in place of") {
		t.Errorf("a new Service is told %q", told)
	}
	if _, told = serve("instance", 30000, asFound(first)); strings.Contains(told, "in place of") {
		t.Errorf("without a change told %q", told)
	}
	moved, told := serve("instance", 31000, asFound(first))
	if strings.Count(told, "in place of") != 1 || !strings.Contains(told, brief) {
		t.Errorf("told %q, want %q once", told, brief)
	}
	if _, told = serve("instance", 31000, asFound(moved)); strings.Contains(told, "in place of") {
		t.Errorf("after the change told %q", told)
	}
	if _, told = serve("ip", 31000, asFound(first)); strings.Contains(told, "in place of") {
		t.Errorf("with another kind of targets, of which the plan tells, told %q", told)
	}
}

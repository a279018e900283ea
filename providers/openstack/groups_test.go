package openstack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/props"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// managed lets the nodes' security groups be managed.
const managed = "manage-security-groups = true\n"

func TestPropertiesGroups(t *testing.T) {
	props.Run(t, newSubject(managed), []props.Case{
		props.Service("managed", nil),
		props.Service("managed-local", prefixedKeys("enable-health-monitor", "true"), props.Local, mixProtocols),
	})
}

// groupsOf are the lines of the portrait that are about security groups.
func (w *world) groupsOf() string {
	w.Helper()
	var out []string
	for _, line := range w.portrait() {
		switch who, what, _ := strings.Cut(line, ": "); {
		case strings.HasPrefix(who, "security-group"):
			out = append(out, who)
		case strings.Contains(what, "security_groups") && strings.Contains(who, "-node-"):
			out = append(out, line)
		}
	}
	slices.Sort(out)
	text := strings.Join(slices.Compact(out), "\n") + "\n"
	return strings.NewReplacer("lb-sg-5a0c1f6e-0000-4000-8000-000000000001-shop-web", "lb-sg-UID-shop-web", "security-group-rules", "rule").Replace(text)
}

// TestGroups verifies what a Service's security group admits as its ports change, for
// drivers that terminate connections and for drivers that forward packets.
func TestGroups(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		var out strings.Builder
		show := func(w *world, what string) { fmt.Fprintf(&out, "== %s\n%s\n", what, w.groupsOf()) }
		w := startWorld(t, simopenstack.Options{}, managed)
		show(w, "before")
		svc := props.Service("web", nil, mixProtocols).Service
		w.serve(svc)
		show(w, "a Service with a port of TCP and one of UDP")
		svc.Spec.Ports = append(svc.Spec.Ports[:1], corev1.ServicePort{Name: "more", Protocol: corev1.ProtocolTCP, Port: 8080, NodePort: 30090})
		props.Local(&svc.Spec)
		w.serve(svc)
		show(w, "another port, and the policy Local")
		w.nodes = w.nodes[1:]
		w.process.SetNodes(w.nodes)
		w.serve(svc)
		show(w, "without the first node")
		w.release(svc)
		show(w, "after the Service")

		w = startWorld(t, simopenstack.Options{}, ovnConfig)
		svc = props.Service("web", nil, func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"192.0.2.7/24"} }).Service
		w.serve(svc)
		show(w, "with a driver that passes packets on")
		golden.Check(t, "testdata/groups.golden", out.String())
	})
}

// TestGroupsOfMany: nodes whose ports are in the groups of many Services are written once
// for all Services of a batch, and no group of another Service is lost.
func TestGroupsOfMany(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, managed)
		before := w.portrait()
		var many []props.Case
		for i := range 8 {
			many = append(many, props.Service(fmt.Sprintf("web-%d", i), nil))
		}
		w.Control().Journal.Reset()
		props.Together(t, w, many)
		if n := w.Control().Journal.Counts()["network.UpdatePort"]; n == 0 || n >= 2*len(many)*len(w.nodes) {
			t.Errorf("%d changes of %d ports for %d Services: %v", n, len(w.nodes), len(many), w.Control().Journal.Counts())
		}
		if d := diffLines(before, w.portrait()); d != "" {
			t.Errorf("something is left:\n%s", d)
		}
	})
}

// TestGroupsSwitchedOff: once groups are no longer managed, the existing one is deleted.
func TestGroupsSwitchedOff(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, managed)
		before := w.groupsOf()
		svc := props.Service("web", nil).Service
		w.serve(svc)
		if w.groupsOf() == before {
			t.Fatal("there is no group")
		}
		w.config = ""
		w.restart(svc)
		w.serve(svc)
		if after := w.groupsOf(); after != before {
			t.Errorf("a group is left:\n%s", after)
		}
	})
}

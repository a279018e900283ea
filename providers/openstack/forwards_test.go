package openstack_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// groupPrefix begins the names of the security groups of nodes.
const groupPrefix = "lb-sg-"

// TestFlowsAreForwards: the flows of what a new process reads are the packets that reach
// members in the simulated cloud, wherever a move from one Service to the next one stops.
func TestFlowsAreForwards(t *testing.T) {
	for name, config := range map[string]string{"open": "", "guarded": managed, "ovn": ovnConfig} {
		virtual.Run(t, name, func(t *testing.T) {
			compared := 0
			list := lawCases()
			if name == "ovn" {
				list = ovnCases()
			}
			for i, from := range list {
				to := list[(i+1)%len(list)].Service
				w := startWorld(t, simopenstack.Options{}, config)
				svc := from.Service.DeepCopy()
				w.serve(svc)
				compared += w.compareFlows(svc, from.Name)
				recorded := svc.Annotations
				svc.Spec, svc.Annotations = *to.Spec.DeepCopy(), to.DeepCopy().Annotations
				svc = withAnnotations(svc, map[string]string{idKey: recorded[idKey], prefix + "load-balancer-address": recorded[prefix+"load-balancer-address"]})
				for writes := range 6 {
					w.stopAfter(svc, writes)
					compared += w.compareFlows(svc, fmt.Sprintf("%s to %s, %d writes more", from.Name, to.Name, writes))
				}
				w.serve(svc)
				compared += w.compareFlows(svc, to.Name)
			}
			if compared < 500 {
				t.Errorf("only %d packets were compared", compared)
			}
		})
	}
}

// stopAfter lets a new process make so many writes.
func (w *world) stopAfter(svc *corev1.Service, writes int) {
	w.Helper()
	w.restart()
	if _, err := w.Control().Faults.Add(sim.Fault{WritesOnly: true, After: writes, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "PolicyForbidden"}); err != nil {
		w.Fatal(err)
	}
	_, _ = w.once(svc, false) // fails
	w.Control().Faults.Clear()
}

// compareFlows compares the flows of what a new process reads with the packets of the
// simulator, and returns how many packets there are.
func (w *world) compareFlows(svc *corev1.Service, when string) int {
	w.Helper()
	w.restart()
	d, err := w.process.Draft(w.Context(), reconcile.Job{Service: svc.DeepCopy()})
	if err != nil {
		w.Fatal(err)
	}
	var clients []netip.Addr
	for _, text := range []string{"10.0.0.77", "192.0.2.1", "192.0.2.200", "198.51.100.7"} {
		clients = append(clients, netip.MustParseAddr(text))
	}
	packet := func(client netip.Addr, address, protocol string, port int) string {
		return fmt.Sprintf("%s to %s %d/%s", client, address, port, protocol)
	}
	want, got := map[string]string{}, map[string]string{}
	for _, p := range w.running.Cloud.Forwards(clients, groupPrefix) {
		want[packet(p.Client, p.Address.String(), p.Protocol, p.Port)] = strings.Join(p.Members, " ")
	}
	for _, f := range openstack.Cloud().Flows([]*stack.Stack{d.Have}) {
		for _, client := range clients {
			if !f.Serves() || !slices.ContainsFunc(f.From, func(r netip.Prefix) bool { return r.Contains(client) }) {
				continue
			}
			var members []string
			for _, b := range f.To {
				members = append(members, b.String())
			}
			slices.Sort(members)
			got[packet(client, f.Address, f.Protocol, int(f.Port))] = strings.Join(members, " ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("%s (-the cloud +flows)\n%s", when, diff)
	}
	return len(want)
}

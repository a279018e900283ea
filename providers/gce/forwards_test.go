package gce_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestFlowsAreForwards: what Berth computes from what it has read is what packets do in the
// simulated cloud, for every kind of load balancer, and wherever a move to the next one stops.
func TestFlowsAreForwards(t *testing.T) {
	all := propsCases()
	for i, c := range all {
		next := all[(i+1)%len(all)].Service.DeepCopy()
		next.Name, next.UID = c.Service.Name, c.Service.UID
		virtual.Run(t, c.Name+" to "+all[(i+1)%len(all)].Name, func(t *testing.T) {
			s, ok := newSubject("")(t).(subject)
			if !ok {
				t.Fatal("not the subject of this package")
			}
			m := &mover{T: t, s: s, svc: c.Service.DeepCopy()}
			m.converge(m.process())
			m.compareFlows("at first")
			m.svc.Spec, m.svc.Annotations = next.Spec, next.Annotations
			m.svc.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "192.0.2.0/25", "2001:db8::/32"}
			for writes := range 14 {
				m.die(writes)
				m.compareFlows(fmt.Sprintf("after %d writes more", writes))
			}
			m.converge(m.process())
			m.compareFlows("at last")
		})
	}
}

// compareFlows compares the flows of what a new process reads with the packets of the simulator.
func (m *mover) compareFlows(when string) {
	m.Helper()
	d, err := m.process().Draft(m.Context(), reconcile.Job{Service: m.svc})
	if err != nil {
		m.Fatal(err)
	}
	passing := m.s.running.Cloud.Compute.Forwards()
	want := map[string]string{}
	var clients []netip.Addr
	for _, p := range passing {
		want[packetText(p.Source, p.Address, p.Protocol, p.Port)] = strings.Join(p.Machines, " ")
	}
	for _, f := range gce.Cloud().Flows([]*stack.Stack{d.Have}) {
		clients = append(clients, probesOf(f)...)
	}
	for _, p := range passing {
		clients = append(clients, p.Source)
	}
	got := map[string]string{}
	for _, f := range gce.Cloud().Flows([]*stack.Stack{d.Have}) {
		for _, client := range clients {
			if f.Serves() && slices.ContainsFunc(f.From, func(r netip.Prefix) bool { return r.Contains(client) }) {
				got[packetText(client, netip.MustParseAddr(f.Address), f.Protocol, int(f.Port))] = namesOf(f)
			}
		}
	}
	for packet := range got {
		if _, passes := want[packet]; !passes && !m.isSampled(passing, packet) {
			delete(got, packet) // a client that the simulator did not try
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.Errorf("%s (-the cloud +flows)\n%s", when, diff)
	}
}

// isSampled reports whether the simulator has tried the client of the packet.
func (m *mover) isSampled(passing []compute.Passage, packet string) bool {
	return slices.ContainsFunc(passing, func(p compute.Passage) bool { return strings.HasPrefix(packet, p.Source.String()+" ") })
}

func packetText(client, address netip.Addr, protocol string, port int) string {
	return fmt.Sprintf("%s to %s %d/%s", client, address, port, protocol)
}

// probesOf returns the first client of each range of a flow.
func probesOf(f traffic.Flow) []netip.Addr {
	var out []netip.Addr
	for _, r := range f.From {
		out = append(out, r.Addr())
	}
	return out
}

func namesOf(f traffic.Flow) string {
	var out []string
	for _, b := range f.To {
		out = append(out, b.Name)
	}
	return strings.Join(out, " ")
}

package oci_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/oci"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestFlowsAreForwards: after every batch of steps of every move between two cases, the flows
// of what a new process reads are the packets that pass in the simulated tenancy.
func TestFlowsAreForwards(t *testing.T) {
	ranges := func(s *corev1.ServiceSpec) { s.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "192.0.2.0/25"} }
	others := func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[1].NodePort = 8080, 31443 }
	nlb := func(pairs ...string) map[string]string {
		return annotationPairs(append(pairs, prefix+"load-balancer-type", "nlb")...)
	}
	mode := prefix + "security-rule-management-mode"
	compareMoves(t, func(subject) []props.Case {
		return []props.Case{
			props.Service("lb", annotationPairs(mode, "SL-All")),
			props.Service("lb ranges", annotationPairs(mode, "SL-All"), ranges, others),
			props.Service("nlb", nlb(mode, "SL-All")),
			props.Service("nlb dual", nlb(mode, "SL-All"), props.Dual),
			props.Service("nlb local", nlb(mode, "SL-All"), props.Local, ranges),
		}
	})
	compareMoves(t, func(s subject) []props.Case {
		behind := prefix + "oci-backend-network-security-group"
		nodes := s.running.Cloud.Seed.WorkerGroup
		return []props.Case{
			props.Service("group", annotationPairs(mode, "NSG", behind, nodes)),
			props.Service("group ranges", annotationPairs(mode, "NSG", behind, nodes), ranges, others),
			props.Service("group nlb", nlb(mode, "NSG", behind, nodes)),
			props.Service("group local", nlb(mode, "NSG", behind, nodes), props.Local, ranges),
		}
	})
}

// compareMoves moves a Service from each case to each other one.
func compareMoves(t *testing.T, of func(subject) []props.Case) {
	t.Helper()
	seen := 0
	virtual.Run(t, "moves", func(t *testing.T) {
		s, ok := newSubject(t).(subject)
		if !ok {
			t.Fatal("not the subject of this package")
		}
		m := &watcher{T: t, subject: s}
		list := of(s)
		for i, from := range list {
			for _, to := range list[i+1:] {
				m.converge(from, to.Name)
				m.converge(to, from.Name)
			}
		}
		m.converge(list[0], "the last")
		seen = m.seen
	})
	if seen < 1000 {
		t.Errorf("only %d packets were compared", seen)
	}
}

// watcher compares flows with packets while a Service changes.
type watcher struct {
	*testing.T
	subject
	svc  *corev1.Service
	seen int
}

// converge runs a new process on a case until nothing is left to do.
func (m *watcher) converge(to props.Case, from string) {
	m.Helper()
	m.svc = to.Service.DeepCopy()
	m.svc.Name, m.svc.UID = "web", "00000000-0000-4000-8000-000000000001"
	bound := m.Open(m.T)
	apply := bound.Apply
	bound.Apply = func(ctx context.Context, b plan.Batch) []plan.Outcome {
		out := apply(ctx, b)
		m.compareFlows(fmt.Sprintf("from %s to %s, after %s", from, to.Name, b.Steps[0].ID))
		return out
	}
	job := reconcile.Job{Service: m.svc}
	process := props.Process(m, bound, m.Nodes(), job)
	for range 6 {
		res, err := props.Work(m.Context(), process, job)
		if err != nil {
			m.Fatal(err)
		}
		if res.Clean {
			m.compareFlows("at " + to.Name)
			return
		}
	}
	m.Fatalf("%s: no end", to.Name)
}

func (m *watcher) compareFlows(when string) {
	m.Helper()
	d, err := props.Process(m, m.Open(m.T), m.Nodes()).Draft(m.Context(), reconcile.Job{Service: m.svc})
	if err != nil {
		m.Fatal(err)
	}
	text := func(client netip.Addr, address, protocol string, port int) string {
		return fmt.Sprintf("%s to %s %d/%s", client, address, port, protocol)
	}
	passing, computed := map[string]string{}, map[string]string{}
	var clients []netip.Addr
	for _, p := range m.running.Cloud.Forwards() {
		var to []string
		for _, b := range p.Backends {
			to = append(to, b.String())
		}
		passing[text(p.Source, p.Address.String(), p.Protocol, p.Port)] = strings.Join(to, " ")
		clients = append(clients, p.Source)
	}
	for _, f := range oci.Cloud().Flows([]*stack.Stack{d.Have}) {
		for _, client := range clients {
			if !f.Serves() || !slices.ContainsFunc(f.From, func(r netip.Prefix) bool { return r.Contains(client) }) {
				continue
			}
			var to []string
			for _, b := range f.To {
				to = append(to, b.String())
			}
			computed[text(client, f.Address, f.Protocol, int(f.Port))] = strings.Join(to, " ")
		}
	}
	m.seen += len(passing)
	if diff := cmp.Diff(passing, computed); diff != "" {
		m.Errorf("%s (-the cloud +flows)\n%s", when, diff)
	}
}

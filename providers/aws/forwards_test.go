package aws_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/providers/aws"
	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestFlowsAreForwards: after every call of every move between two cases, the flows of what a
// new process reads are the packets that pass in the simulated account.
func TestFlowsAreForwards(t *testing.T) {
	setCredentials(t)
	ranges := func(s *corev1.ServiceSpec) {
		s.LoadBalancerSourceRanges = []string{"10.0.0.0/8", "192.0.2.0/25"}
	}
	others := func(s *corev1.ServiceSpec) { s.Ports[0].Port, s.Ports[1].NodePort = 8080, 31443 }
	udp := func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }
	nlb, ip := map[string]string{"aws-load-balancer-type": "nlb"}, map[string]string{"aws-load-balancer-nlb-target-type": "ip"}
	bare := map[string]string{"aws-load-balancer-disable-nlb-sg": "true"}
	barePods := map[string]string{"aws-load-balancer-disable-nlb-sg": "true", "aws-load-balancer-nlb-target-type": "ip"}
	compareMoves(t, "\n[Global]\nNLBSecurityGroupMode = Managed\n", []props.Case{
		serviceCase("clb", nil, nil),
		serviceCase("clb ranges", nil, func(s *corev1.ServiceSpec) { ranges(s); others(s) }),
		serviceCase("nlb", nlb, nil),
		serviceCase("nlb ranges", nlb, func(s *corev1.ServiceSpec) { ranges(s); others(s) }),
	})
	compareMoves(t, controllerConfig, []props.Case{
		serviceCase("nlb without groups", nlb, ranges),
		controllerService("lbc", nil, nil),
		controllerService("lbc ranges", nil, func(s *corev1.ServiceSpec) { ranges(s); others(s) }),
		controllerService("lbc pods", ip, udp),
		controllerService("bare", bare, ranges),
		controllerService("bare pods", barePods, others),
		inGroup(controllerService("group", nil, ranges), "front"),
	})
}

// compareMoves moves a Service from each case to each other one.
func compareMoves(t *testing.T, config string, list []props.Case) {
	t.Helper()
	seen := 0
	virtual.Run(t, list[0].Name, func(t *testing.T) {
		cloud := simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3, Pods: 1}})
		w := &watcher{T: t, subject: subject{running: cloud, config: config, notes: berth.NewNotes(fake.NewClientset())}}
		for i, from := range list {
			for _, to := range list[i+1:] {
				w.converge(from, to.Name)
				w.converge(to, from.Name)
			}
		}
		w.converge(list[0], "the last")
		seen = w.seen
	})
	if seen < 1000 {
		t.Errorf("only %d packets were compared", seen)
	}
}

// watcher compares flows with packets while a Service changes.
type watcher struct {
	*testing.T
	subject
	job  reconcile.Job
	seen int
}

// converge runs a new process on a case until nothing is left to do.
func (w *watcher) converge(to props.Case, from string) {
	w.Helper()
	svc := to.Service.DeepCopy()
	svc.Name, svc.UID = "web", "00000000-0000-4000-8000-000000000001"
	w.job = reconcile.Job{Service: svc, Slices: w.podsOf(svc)}
	bound := w.Open(w.T)
	apply, turn := bound.Apply, make(chan struct{}, 1)
	bound.Apply = func(ctx context.Context, b plan.Batch) []plan.Outcome {
		turn <- struct{}{} // no other call changes the account during a comparison
		defer func() { <-turn }()
		out := apply(ctx, b)
		w.compareFlows(fmt.Sprintf("from %s to %s, after %s", from, to.Name, b.Steps[0].ID))
		return out
	}
	process := props.Process(w, bound, w.Nodes(), w.job)
	var last reconcile.Result
	for range 8 {
		res, err := props.Work(w.Context(), process, w.job)
		if err != nil {
			w.Fatal(err)
		}
		if last = res; res.Clean || res.Draft.Problems.Errors() { // refused: it keeps the load balancer that it has
			w.compareFlows("at " + to.Name)
			return
		}
	}
	w.Fatalf("from %s to %s: no end: %v, problems %v, held %v", from, to.Name, last.Err, last.Draft.Problems, last.Draft.Plan.Blocked)
}

// podsOf returns a pod on each node.
func (w *watcher) podsOf(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: svc.Namespace, Name: svc.Name}, AddressType: discoveryv1.AddressTypeIPv4}
	for _, n := range w.running.Cloud.Seed.Nodes {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: n.Pods[:1], NodeName: new(n.Name), Zone: new(n.Zone)})
	}
	for _, port := range svc.Spec.Ports {
		slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: new(port.Name), Protocol: new(port.Protocol), Port: new(port.Port + 8000)})
	}
	return []*discoveryv1.EndpointSlice{slice}
}

// compareFlows compares the flows of what a new process reads with the packets of the simulator.
func (w *watcher) compareFlows(when string) {
	w.Helper()
	d, err := props.Process(w, w.Open(w.T), w.Nodes()).Draft(w.Context(), w.job)
	if err != nil {
		w.Fatal(err)
	}
	flows := aws.Cloud().Flows([]*stack.Stack{d.Have})
	clients := []netip.Addr{netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("2001:db8::7")}
	for _, f := range flows {
		for _, r := range f.From {
			clients = append(clients, r.Addr())
		}
	}
	passing, computed := map[string]string{}, map[string]string{}
	text := func(client netip.Addr, balancer string, port int, protocol string) string {
		return fmt.Sprintf("%s to %s %d/%s", client, balancer, port, protocol)
	}
	for _, p := range w.running.Cloud.Forwards(clients...) {
		passing[text(p.Source, p.Balancer, p.Port, p.Protocol)] = strings.Join(p.Targets, " ")
		clients = append(clients, p.Source)
	}
	for _, f := range flows {
		for _, client := range clients {
			if !f.Serves() || !slices.ContainsFunc(f.From, func(r netip.Prefix) bool { return r.Contains(client) }) {
				continue
			}
			var to []string
			for _, b := range f.To {
				to = append(to, b.String())
			}
			slices.Sort(to)
			computed[text(client, f.Address, int(f.Port), f.Protocol)] = strings.Join(to, " ")
		}
	}
	w.seen += len(passing)
	if diff := cmp.Diff(passing, computed); diff != "" {
		w.Errorf("%s (-the cloud +flows)\n%s", when, diff)
	}
}

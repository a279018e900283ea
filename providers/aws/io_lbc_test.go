package aws_test

import (
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// rollout is a Service whose pods are replaced while a process serves it.
type rollout struct {
	*testing.T
	subject podded
	r       *reconcile.Reconciler
	svc     *corev1.Service
	first   netip.Addr
}

func newRollout(t *testing.T) *rollout {
	setCredentials(t)
	subject, ok := freshController(t).(podded)
	if !ok {
		t.Fatal("no subject with pods")
	}
	c := controllerService("pods", map[string]string{"aws-load-balancer-nlb-target-type": "ip"}, func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] })
	o := &rollout{T: t, subject: subject, svc: c.Service, r: props.Process(t, subject.Open(t), subject.Nodes())}
	o.first = netip.MustParsePrefix(subject.running.Cloud.Seed.Subnets[0].CIDR).Addr()
	return o
}

// pods are ready ones from a number to another.
func (o *rollout) pods(from, to int) []*discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.svc.Namespace, Name: o.svc.Name}, AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{{Name: new(o.svc.Spec.Ports[0].Name), Protocol: new(corev1.ProtocolTCP), Port: new(int32(8080))}},
	}
	for n := from; n < to; n++ {
		b := o.first.As4()
		b[2], b[3] = b[2]+byte(n/200), byte(10+n%200)
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{netip.AddrFrom4(b).String()}, NodeName: new(o.subject.running.Cloud.Seed.Nodes[0].Name)})
	}
	return []*discoveryv1.EndpointSlice{s}
}

// serve brings the Service to the pods.
func (o *rollout) serve(pods []*discoveryv1.EndpointSlice) {
	o.Helper()
	for range 12 {
		if res, err := props.Work(o.Context(), o.r, reconcile.Job{Service: o.svc, Slices: pods}); err != nil {
			o.Fatal(err)
		} else if res.Clean {
			return
		}
	}
	o.Fatal("not as wanted after 12 rounds")
}

// registered are the addresses in the Service's target group, without the draining ones.
func (o *rollout) registered() []string {
	o.Helper()
	r := reconcile.New(o.subject.Open(o), reconcile.Options{}) // which knows nothing, and reads all
	r.SetNodes(o.subject.Nodes())
	d, err := r.Draft(o.Context(), reconcile.Job{Service: o.svc})
	if err != nil {
		o.Fatal(err)
	}
	var out []string
	for _, targets := range stack.Each[model.Targets](d.Have, model.KindTargets) {
		for _, t := range targets.Targets {
			out = append(out, t.ID)
		}
	}
	return out
}

// TestPodsInBatches: pods are registered by 200 in a call. When some change, only these
// are sent: the new ones in one call, before the removed ones in another.
func TestPodsInBatches(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		o := newRollout(t)
		o.serve(o.pods(0, 450))
		if n := o.subject.Control().Journal.Counts()["elbv2.RegisterTargets"]; n != 3 {
			t.Errorf("450 pods took %d calls, want 3", n)
		}
		o.subject.Control().Journal.Reset()
		o.serve(o.pods(50, 500))
		var order []string
		for _, e := range o.subject.Control().Journal.Entries() {
			if e.Write {
				order = append(order, e.Operation)
			}
		}
		if want := []string{"RegisterTargets", "DeregisterTargets"}; !slices.Equal(order, want) {
			t.Errorf("50 of 450 pods replaced: writing calls %v, want %v", order, want)
		}
		if n := len(o.registered()); n != 450 {
			t.Errorf("%d targets, want 450", n)
		}
	})
}

package wire

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestNewServicesSpread: many Services that are created at the same moment, and are first
// seen in several reads before any of them is written, are distributed evenly by rules,
// each among the load balancers that it may be on. A restart moves none of them.
func TestNewServicesSpread(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const n = 60
		r := newMulti(t, simazure.SeedOptions{})
		var svcs []*corev1.Service
		for i := range n {
			svcs = append(svcs, numberedService(i+1, model.Public, func(s *corev1.Service) {
				switch i % 4 {
				case 1: // two rules more than the others
					s.Spec.Ports = append(s.Spec.Ports, servicePort(8080, int32(32000+2*i)), servicePort(8081, int32(32001+2*i)))
				case 2:
					labelFront(s)
				case 3: // as if it were about to move to the load balancer of all Services with labels
					s.Annotations["service.beta.kubernetes.io/azure-load-balancer-configurations"] = "kubernetes,fourth"
				}
			}))
		}
		plans, found := map[*corev1.Service]plan.Plan{}, map[*corev1.Service]providers.Found[*model.Facts]{}
		for some := range 3 {
			part := svcs[some*n/3 : (some+1)*n/3]
			for i, f := range r.Read(false, part...) {
				plans[part[i]], found[part[i]] = r.Draft(part[i], false, f.Have, f.Facts), f
			}
		}
		var all sync.WaitGroup
		for _, svc := range svcs {
			all.Go(func() {
				if err := r.Engine.Run(t.Context(), plans[svc], found[svc].Have, nil).Err(); err != nil {
					t.Errorf("%s: %v", svc.Name, err)
				}
			})
		}
		all.Wait()
		facts := r.Read(false, svcs[0])[0].Facts
		rules := map[string]int{}
		for _, lb := range facts.Balancers {
			rules[lb.Name] = lb.Rules
		}
		// 15 with four rules and 30 with two, on two; 15 with two, on one.
		if a, b := rules["kubernetes"], rules["fourth"]; a+b != 120 || a-b < -2 || a-b > 2 || rules["second"] != 30 {
			t.Errorf("rules by load balancer: %v", rules)
		}
		before := r.places(svcs)
		r.open()
		r.AllTogether(false, svcs...)
		if d := cmp.Diff(before, r.places(svcs)); d != "" {
			t.Errorf("who is where, after a restart (-before +after):\n%s", d)
		}
	})
}

// places are the load balancers that Services are on.
func (r *rig) places(svcs []*corev1.Service) map[string]string {
	r.Helper()
	out := map[string]string{}
	for i, f := range r.Read(false, svcs...) {
		for _, res := range f.Have.Of(model.KindEntries) {
			out[svcs[i].Name] += res.Key.Name
		}
	}
	if len(out) != len(svcs) {
		r.Errorf("%d of %d Services are on a load balancer", len(out), len(svcs))
	}
	return out
}

func servicePort(number, nodePort int32) corev1.ServicePort {
	return corev1.ServicePort{Name: "p" + string(rune('a'+number%26)), Protocol: corev1.ProtocolTCP, Port: number, NodePort: nodePort}
}

// TestQueue verifies that a Service keeps its place until it is on a load balancer, is
// released, or is not seen for long.
func TestQueue(t *testing.T) {
	owner := func(uid string) stack.Owner { return stack.Owner{Namespace: "shop", Name: uid, UID: uid} }
	scopeFor := func(uid, wish, lb string) providers.Scope {
		s := providers.Scope{Owner: owner(uid)}
		if wish != "" {
			s.Facts = []providers.Lookup{{Kind: model.KindBalancer, By: model.ByWanted, Value: lb}, {Kind: model.KindBalancer, By: model.ByPlace, Value: wish}}
		}
		return s
	}
	public := func(uid, wish string) providers.Scope { return scopeFor(uid, wish, "kubernetes") }
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var q queue
	check := func(what string, want map[string][]model.Wish) {
		t.Helper()
		got := map[string][]model.Wish{}
		for o, ahead := range q.ahead() {
			got[o.Name] = append([]model.Wish{}, ahead...)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	one, two, three := model.Wish{Rules: 1, On: []string{"x", "y"}}, model.Wish{Rules: 2, On: []string{"x"}}, model.Wish{Rules: 3, On: []string{"y"}}
	q.enter([]providers.Scope{public("a", "1/x,y"), public("b", "2/x"), scopeFor("i", "9/x", "kubernetes-internal")}, nil, now)
	q.enter([]providers.Scope{public("c", "1/x,y"), public("a", "1/x,y")}, nil, now)
	check("in order", map[string][]model.Wish{"a": {}, "b": {one}, "c": {one, two}, "i": {}})
	q.enter([]providers.Scope{public("a", "3/y")}, nil, now.Add(placeAge))
	check("one wants something else", map[string][]model.Wish{"a": {}, "b": {three}, "c": {three, two}, "i": {}})
	q.enter([]providers.Scope{public("b", "2/x"), public("c", "")}, nil, now.Add(placeAge))
	check("one is released", map[string][]model.Wish{"a": {}, "b": {three}, "i": {}})
	q.enter([]providers.Scope{public("a", "3/y")}, map[string]bool{strings.ToLower(model.BaseName("a")): true}, now.Add(placeAge+1))
	check("one has come, one was not seen", map[string][]model.Wish{"b": {}})
}

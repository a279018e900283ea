package baidu_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/baidu/model"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestLateLists: no second address is bought, and no second load balancer created, while lists lack the first
// ones: in the process that has created them, and in the next one.
func TestLateLists(t *testing.T) {
	for _, lag := range []time.Duration{15 * time.Second, 2 * time.Minute} {
		virtual.Run(t, lag.String(), func(t *testing.T) {
			opt := withNodes(2)
			opt.ListLag = lag
			w := beginWorld(t, opt)
			svc := props.Service("web", nil).Service
			if _, err := w.Control().Faults.Add(sim.Fault{Operation: "CreateAppTCPListener", Count: 1, Kind: sim.FaultCutAfter}); err != nil {
				t.Fatal(err)
			}
			w.Serve(svc)
			w.Restart(svc)
			w.Serve(svc)
			if addresses, balancers := w.Sim.Cloud.Addresses(), w.Sim.Cloud.Balancers(); len(addresses) != 1 || len(balancers) != 1 {
				t.Errorf("EIPs %v and load balancers %v, want one of each", addresses, balancers)
			}
			w.Release(svc)
			if left, addresses := w.Sim.Cloud.Balancers(), w.Sim.Cloud.Addresses(); len(left)+len(addresses) > 0 {
				t.Errorf("load balancers %v and EIPs %v are left", left, addresses)
			}
		})
	}
}

// TestAddressDeletedByHand: a new process, whose first token was answered with an address that was deleted
// since, buys another one.
func TestAddressDeletedByHand(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", nil).Service
		w.Serve(svc)
		lost := w.Sim.Cloud.Addresses()[0]
		w.Sim.Cloud.DropAddress(lost)
		w.Restart(svc)
		w.Serve(svc)
		if now := w.Sim.Cloud.Addresses(); len(now) != 1 || now[0] == lost {
			t.Errorf("EIPs %v, want one other than %s", now, lost)
		}
		if f := w.Sim.Cloud.Forwards(); len(f) != 2 || !f[0].Public {
			t.Errorf("forwards %v", f)
		}
	})
}

// TestUnderClass: what is created for a Service with a class has no name and no tag of the official controller, and
// is found again by both forms of tags.
func TestUnderClass(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := props.Service("web", nil, func(s *corev1.ServiceSpec) { s.LoadBalancerClass = new("berth-lb.io/baidu") }).Service
		w.Serve(svc)
		mark := model.OwnerMark("cce-berthdemo", string(svc.UID))
		for _, collection := range []string{"load_balancers", "eips"} {
			for _, o := range w.Objects(collection) {
				tags := o.Objects("tags")
				if len(tags) != 1 || tags[0].Text("tagKey") != model.TagBerth || tags[0].Text("tagValue") != mark || o.Text("name") != "BERTH/SVC/cce-berthdemo/shop/web" {
					t.Errorf("%s %s has the tags %v", collection, o.Text("name"), tags)
				}
			}
		}
		w.Restart(svc)
		w.Control().Journal.Reset()
		w.Serve(svc)
		for _, e := range w.Control().Journal.Entries() {
			if e.Write {
				t.Errorf("%s by the next process", e.Operation)
			}
		}
		svc.Spec.LoadBalancerClass = nil // the API server clears it with the type
		w.Release(svc)
		if left, addresses := w.Sim.Cloud.Balancers(), w.Sim.Cloud.Addresses(); len(left)+len(addresses) > 0 {
			t.Errorf("load balancers %v and EIPs %v are left", left, addresses)
		}
	})
}

package openstack_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const internalKey = "service.beta.kubernetes.io/openstack-internal-load-balancer"

// breaks lets the change of an operation end in ERROR so many times.
func (w *world) breaks(operation string, times int) {
	w.Helper()
	if _, err := w.Control().Faults.Add(sim.Fault{Operation: operation, Count: times, Kind: sim.FaultError, Status: http.StatusOK}); err != nil {
		w.Fatal(err)
	}
}

// setLimit requests another connection limit, which is a change of each listener.
func setLimit(svc *corev1.Service, limit string) { svc.Annotations[prefix+"connection-limit"] = limit }

// TestFailover: a change ends in ERROR. A step of the plan fails the load balancer over,
// then the change is applied. This holds for the process that observed the ERROR and for
// another.
func TestFailover(t *testing.T) {
	for name, anew := range map[string]bool{"the same process": false, "another process": true} {
		virtual.Run(t, name, func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{Administrator: true}, "")
			svc := props.Service("web", nil).Service
			w.serve(svc)
			was := svc.DeepCopy()
			setLimit(svc, "100")
			w.breaks("UpdateListener", 1)
			w.breaks("FailoverLoadBalancer", 1)
			if res, err := w.once(svc, false); err != nil || res.Err == nil || res.Clean {
				t.Fatalf("not noticed: %v, %v", err, res.Err)
			}
			if anew {
				w.restart()
			}
			w.serve(svc)
			if n := w.Control().Journal.Counts()["load-balancer.FailoverLoadBalancer"]; n != 2 {
				t.Errorf("%d failovers, one of which fails: %v", n, w.Control().Journal.Counts())
			}
			for _, l := range w.tables()["listeners"] {
				if l["connection_limit"] != 100.0 {
					t.Errorf("a listener has the limit %v", l["connection_limit"])
				}
			}
			if d := cmp.Diff(was.Status, svc.Status); d != "" {
				t.Errorf("status (-before +after):\n%s", d)
			}
		})
	}
}

// TestErrorIsKept: the provisioning status is that of the last change. A load balancer in
// ERROR that may still forward is neither deleted nor replaced, whatever the drift check
// finds, and the Service reports why its changes have no effect. Once it has been failed
// over, the changes are made.
func TestErrorIsKept(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  simopenstack.Options
		with map[string]string
	}{
		{name: "external"},
		{name: "external, without room for another", opt: simopenstack.Options{Limits: simopenstack.Limits{LoadBalancers: 1}}},
		{name: "internal", with: map[string]string{internalKey: "true"}},
	} {
		virtual.Run(t, c.name, func(t *testing.T) {
			w := startWorld(t, c.opt, "")
			svc := props.Service("web", c.with).Service
			w.serve(svc)
			was := svc.DeepCopy()
			setLimit(svc, "100")
			w.breaks("UpdateListener", 1)
			var last reconcile.Result
			for range rounds {
				last, _ = w.once(svc, false)
			}
			w.restart() // and tries the failover once more
			_, _ = w.once(svc, false)
			if last, _ = w.once(svc, false); last.Clean {
				t.Error("the Service is reported as served")
			}
			calls := w.Control().Journal.Counts()
			if n := calls["load-balancer.DeleteLoadBalancer"]; n > 0 || calls["load-balancer.CreateLoadBalancer"] != 1 {
				t.Errorf("%d deletions: %v", n, calls)
			}
			if !slices.ContainsFunc(messagesOf(last), func(line string) bool { return strings.Contains(line, "may still forward") }) {
				t.Errorf("the Service does not report the ERROR: %v", messagesOf(last))
			}
			if d := cmp.Diff(was.Status, svc.Status); d != "" {
				t.Errorf("status (-before +after):\n%s", d)
			}
			w.running.Cloud.FailOver(svc.Annotations[idKey])
			w.serve(svc)
		})
	}
}

// TestReplacement: a load balancer in ERROR that cannot be failed over, because its driver
// does not support it or the user lacks the right, and that forwards nothing, is replaced.
// The replacement has the same floating IP, and of an internal Service the same address. The
// plan says what is lost. One that has a floating IP stays until the replacement exists.
func TestReplacement(t *testing.T) {
	for _, c := range []struct {
		name, config string
		with         map[string]string
		createFirst  bool
	}{
		{name: "a driver that cannot", config: "lb-provider = ovn\nlb-method = SOURCE_IP_PORT\n", createFirst: true},
		{name: "a user that may not", createFirst: true},
		{name: "internal", with: map[string]string{internalKey: "true"}},
	} {
		virtual.Run(t, c.name, func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{}, c.config)
			svc := props.Service("web", c.with).Service
			w.serve(svc)
			was, before := svc.DeepCopy(), w.portrait()
			svc.Spec.Ports[1].Port = 8443
			w.breaks("CreatePool", 1)
			_, _ = w.once(svc, false)
			svc.Spec.Ports[1].Port = 443
			w.running.Cloud.StopForwarding(svc.Annotations[idKey])
			if c.createFirst {
				w.refuses("CreateLoadBalancer", 3)
			}
			w.replaced(svc)
			if now := svc.Annotations[idKey]; now == was.Annotations[idKey] {
				t.Error("the load balancer in ERROR is still there")
			}
			if d := cmp.Diff(was.Status, svc.Status); d != "" {
				t.Errorf("status (-before +after):\n%s", d)
			}
			now := w.portrait()
			if c.createFirst { // at another address in the network
				isAddress := func(line string) bool { return strings.Contains(line, `"10.0.0.`) }
				before, now = slices.DeleteFunc(before, isAddress), slices.DeleteFunc(now, isAddress)
			}
			if d := diffLines(before, now); d != "" {
				t.Errorf("the cloud has changed:\n%s", d)
			}
			if n := w.Control().Journal.Counts()["load-balancer.FailoverLoadBalancer"]; n > 1 {
				t.Errorf("%d failovers are asked for, though the first one was refused", n)
			}
			w.deletedAfterCreation(c.createFirst)
		})
	}
}

// TestReplacementResumes: a process ends between the creation of a replacement and the move of
// the floating IP. The next one finishes the replacement, though the Service records the id of
// the old load balancer.
func TestReplacementResumes(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "")
		svc := props.Service("web", nil).Service
		w.serve(svc)
		was := svc.DeepCopy()
		setLimit(svc, "100")
		w.breaks("UpdateListener", 1)
		_, _ = w.once(svc, false)
		w.running.Cloud.StopForwarding(svc.Annotations[idKey])
		w.refuses("UpdateFloatingIP", 1)
		for w.Control().Journal.Counts()["load-balancer.CreateLoadBalancer"] < 2 {
			_, _ = w.once(svc, false)
		}
		svc.Annotations = withAnnotations(svc, was.Annotations).Annotations
		setLimit(svc, "100")
		w.restart()
		w.serve(svc)
		if d := cmp.Diff(was.Status, svc.Status); d != "" {
			t.Errorf("status (-before +after):\n%s", d)
		}
		w.deletedAfterCreation(true)
	})
}

// refuses lets an operation be refused so many times, with nothing done.
func (w *world) refuses(operation string, times int) {
	w.Helper()
	if _, err := w.Control().Faults.Add(sim.Fault{Operation: operation, Count: times, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "QuotaException"}); err != nil {
		w.Fatal(err)
	}
}

// deletedAfterCreation verifies the order of the last creation and the deletion.
func (w *world) deletedAfterCreation(want bool) {
	w.Helper()
	var order []string
	for _, e := range w.Control().Journal.Entries() {
		if e.Status < 300 && (e.Operation == "CreateLoadBalancer" || e.Operation == "DeleteLoadBalancer") {
			order = append(order, e.Operation)
		}
	}
	if after := len(order) == 3 && order[2] == "DeleteLoadBalancer"; after != want || len(order) != 3 {
		w.Errorf("the calls are %v", order)
	}
}

// replaced serves a Service and wants, on the way, a plan that replaces its load balancer
// and says so.
func (w *world) replaced(svc *corev1.Service) {
	w.Helper()
	for range rounds {
		res, err := w.once(svc, false)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(res.Draft.Plan.Steps, func(s plan.Step) bool {
			return s.ID.Key.Kind == "load-balancer" && s.ID.Action == plan.Delete && s.Reason == plan.Replaced && s.Impact == plan.Interrupts
		}) {
			if !slices.ContainsFunc(messagesOf(res), func(line string) bool { return strings.Contains(line, "is lost") }) {
				w.Errorf("the plan does not say what is lost: %v", messagesOf(res))
			}
			w.serve(svc)
			return
		}
	}
	w.Error("no plan replaces the load balancer")
}

// TestSharedNotReplaced: a load balancer in ERROR that other Services use as well is
// retained, since a replacement would cut them off. Once an administrator has failed it
// over, reconciliation continues.
func TestSharedNotReplaced(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "")
		host := w.guests(2)[0]
		was := host.DeepCopy()
		setLimit(host, "100")
		w.breaks("UpdateListener", 1)
		_, _ = w.once(host, false)
		w.running.Cloud.StopForwarding(host.Annotations[idKey])
		for range rounds {
			_, _ = w.once(host, false)
		}
		if n := w.Control().Journal.Counts()["load-balancer.DeleteLoadBalancer"]; n > 0 || len(w.tables()["loadbalancers"]) != 1 {
			t.Fatalf("%d deletions, %d load balancers", n, len(w.tables()["loadbalancers"]))
		}
		res, err := w.once(host, false)
		if err != nil || !slices.ContainsFunc(messagesOf(res), func(line string) bool {
			return strings.Contains(line, "would leave kube_service_kubernetes_shop_web-1 without one")
		}) {
			t.Errorf("no warning: %v, %v", err, messagesOf(res))
		}
		if d := cmp.Diff(was.Status, host.Status); d != "" {
			t.Errorf("status (-before +after):\n%s", d)
		}
	})
}

// TestBusySeen: a process that finds a load balancer busy sends no change into it, says what
// it waits for, and makes the change afterwards.
func TestBusySeen(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{Busy: time.Second}, "")
		svc := props.Service("web", nil).Service
		w.serve(svc)
		w.Control().Journal.Reset()
		first, second := svc.DeepCopy(), svc.DeepCopy()
		setLimit(first, "100")
		setLimit(second, "200")
		done := make(chan struct{})
		one := w.process
		go func() {
			defer close(done)
			_, _ = props.Work(t.Context(), one, reconcile.Job{Service: first}) // both at once
		}()
		for w.Control().Journal.Counts()["load-balancer.UpdateListener"] == 0 {
			time.Sleep(time.Millisecond)
		}
		w.restart()
		res, err := w.once(second, false)
		if err != nil || res.Clean || !res.Waits || !slices.ContainsFunc(res.Draft.Plan.Blocked, func(h plan.Blocked) bool { return h.By == plan.ByBusy }) {
			t.Errorf("nothing is waited for: %v, clean %v, held %v", err, res.Clean, res.Draft.Plan.Blocked)
		}
		<-done
		for range 100 {
			if res, err = w.once(second, false); err == nil && res.Clean {
				break
			}
			time.Sleep(min(max(res.Wait, 10*time.Millisecond), time.Second))
		}
		for _, l := range w.tables()["listeners"] {
			if l["connection_limit"] != 200.0 {
				t.Errorf("a listener has the limit %v", l["connection_limit"])
			}
		}
		for _, e := range w.Control().Journal.Entries() {
			if e.Status == http.StatusConflict {
				t.Errorf("%s was refused: %s", e.Operation, e.Code)
			}
		}
	})
}

package openstack_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simopenstack "github.com/berth-lb/berth/test/sim/openstack"
	"github.com/berth-lb/berth/test/sim/virtual"
)

const idKey = prefix + "load-balancer-id"

// namedService returns a Service of a name with two ports of its own.
func namedService(name string, port int32) *corev1.Service {
	svc := props.Service(name, nil).Service
	svc.Name, svc.UID = name, types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", port))
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].Port, svc.Spec.Ports[i].NodePort = port+int32(i), 30000+port+int32(i)
	}
	return svc
}

// guests are Services that use the load balancer of the first one.
func (w *world) guests(n int) []*corev1.Service {
	w.Helper()
	out := []*corev1.Service{namedService("web-0", 8000)}
	w.serve(out[0])
	for i := 1; i < n; i++ {
		svc := withAnnotations(namedService(fmt.Sprintf("web-%d", i), int32(8000+10*i)), map[string]string{idKey: out[0].Annotations[idKey]})
		w.serve(svc)
		out = append(out, svc)
	}
	return out
}

// TestSharedGoInAnyOrder: three Services share the load balancer of one of them. They are
// deleted in any order, by the process that served them or by another one. The remaining
// Services lose nothing, and the last deletion removes everything.
func TestSharedGoInAnyOrder(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, anew := range []bool{false, true} {
			t.Run(fmt.Sprint(order, anew), func(t *testing.T) {
				t.Parallel()
				w := startWorld(t, simopenstack.Options{}, "max-shared-lb = 3\n")
				before := w.portrait()
				all := w.guests(3)
				address := all[0].Status.LoadBalancer.Ingress
				for i, gone := range order {
					if anew {
						w.restart()
					}
					w.release(all[gone])
					if rows := w.tables(); len(rows["loadbalancers"]) != min(1, 2-i) || len(rows["listeners"]) != 2*(2-i) {
						t.Fatalf("after %d: %d load balancers, %d listeners", gone, len(rows["loadbalancers"]), len(rows["listeners"]))
					}
					for _, left := range order[i+1:] {
						w.restart()
						w.unchanged(all[left])
						if !cmp.Equal(address, all[left].Status.LoadBalancer.Ingress) {
							t.Errorf("after %d: the address was %v, is %v", gone, address, all[left].Status.LoadBalancer.Ingress)
						}
					}
				}
				if d := diffLines(before, w.portrait()); d != "" {
					t.Errorf("something is left:\n%s", d)
				}
			})
		}
	}
}

// TestSharedGoAtOnce: all Services of a load balancer are deleted at the same time, each
// planned while the others exist. The last one deletes the load balancer.
func TestSharedGoAtOnce(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, simopenstack.Options{}, "max-shared-lb = 3\n")
			before := w.portrait()
			all := w.guests(3)
			drafts := make([]*reconcile.Draft, len(all))
			for i, svc := range all {
				var err error
				if drafts[i], err = w.process.Draft(t.Context(), reconcile.Job{Service: svc.DeepCopy(), Release: true}); err != nil {
					t.Fatal(err)
				}
			}
			for _, i := range order {
				if res := w.process.Run(t.Context(), drafts[i], props.Pass); !res.Released {
					w.release(all[i])
				}
			}
			if d := diffLines(before, w.portrait()); d != "" {
				t.Errorf("something is left:\n%s", d)
			}
		})
	}
}

// TestMovedLast: a guest outlives the host and then moves; its remains are deleted.
func TestMovedLast(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "")
		other := namedService("other", 8500)
		w.serve(other)
		before := w.portrait()
		all := w.guests(2)
		host, guest := all[0], all[1]
		w.release(host)
		guest.Annotations[idKey] = other.Annotations[idKey]
		w.serve(guest)
		w.release(guest)
		if d := diffLines(before, w.portrait()); d != "" {
			t.Errorf("something is left:\n%s", d)
		}
	})
}

// unchanged works on a Service and wants no call that writes.
func (w *world) unchanged(svc *corev1.Service) {
	w.Helper()
	w.Control().Journal.Reset()
	w.serve(svc)
	if n := w.Control().Journal.Writes(); n > 0 {
		w.Errorf("%s: %d writing calls: %v", svc.Name, n, w.Control().Journal.Counts())
	}
}

// TestSharedCrash: a process stops at any write while a guest is added or deleted. The next
// process finishes the work, and the host loses nothing. It knows nothing but the cloud, and a
// call without an answer leaves there what the refusal of the next call leaves. So only the
// first call is refused.
func TestSharedCrash(t *testing.T) {
	for k := range 12 {
		for _, kind := range []sim.FaultKind{sim.FaultError, sim.FaultCutAfter} {
			if kind == sim.FaultError && k > 0 {
				continue
			}
			t.Run(fmt.Sprint(k, kind), func(t *testing.T) {
				t.Parallel()
				w := startWorld(t, simopenstack.Options{}, "")
				before := w.portrait()
				host := w.guests(1)[0]
				alone := w.portrait()
				guest := withAnnotations(namedService("guest", 9000), map[string]string{idKey: host.Annotations[idKey]})
				w.die(guest, false, k, kind)
				w.serve(guest)
				w.die(guest, true, k, kind)
				w.release(guest)
				if d := diffLines(alone, w.portrait()); d != "" {
					t.Errorf("the guest has left something:\n%s", d)
				}
				w.unchanged(host)
				w.serve(guest)
				w.die(host, true, k, kind)
				w.release(host)
				w.restart()
				w.unchanged(guest)
				w.release(guest)
				if d := diffLines(before, w.portrait()); d != "" {
					t.Errorf("something is left:\n%s", d)
				}
			})
		}
	}
}

// die works on a Service in a process whose writing calls come through up to the k-th
// only, and begins another process.
func (w *world) die(svc *corev1.Service, release bool, k int, kind sim.FaultKind) {
	w.Helper()
	for _, f := range []sim.Fault{
		{WritesOnly: true, After: k, Count: 1, Kind: kind, Status: http.StatusForbidden},
		{WritesOnly: true, After: k + 1, Kind: sim.FaultError, Status: http.StatusForbidden},
	} {
		if _, err := w.Control().Faults.Add(f); err != nil {
			w.Fatal(err)
		}
	}
	_, _ = w.once(svc.DeepCopy(), release) // it is meant to fail
	w.Control().Faults.Clear()
	w.restart()
}

// TestSharedTogether: guests that come at the same time lose no tag of each other, and no
// more of them get in than there is room for.
func TestSharedTogether(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "max-shared-lb = 4\n")
		host := w.guests(1)[0]
		var many []props.Case
		for i := range 3 {
			svc := withAnnotations(namedService(fmt.Sprintf("guest-%d", i), int32(9000+10*i)), map[string]string{idKey: host.Annotations[idKey]})
			many = append(many, props.Case{Name: svc.Name, Service: svc})
		}
		props.Together(t, w, many)
		w.unchanged(host)
		for i := range 5 {
			svc := withAnnotations(namedService(fmt.Sprintf("late-%d", i), int32(9100+10*i)), map[string]string{idKey: host.Annotations[idKey]})
			for range 3 {
				_, _ = w.once(svc, false) // Services that find no room report it
			}
		}
		tags, _ := w.tables()["loadbalancers"][0]["tags"].([]any)
		if len(tags) != 4 || !slices.Contains(tags, any("kube_service_kubernetes_shop_web-0")) {
			t.Errorf("tags: %v", tags)
		}
	})
}

// TestMoved: a Service that moves from its own load balancer to another Service's, and on
// to a third, leaves nothing behind and removes nothing from the remaining Services.
func TestMoved(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "")
		first, second, mover := namedService("first", 8000), namedService("second", 8100), namedService("mover", 9000)
		w.serve(first)
		w.serve(second)
		before := w.portrait()
		w.serve(mover)
		own := mover.Annotations[idKey]
		for _, host := range []*corev1.Service{first, second, first} {
			mover.Annotations[idKey] = host.Annotations[idKey]
			w.serve(mover)
			rows := w.tables()
			if len(rows["loadbalancers"]) != 2 || len(rows["listeners"]) != 6 || len(rows["pools"]) != 6 {
				t.Errorf("%d load balancers, %d listeners, %d pools", len(rows["loadbalancers"]), len(rows["listeners"]), len(rows["pools"]))
			}
			if !cmp.Equal(mover.Status.LoadBalancer, host.Status.LoadBalancer) {
				t.Errorf("the address is %v, that of the host %v", mover.Status.LoadBalancer, host.Status.LoadBalancer)
			}
			w.restart()
			w.unchanged(mover)
		}
		if mover.Annotations[idKey] == own {
			t.Error("nothing has moved")
		}
		w.release(mover)
		if d := diffLines(before, w.portrait()); d != "" {
			t.Errorf("something is left:\n%s", d)
		}
	})
}

// TestRenamedCluster: after a change of --cluster-name a load balancer keeps serving and
// gets the new name; one of another cluster, whose nodes are others, does not.
func TestRenamedCluster(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "")
		svc := namedService("web", 8000)
		w.serve(svc)
		address := svc.Status.LoadBalancer.Ingress
		w.cluster = "production"
		w.restart()
		w.serve(svc)
		rows := w.tables()
		if len(rows["loadbalancers"]) != 1 || rows["loadbalancers"][0]["name"] != "kube_service_production_shop_web" || !cmp.Equal(rows["loadbalancers"][0]["tags"], []any{"kube_service_production_shop_web"}) {
			t.Errorf("load balancers: %v", rows["loadbalancers"])
		}
		for _, l := range rows["listeners"] {
			if !cmp.Equal(l["tags"], []any{"kube_service_production_shop_web"}) {
				t.Errorf("tags of a listener: %v", l["tags"])
			}
		}
		if !cmp.Equal(address, svc.Status.LoadBalancer.Ingress) {
			t.Errorf("the address was %v, is %v", address, svc.Status.LoadBalancer.Ingress)
		}
		w.restart()
		w.unchanged(svc)

		w.cluster = "stranger"
		for i := range w.nodes {
			w.nodes[i].Name = fmt.Sprintf("other-%d", i)
		}
		w.restart()
		guest := withAnnotations(namedService("web", 9000), map[string]string{idKey: svc.Annotations[idKey]})
		w.serve(guest)
		if name := w.tables()["loadbalancers"][0]["name"]; name != "kube_service_production_shop_web" {
			t.Errorf("another cluster's load balancer is called %v now", name)
		}
		w.release(guest)
		if n := len(w.tables()["listeners"]); n != 2 {
			t.Errorf("%d listeners are left of the other cluster", n)
		}
	})
}

// TestSharedPortRace: two guests that are created at once want the same port of a load
// balancer. The older one gets it, in either order of their plans. The other one reports
// the conflict, leaves nothing behind, and gets the port after the deletion of the first.
func TestSharedPortRace(t *testing.T) {
	for _, hasty := range []string{"older", "younger"} {
		virtual.Run(t, "the "+hasty+" one is first", func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{}, "max-shared-lb = 4\n")
			host := w.guests(1)[0]
			guest := func(name string, port int32, since time.Time) *corev1.Service {
				svc := withAnnotations(namedService(name, port), map[string]string{idKey: host.Annotations[idKey]})
				svc.CreationTimestamp = metav1.NewTime(since)
				return svc
			}
			began := time.Now()
			older, younger := guest("b-older", 9000, began.Add(-time.Minute)), guest("a-younger", 9001, began)
			without := w.portrait()
			drafts := map[string]*reconcile.Draft{}
			for _, svc := range []*corev1.Service{younger, older} {
				d, err := w.process.Draft(t.Context(), reconcile.Job{Service: svc.DeepCopy()})
				if err != nil {
					t.Fatal(err)
				}
				drafts[svc.Name] = d
			}
			order := []string{older.Name, younger.Name}
			if hasty == "younger" {
				slices.Reverse(order)
			}
			for _, name := range order {
				w.process.Run(t.Context(), drafts[name], props.Pass)
			}
			w.serve(older)
			res, err := w.once(younger, false)
			if lines := messagesOf(res); err != nil || !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, `"http (9001/TCP)" is `) }) {
				t.Errorf("no warning: %v, %v", err, lines)
			}
			w.unchanged(host)
			w.release(older)
			if d := diffLines(without, w.portrait()); d != "" {
				t.Errorf("the younger one has left something:\n%s", d)
			}
			w.serve(younger)
			w.release(younger)
			if d := diffLines(without, w.portrait()); d != "" {
				t.Errorf("something is left:\n%s", d)
			}
		})
	}
}

// TestSharedPortTogether: the host and guests add the same port at the same time, many
// times over. One of them gets it, all others keep what they have.
func TestSharedPortTogether(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := startWorld(t, simopenstack.Options{}, "max-shared-lb = 4\n")
		all := w.guests(3)
		for i, svc := range all {
			svc.CreationTimestamp = metav1.NewTime(time.Unix(int64(1000-i), 0)) // the last one is the oldest
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "more", Protocol: corev1.ProtocolTCP, Port: 9443, NodePort: 32443})
		}
		var waits sync.WaitGroup
		for _, svc := range all {
			waits.Go(func() {
				for range rounds {
					_, _ = w.once(svc, false) // Services that do not get it report it
				}
			})
		}
		waits.Wait()
		if n := len(w.tables()["listeners"]); n != 7 {
			t.Errorf("%d listeners", n)
		}
		if n := len(w.tables()["pools"]); n != 7 {
			t.Errorf("%d pools", n)
		}
		for _, l := range w.tables()["listeners"] {
			if l["protocol_port"] == 9443.0 && !cmp.Equal(l["tags"], []any{"kube_service_kubernetes_shop_web-2"}) {
				t.Errorf("the port is that of %v", l["tags"])
			}
		}
	})
}

package openstack_test

import (
	"context"
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

// lateness is how long a slow Octavia takes to accept a creation that its caller has given up.
// It is longer than a call is waited for.
const lateness = 90 * time.Second

// diesWhileCreating has a process die while the creation of a load balancer waits in a slow
// Octavia, which accepts it later. The next process is started.
func (w *world) diesWhileCreating(svc *corev1.Service) {
	w.Helper()
	if _, err := w.Control().Faults.Add(sim.Fault{Operation: "CreateLoadBalancer", Count: 1, Kind: sim.FaultLate, Latency: lateness}); err != nil {
		w.Fatal(err)
	}
	ctx, die := context.WithCancel(w.Context())
	died := make(chan struct{})
	process := w.process
	go func() {
		defer close(died)
		_, _ = props.Work(ctx, process, reconcile.Job{Service: svc.DeepCopy()})
	}()
	time.Sleep(time.Second)
	die()
	w.Cleanup(func() { <-died })
	w.restart()
}

// balancers lists the ids of the load balancers.
func (w *world) balancers() (out []string) {
	w.Helper()
	for _, lb := range w.tables()["loadbalancers"] {
		id, _ := lb["id"].(string)
		out = append(out, id)
	}
	return out
}

// TestLateCreation: creations that a dead process has left behind are accepted after its
// successor has created the load balancer. One is kept, the one that the Service records or
// else the older one, and the others are deleted with what is on them; on release all are.
func TestLateCreation(t *testing.T) {
	for _, driver := range []string{"", "provider-requires-serial-api-calls = true\n"} {
		for name, recorded := range map[string]bool{"recorded": true, "not recorded": false} {
			virtual.Run(t, strings.TrimSpace(name+" "+driver), func(t *testing.T) {
				w := startWorld(t, simopenstack.Options{}, driver)
				before := w.portrait()
				svc := props.Service("web", nil).Service
				bare := svc.DeepCopy()
				w.diesWhileCreating(svc)
				w.serve(svc)
				kept, address := w.balancers(), svc.Status.DeepCopy()
				time.Sleep(2 * lateness)
				if n := len(w.balancers()); len(kept) != 1 || n != 2 {
					t.Fatalf("%d load balancers, %d in the end: nothing came late", len(kept), n)
				}
				if !recorded {
					svc = bare.DeepCopy()
				}
				w.restart()
				w.serve(svc)
				if d := cmp.Diff(kept, w.balancers()); d != "" {
					t.Errorf("load balancers (-want +got):\n%s", d)
				}
				if d := cmp.Diff(*address, svc.Status); d != "" {
					t.Errorf("status (-want +got):\n%s", d)
				}
				w.release(svc)
				if d := diffLines(before, w.portrait()); d != "" {
					t.Errorf("something is left:\n%s", d)
				}
			})
		}
	}
}

// TestLateCreationReleased: a Service that is deleted while it has two load balancers leaves
// neither behind, whether it records one of them or none.
func TestLateCreationReleased(t *testing.T) {
	for name, recorded := range map[string]bool{"recorded": true, "not recorded": false} {
		virtual.Run(t, name, func(t *testing.T) {
			w := startWorld(t, simopenstack.Options{}, "")
			before := w.portrait()
			svc := props.Service("web", nil).Service
			bare := svc.DeepCopy()
			w.diesWhileCreating(svc)
			w.serve(svc)
			time.Sleep(2 * lateness)
			if !recorded {
				svc = bare
			}
			w.restart()
			w.release(svc)
			if d := diffLines(before, w.portrait()); d != "" {
				t.Errorf("something is left:\n%s", d)
			}
		})
	}
}

// TestClustersOfOneName: a load balancer of another cluster that has the same name and a
// Service of the same name is neither taken over nor deleted, and the message names the
// flag that tells clusters apart.
func TestClustersOfOneName(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		ours := startWorld(t, simopenstack.Options{Seed: simopenstack.SeedOptions{Nodes: 4}}, "")
		theirs := *ours
		ours.nodes, theirs.nodes = ours.nodes[:2], ours.nodes[2:]
		ours.restart()
		theirs.restart()
		web := namedService("web", 8000)
		ours.serve(web)
		before := ours.portrait()

		twin := namedService("web", 9000)
		twin.UID = "00000000-0000-4000-8000-00000000abcd"
		var last reconcile.Result
		for range 3 {
			last, _ = theirs.once(twin, false)
		}
		if d := diffLines(before, ours.portrait()); d != "" {
			t.Errorf("the other cluster has changed it:\n%s", d)
		}
		if !slices.ContainsFunc(messagesOf(last), func(l string) bool { return strings.Contains(l, "--cluster-name") }) {
			t.Errorf("the message does not name --cluster-name: %v", messagesOf(last))
		}
		if !slices.ContainsFunc(last.Draft.Plan.Blocked, func(b plan.Blocked) bool { return b.By == plan.ByProof }) || len(twin.Status.LoadBalancer.Ingress) > 0 {
			t.Errorf("held %v, status %v", last.Draft.Plan.Blocked, twin.Status)
		}
		theirs.restart()
		theirs.release(twin)
		if d := diffLines(before, ours.portrait()); d != "" {
			t.Errorf("the other cluster has deleted something:\n%s", d)
		}
		ours.restart()
		ours.unchanged(web)

		twin.Annotations = map[string]string{idKey: web.Annotations[idKey]} // named on purpose
		theirs.serve(twin)
		for _, e := range ours.Control().Journal.Entries() {
			if e.Status >= http.StatusBadRequest {
				t.Errorf("%s was refused: %s", e.Operation, e.Code)
			}
		}
	})
}

// TestLateCreationOfOthers: of two load balancers of the name the one with the nodes of
// another cluster is never deleted.
func TestLateCreationOfOthers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		ours := startWorld(t, simopenstack.Options{Seed: simopenstack.SeedOptions{Nodes: 4}}, "")
		theirs := *ours
		ours.nodes, theirs.nodes = ours.nodes[:2], ours.nodes[2:]
		theirs.restart()
		ours.restart()
		before := ours.portrait()
		web, twin := namedService("web", 8000), namedService("web", 8000)
		ours.diesWhileCreating(web)
		theirs.serve(twin)
		with := ours.portrait()
		time.Sleep(2 * lateness)
		ours.serve(web)
		if len(ours.balancers()) != 2 || web.Annotations[idKey] == twin.Annotations[idKey] {
			t.Fatalf("load balancers %v", ours.balancers())
		}
		ours.release(web)
		if d := diffLines(with, ours.portrait()); d != "" {
			t.Errorf("something of the other cluster is missing:\n%s", d)
		}
		theirs.release(twin)
		if d := diffLines(before, ours.portrait()); d != "" {
			t.Errorf("something is left:\n%s", d)
		}
	})
}

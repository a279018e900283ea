package gce_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// reconcileUntilClean plans and runs a Service until it is clean or released.
func reconcileUntilClean(t *testing.T, r *reconcile.Reconciler, job reconcile.Job) reconcile.Result {
	t.Helper()
	var last reconcile.Result
	for range 8 {
		d, err := r.Draft(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if last = r.Run(context.Background(), d, props.Pass); last.Clean || last.Released {
			return last
		}
	}
	t.Fatalf("not there: errors %v, problems %v, held %v", last.Err, last.Draft.Problems, last.Draft.Plan.Blocked)
	return last
}

// TestFirewallsOfAnotherProject: without the rights to write firewalls in the
// host project of a shared network all the rest is made, the user gets a command
// for each firewall, and with the rights the next read makes what is missing. A
// release does not wait for what it may not remove.
func TestFirewallsOfAnotherProject(t *testing.T) {
	for _, c := range propsCases()[:4] {
		virtual.Run(t, c.Name, func(t *testing.T) {
			s := subject{running: simtest.Start(t, simgce.Options{NetworkProject: "berth-host", Seed: simgce.SeedOptions{Nodes: 6}})}
			deny := func(operation string) {
				if _, err := s.Control().Faults.Add(sim.Fault{Operation: "firewalls." + operation, Kind: sim.FaultError, Code: "forbidden"}); err != nil {
					t.Fatal(err)
				}
			}
			deny("insert")
			now := time.Unix(1e9, 0)
			r := reconcile.New(s.Open(t), reconcile.Options{GatherReleases: time.Millisecond, Now: func() time.Time { return now }})
			r.SetNodes(s.Nodes())
			r.AllKnown()
			job := reconcile.Job{Service: c.Service, NeverProvisioned: true}
			res := reconcileUntilClean(t, r, job)
			if len(res.Status.Ingress) != 1 || len(res.Manual) != 2 {
				t.Errorf("addresses %v, to do by hand %q", res.Status.Ingress, res.Manual)
			}
			for _, text := range res.Manual {
				if !strings.Contains(text, "gcloud compute firewall-rules create k8s") || !strings.Contains(text, "--project berth-host") || !strings.Contains(text, "--source-ranges ") {
					t.Errorf("no command: %q", text)
				}
			}
			if again := reconcileUntilClean(t, r, job); len(again.Manual) != 2 {
				t.Errorf("what is to do was forgotten: %q", again.Manual)
			}
			s.Control().Faults.Clear()
			now = now.Add(time.Hour)
			if with := reconcileUntilClean(t, r, job); len(with.Manual) != 0 {
				t.Errorf("with the rights there is still to do %q", with.Manual)
			}
			deny("delete")
			gone := reconcileUntilClean(t, r, reconcile.Job{Service: c.Service, Release: true})
			if !gone.Released || len(gone.Manual) != 2 || !strings.Contains(gone.Manual[0], "firewall-rules delete") {
				t.Errorf("released %t, to do by hand %q", gone.Released, gone.Manual)
			}
		})
	}
}

// TestFirewallsOfTheOwnProject: there a refusal is a fault.
func TestFirewallsOfTheOwnProject(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := subject{running: simtest.Start(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 6}})}
		if _, err := s.Control().Faults.Add(sim.Fault{Operation: "firewalls.insert", Kind: sim.FaultError, Code: "forbidden"}); err != nil {
			t.Fatal(err)
		}
		r := reconcile.New(s.Open(t), reconcile.Options{})
		r.SetNodes(s.Nodes())
		r.AllKnown()
		d, err := r.Draft(t.Context(), reconcile.Job{Service: propsCases()[0].Service})
		if err != nil {
			t.Fatal(err)
		}
		if res := r.Run(t.Context(), d, props.Pass); res.Err == nil || res.Clean || len(res.Manual) > 0 {
			t.Errorf("error %v, clean %t, to do by hand %q", res.Err, res.Clean, res.Manual)
		}
	})
}

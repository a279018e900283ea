package ibm_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// nlbService is a public network load balancer with a UID of its own.
func nlbService(n int, pairs ...string) *corev1.Service {
	return account.Numbered(n, withKeys(append([]string{"enable-features", "nlb"}, pairs...)...))
}

// TestNetworkZones: network load balancers spread over the zones that have nodes, one after
// the other and when they are created at once, and stay where they are.
func TestNetworkZones(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 5}})
		for n := range 3 {
			w.Serve(nlbService(n))
		}
		if got := zonesOf(w); fmt.Sprint(got) != "map[eu-de-1:1 eu-de-2:1 eu-de-3:1]" {
			t.Errorf("one after the other: %v", got)
		}
		w.Process.SetNodes(w.Machines[:1])
		w.Serve(nlbService(3))
		if got := zonesOf(w)["eu-de-1"]; got != 2 {
			t.Errorf("with nodes in one zone alone: %v", zonesOf(w))
		}
		w.Process.SetNodes(w.Machines)
		w.Serve(nlbService(3))
		if got := zonesOf(w)["eu-de-1"]; got != 2 {
			t.Errorf("moved: %v", zonesOf(w))
		}
		w.Serve(nlbService(4, "zone", "eu-de-3"))
		if got := zonesOf(w)["eu-de-3"]; got != 2 {
			t.Errorf("in the zone of the key: %v", zonesOf(w))
		}
	})
	virtual.Run(t, "at once", func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6}})
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() { w.Serve(nlbService(n)) })
		}
		wg.Wait()
		if got := zonesOf(w); len(got) != 3 {
			t.Errorf("at once: %v", got)
		}
	})
}

// zonesOf counts the load balancers in each zone.
func zonesOf(w *world) map[string]int {
	zones := map[string]string{}
	for _, s := range w.Sim.Cloud.Seed.Subnets {
		zones[s.ID] = s.Zone
	}
	out := map[string]int{}
	for _, lb := range w.Objects("load_balancers") {
		for _, s := range lb.Objects("subnets") {
			out[zones[s.Text("id")]]++
		}
	}
	return out
}

// TestNetworkAddress: a network load balancer is shown with the address that it has once it
// is active; members are instances of the workers' account.
func TestNetworkAddress(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Busy: 30 * time.Second, Create: 3 * time.Minute, Seed: simibm.SeedOptions{Nodes: 3}})
		svc := nlbService(0)
		w.Serve(svc)
		in := svc.Status.LoadBalancer.Ingress
		if len(in) != 1 || !strings.HasSuffix(in[0].Hostname, ".lb.appdomain.cloud") || !strings.HasPrefix(in[0].IP, "158.177.") {
			t.Errorf("status %+v", in)
		}
		var want []string
		for _, n := range w.Sim.Cloud.Seed.Nodes {
			want = append(want, n.InstanceID)
		}
		slices.Sort(want)
		for _, f := range w.Sim.Cloud.Forwards() {
			if !slices.Equal(f.Machines, want) {
				t.Errorf("%d: machines %v, want %v", f.First, f.Machines, want)
			}
		}
	})
}

// TestNetworkImmutable: what a live network load balancer cannot take over is refused, and its
// members follow the nodes.
func TestNetworkImmutable(t *testing.T) {
	for name, change := range map[string]map[string]string{
		"an application load balancer": {}, "a private path": withKeys("enable-features", "private-path"),
		"another zone": withKeys("enable-features", "nlb", "zone", "eu-de-3"), "another subnet": withKeys("enable-features", "nlb", "vpc-subnets", "berthdemo-subnet-30"),
	} {
		virtual.Run(t, name, func(t *testing.T) {
			w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 4}})
			svc := nlbService(0, "zone", "eu-de-1", "vpc-node-selector", "kubernetes.io/os=linux")
			w.Serve(svc)
			svc.Annotations = maps.Clone(change)
			w.Process.SetNodes(w.Machines[1:])
			w.Control().Journal.Reset()
			res, err := w.Once(svc, false)
			if err != nil || res.Err != nil || !res.Draft.Problems.Errors() {
				t.Fatal(err, res.Err, res.Draft.Problems)
			}
			if got := zonesOf(w); fmt.Sprint(got) != "map[eu-de-1:1]" {
				t.Errorf("zones %v", got)
			}
			for op := range w.Control().Journal.Counts() {
				if strings.Contains(op, "create_") || strings.Contains(op, "delete_") {
					t.Errorf("call %s", op)
				}
			}
		})
	}
}

// TestSecurityGroups: the groups that a Service names replace those of the load balancer,
// which never is without one; without the key they stay.
func TestSecurityGroups(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Busy: 30 * time.Second, Seed: simibm.SeedOptions{Nodes: 3}})
		svc := props.Service("web", nil).Service
		w.Serve(svc)
		if got := groupNames(w); got != "default-of-berthdemo-vpc" {
			t.Errorf("without the key: %s", got)
		}
		for _, step := range []struct{ key, want string }{{"web", "web"}, {"web,internal", "internal web"}, {"internal", "internal"}, {"", "internal"}} {
			svc.Annotations = withKeys("vpc-security-group", step.key)
			w.Serve(svc)
			if got := groupNames(w); got != step.want {
				t.Errorf("with %q: %s, want %s", step.key, got, step.want)
			}
		}
		for _, e := range w.Control().Journal.Entries() {
			if e.Status >= 400 {
				t.Errorf("%s was refused: %d %s", e.Operation, e.Status, e.Code)
			}
		}
		w.Release(svc)
	})
}

func groupNames(w *world) string {
	var out []string
	for _, lb := range w.Objects("load_balancers") {
		for _, g := range lb.Objects("security_groups") {
			out = append(out, g.Text("name"))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

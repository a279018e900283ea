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

	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// nlbService is a public network load balancer with a UID of its own.
func nlbService(n int, pairs ...string) *corev1.Service {
	svc := props.Service("web", withKeys(append([]string{"enable-features", "nlb"}, pairs...)...)).Service
	svc.Name, svc.UID = fmt.Sprintf("web-%d", n), uidOf(n)
	return svc
}

// TestNetworkZones: network load balancers spread over the zones that have nodes, one after
// the other and when they are created at once, and stay where they are.
func TestNetworkZones(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 5}})
		for n := range 3 {
			w.serve(nlbService(n))
		}
		if got := w.zonesOf(); fmt.Sprint(got) != "map[eu-de-1:1 eu-de-2:1 eu-de-3:1]" {
			t.Errorf("one after the other: %v", got)
		}
		w.process.SetNodes(w.nodes[:1])
		w.serve(nlbService(3))
		if got := w.zonesOf()["eu-de-1"]; got != 2 {
			t.Errorf("with nodes in one zone alone: %v", w.zonesOf())
		}
		w.process.SetNodes(w.nodes)
		w.serve(nlbService(3))
		if got := w.zonesOf()["eu-de-1"]; got != 2 {
			t.Errorf("moved: %v", w.zonesOf())
		}
		w.serve(nlbService(4, "zone", "eu-de-3"))
		if got := w.zonesOf()["eu-de-3"]; got != 2 {
			t.Errorf("in the zone of the key: %v", w.zonesOf())
		}
	})
	virtual.Run(t, "at once", func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 6}})
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() { w.serve(nlbService(n)) })
		}
		wg.Wait()
		if got := w.zonesOf(); len(got) != 3 {
			t.Errorf("at once: %v", got)
		}
	})
}

// zonesOf counts the load balancers in each zone.
func (w *world) zonesOf() map[string]int {
	zones := map[string]string{}
	for _, s := range w.running.Cloud.Seed.Subnets {
		zones[s.ID] = s.Zone
	}
	out := map[string]int{}
	for _, lb := range w.objects("load_balancers") {
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
		w.serve(svc)
		in := svc.Status.LoadBalancer.Ingress
		if len(in) != 1 || !strings.HasSuffix(in[0].Hostname, ".lb.appdomain.cloud") || !strings.HasPrefix(in[0].IP, "158.177.") {
			t.Errorf("status %+v", in)
		}
		var want []string
		for _, n := range w.running.Cloud.Seed.Nodes {
			want = append(want, n.InstanceID)
		}
		slices.Sort(want)
		for _, f := range w.running.Cloud.Forwards() {
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
			w.serve(svc)
			svc.Annotations = maps.Clone(change)
			w.process.SetNodes(w.nodes[1:])
			w.Control().Journal.Reset()
			res, err := w.once(svc, false)
			if err != nil || res.Err != nil || !res.Draft.Problems.Errors() {
				t.Fatal(err, res.Err, res.Draft.Problems)
			}
			if got := w.zonesOf(); fmt.Sprint(got) != "map[eu-de-1:1]" {
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
		w.serve(svc)
		if got := w.groupNames(); got != "default-of-berthdemo-vpc" {
			t.Errorf("without the key: %s", got)
		}
		for _, step := range []struct{ key, want string }{{"web", "web"}, {"web,internal", "internal web"}, {"internal", "internal"}, {"", "internal"}} {
			svc.Annotations = withKeys("vpc-security-group", step.key)
			w.serve(svc)
			if got := w.groupNames(); got != step.want {
				t.Errorf("with %q: %s, want %s", step.key, got, step.want)
			}
		}
		for _, e := range w.Control().Journal.Entries() {
			if e.Status >= 400 {
				t.Errorf("%s was refused: %d %s", e.Operation, e.Status, e.Code)
			}
		}
		w.release(svc)
	})
}

func (w *world) groupNames() string {
	var out []string
	for _, lb := range w.objects("load_balancers") {
		for _, g := range lb.Objects("security_groups") {
			out = append(out, g.Text("name"))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

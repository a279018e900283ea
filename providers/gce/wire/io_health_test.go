package wire

import (
	"maps"
	"slices"
	"strings"
	"testing"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// TestHealth: members are reported as Google Cloud judges them, on every kind of load
// balancer, by the pool or group that has them.
func TestHealth(t *testing.T) {
	r := newRig(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 4}}, "")
	stopped := r.Nodes[0].Name
	behind := map[string]string{model.TargetPool: "target-pool", model.NetLB: "instance-group", model.InternalIG: "instance-group", model.InternalNEG: "network-endpoint-group"}
	kinds := slices.Sorted(maps.Keys(kindClasses()))
	for n, kind := range kinds {
		r.arrive(testService(n, kindClasses()[kind], nil))
		for _, h := range r.health(n, kind) {
			if !h.Healthy || h.State != "HEALTHY" || h.Why != "" {
				t.Errorf("%s, all machines run: %+v", kind, h)
			}
		}
	}
	r.stop(stopped)
	for n, kind := range kinds {
		health := r.health(n, kind)
		if len(health) < 2 {
			t.Fatalf("%s: %d members: %v", kind, len(health), health)
		}
		told := 0
		for _, h := range health {
			if is := h.Member == stopped; h.Healthy == is || string(h.Of.Kind) != behind[kind] || h.State == "" {
				t.Errorf("%s: %+v; stopped is %s, members are of a %s", kind, h, stopped, behind[kind])
			} else if is {
				told++
			}
		}
		if told != 1 {
			t.Errorf("%s: %s is told %d times", kind, stopped, told)
		}
	}
}

func (r *rig) health(n int, kind string) []providers.MemberHealth {
	r.Helper()
	out, err := r.Session.Health(r.Context(), r.Read(false, testService(n, kindClasses()[kind], nil))[0].Have)
	if err != nil {
		r.Fatal(kind, err)
	}
	return out
}

// stop stops a machine.
func (r *rig) stop(name string) {
	r.Helper()
	client, err := compute.NewInstancesRESTClient(r.Context(), r.sim.Options()...)
	if err != nil {
		r.Fatal(err)
	}
	for _, n := range r.Nodes {
		if n.Name != name {
			continue
		}
		zone := strings.Split(strings.TrimPrefix(n.Spec.ProviderID, "gce://"), "/")[1]
		if _, err := client.Stop(r.Context(), &computepb.StopInstanceRequest{Project: r.Config.Project, Zone: zone, Instance: name}); err != nil {
			r.Fatal(err)
		}
	}
}

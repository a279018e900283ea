package wire

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sessions"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// together makes all Services of one kind at the same time, and lets what was read age.
func (r *rig) together(svcs []*corev1.Service) {
	r.Helper()
	r.AllTogether(false, svcs...)
	r.Now = r.Now.Add(1e10)
}

func manyServices(n int, class string) []*corev1.Service {
	var out []*corev1.Service
	for i := range n {
		out = append(out, testService(i+1, class, nil))
	}
	return out
}

// TestTogether: what Services share is made once, whatever their number.
func TestTogether(t *testing.T) {
	const n = 10
	own := map[string]map[string]int{
		model.TargetPool: {"forwardingRules.insert": n, "targetPools.insert": n, "firewalls.insert": n + 1, "httpHealthChecks.insert": 1},
		model.NetLB: {
			"forwardingRules.insert": n, "regionBackendServices.insert": n, "firewalls.insert": n + 1, "regionHealthChecks.insert": 1,
			"instanceGroups.insert": 4, "instanceGroups.addInstances": 4,
		},
		model.InternalIG: {
			"forwardingRules.insert": n, "regionBackendServices.insert": n, "firewalls.insert": n + 1, "healthChecks.insert": 1,
			"instanceGroups.insert": 4, "instanceGroups.addInstances": 4,
		},
		model.InternalNEG: {
			"forwardingRules.insert": n, "regionBackendServices.insert": n, "firewalls.insert": n + 1, "healthChecks.insert": 1,
			"networkEndpointGroups.insert": 4 * n, "networkEndpointGroups.attachNetworkEndpoints": 4 * n,
		},
	}
	for _, kind := range slices.Sorted(maps.Keys(kindClasses())) {
		virtual.Run(t, kind, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			r.together(manyServices(n, kindClasses()[kind]))
			if d := cmp.Diff(own[kind], r.writes()); d != "" {
				t.Errorf("writes (-want +got):\n%s", d)
			}
			for _, svc := range manyServices(n, kindClasses()[kind]) {
				if _, again := r.Plan(svc, false); !again.Empty() {
					t.Errorf("a second plan is not empty: %s", sessions.Steps(again))
				}
			}
		})
	}
}

// TestReadOfMany: a deep read by a process that knows nothing yet costs one list
// for each collection, and one for the members of each group.
func TestReadOfMany(t *testing.T) {
	const n = 40
	lists := func(more map[string]int) map[string]int {
		out := map[string]int{
			"forwardingRules.list": 1, "addresses.list": 1, "targetPools.aggregatedList": 1, "backendServices.aggregatedList": 1,
			"healthChecks.aggregatedList": 1, "httpHealthChecks.list": 1, "firewalls.list": 1,
			"instanceGroups.aggregatedList": 1, "networkEndpointGroups.aggregatedList": 1,
		}
		maps.Copy(out, more)
		maps.DeleteFunc(out, func(_ string, n int) bool { return n == 0 })
		return out
	}
	for kind, more := range map[string]map[string]int{
		model.TargetPool:  {"targetPools.list": 1, "targetPools.aggregatedList": 0},
		model.NetLB:       {"instanceGroups.listInstances": 4},
		model.InternalIG:  {"instanceGroups.listInstances": 4},
		model.InternalNEG: {"networkEndpointGroups.listNetworkEndpoints": 4 * n},
	} {
		virtual.Run(t, kind, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			r.together(manyServices(n, kindClasses()[kind]))
			var scopes []providers.Scope
			for _, svc := range manyServices(n, kindClasses()[kind]) {
				s, err := model.Cloud().Scope(r.Input(svc))
				if err != nil {
					t.Fatal(err)
				}
				scopes = append(scopes, s)
			}
			r.open("") // zones and subnets are asked for at the start
			for _, s := range scopes[:1] {
				s.Own = nil
				r.Session.Read(t.Context(), []providers.Scope{s})
			}
			r.reset()
			for i, f := range r.Session.Read(t.Context(), scopes) {
				if f.Err != nil || f.Have.Empty() || len(f.Blind) > 0 {
					t.Errorf("%d: got %+v", i, f)
				}
			}
			if d := cmp.Diff(lists(more), r.calls()); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
		})
	}
}

// TestShallowRead: a look at many Services is one list.
func TestShallowRead(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		svcs := manyServices(5, netlbClass)
		r.together(svcs)
		var scopes []providers.Scope
		for _, svc := range svcs {
			s, err := model.Cloud().Scope(r.Input(svc))
			if err != nil {
				t.Fatal(err)
			}
			s.Depth = providers.Shallow
			scopes = append(scopes, s)
		}
		r.reset()
		for i, f := range r.Session.Read(t.Context(), scopes) {
			if f.Err != nil || len(f.Have.Of(model.KindExternalRule)) != 1 {
				t.Errorf("%d: got %+v", i, f)
			}
		}
		if d := cmp.Diff(map[string]int{"forwardingRules.list": 1}, r.calls()); d != "" {
			t.Errorf("calls (-want +got):\n%s", d)
		}
	})
}

// TestNodeChange: a node that joins or leaves is one call for its group, whatever the
// number of Services, and later Services find it done.
func TestNodeChange(t *testing.T) {
	for _, kind := range []string{model.NetLB, model.InternalIG} {
		virtual.Run(t, kind, func(t *testing.T) {
			r := newRig(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 9}}, "")
			whole := r.Nodes
			r.Nodes = whole[:8]
			svcs := manyServices(8, kindClasses()[kind])
			r.together(svcs)
			for _, stage := range []struct {
				nodes []corev1.Node
				call  string
			}{{whole, "instanceGroups.addInstances"}, {whole[:8], "instanceGroups.removeInstances"}} {
				r.Nodes = stage.nodes
				r.reset()
				r.together(svcs)
				if d := cmp.Diff(map[string]int{stage.call: 1}, r.writes()); d != "" {
					t.Errorf("writes (-want +got):\n%s", d)
				}
			}
		})
	}
}

// TestLastOneSwitchesTheLightOff: a shared resource stays while any Service wants it,
// and is deleted with the last Service.
func TestLastOneSwitchesTheLightOff(t *testing.T) {
	for _, kind := range slices.Sorted(maps.Keys(kindClasses())) {
		virtual.Run(t, kind, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			svcs := manyServices(3, kindClasses()[kind])
			r.together(svcs)
			for i, svc := range svcs {
				r.leave(svc)
				for _, other := range svcs[i+1:] {
					if _, p := r.Plan(other, false); !p.Empty() {
						t.Fatalf("%s lost something: %s", other.Name, sessions.Steps(p))
					}
				}
			}
			if left := r.left(); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// left are the names of the parts of a load balancer that still exist.
func (r *rig) left() []string {
	r.Helper()
	svc := testService(99, netlbClass, nil)
	var out []string
	for _, res := range r.Read(true, svc)[0].Have.Resources {
		out = append(out, res.Key.String())
	}
	return out
}

// TestForeignUserOfAShared: a group that another client uses stays, and that is no
// failure.
func TestForeignUserOfAShared(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		svc := testService(1, netlbClass, nil)
		have := r.arrive(svc)
		group, ok := have.Get(stack.Key{Kind: model.KindGroup, Name: have.Of(model.KindGroup)[0].Key.Name})
		if !ok {
			t.Fatal("no group")
		}
		r.foreignBackend("ingress", group.ID)
		if _, err := r.run(svc, true); err != nil {
			t.Fatalf("release: %v", err)
		}
		r.Now = r.Now.Add(1e11)
		if left := r.left(); len(left) != 0 {
			t.Errorf("nothing that is left is ours to see, got %v", left)
		}
		if names := r.groupNames(); len(names) != 1 {
			t.Errorf("the group in use must stay alone, got %v", names)
		}
	})
}

// TestEndpointsAreRemembered: reading again costs no call for each endpoint group,
// unless another number of endpoints is in it than we have put there.
func TestEndpointsAreRemembered(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		svc := testService(1, negClass, nil)
		r.arrive(svc)
		count := func() int { return r.calls()["networkEndpointGroups.listNetworkEndpoints"] }
		before := count()
		first := r.Read(false, svc)[0].Have
		if n := count() - before; n != 0 {
			t.Errorf("%d calls for endpoints that we have attached", n)
		}
		var group stack.Resource
		for g, spec := range stack.Each[model.NEG](first, model.KindNEG) {
			if len(spec.Endpoints) > 0 {
				group = g
			}
		}
		spec, _ := group.Spec.(model.NEG)
		if err := writeAndWait(t.Context(), r.Session, r.Session.negAPI.DetachNetworkEndpoints, &computepb.DetachNetworkEndpointsNetworkEndpointGroupRequest{
			Project: r.Config.Project, Zone: spec.Zone, NetworkEndpointGroup: spec.Name,
			NetworkEndpointGroupsDetachEndpointsRequestResource: &computepb.NetworkEndpointGroupsDetachEndpointsRequest{NetworkEndpoints: wireEndpoints(spec.Endpoints[:1])},
		}); err != nil {
			t.Fatal(err)
		}
		again, _ := r.Read(false, svc)[0].Have.Get(group.Key)
		got, _ := again.Spec.(model.NEG)
		if n := count() - before; n != 1 || len(got.Endpoints) != len(spec.Endpoints)-1 {
			t.Errorf("%d calls show %d endpoints; want one call, and one endpoint less than %d", n, len(got.Endpoints), len(spec.Endpoints))
		}
	})
}

// TestSharedContentDiffers: steps of several Services on one shared firewall that write
// different fields of it are all written, in one batch or in two.
func TestSharedContentDiffers(t *testing.T) {
	for _, apart := range []bool{false, true} {
		virtual.Run(t, fmt.Sprint("apart ", apart), func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			found := r.arrive(testService(1, netlbClass, nil))
			i := slices.IndexFunc(found.Resources, func(res stack.Resource) bool {
				return res.Key.Kind == model.KindCheckFirewall && res.Ownership == stack.Shared
			})
			if i < 0 {
				t.Fatal("the test is wrong: there is no shared firewall")
			}
			shared := found.Resources[i]
			spec := shared.Spec.(model.Firewall)
			spec.Tags, spec.Sources = []string{"others"}, []string{"192.0.2.0/24"}
			target := shared
			target.Spec = spec
			step := func(n int, changes ...plan.Change) plan.Step {
				return plan.Step{ID: plan.StepID{Owner: cases.OwnerOf(testService(n, netlbClass, nil)), Key: shared.Key, Action: plan.Update}, Target: target, Found: shared.Spec, Batch: shared.Key.String(), Changes: changes}
			}
			tags := plan.Change{Field: "Tags", To: spec.Tags}
			steps := []plan.Step{step(1, tags), step(2, tags, plan.Change{Field: "Sources", To: spec.Sources})}
			batches := [][]plan.Step{steps}
			if apart {
				batches = [][]plan.Step{steps[:1], steps[1:]}
			}
			for _, some := range batches {
				for _, out := range r.Session.Apply(t.Context(), plan.Batch{Key: shared.Key.String(), Steps: some}) {
					if out.Err != nil {
						t.Fatal(out.Err)
					}
				}
			}
			after := r.Read(false, testService(1, netlbClass, nil))[0].Have
			got, _ := after.Get(shared.Key)
			if diff := cmp.Diff(spec, got.Spec); diff != "" {
				t.Errorf("both were told that it is as they want (-want +got):\n%s", diff)
			}
		})
	}
}

package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
	"github.com/berth-lb/berth/test/sim/gce/compute"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestFaultsOfCalls: whatever way the cloud says it, in the answer to the call or
// at the end of the operation, the step ends with the same meaning.
func TestFaultsOfCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		fault sim.Fault
		want  fault.Meaning
		sent  plan.Sent
	}{
		"quota":                 {sim.Fault{Kind: sim.FaultError, Code: "quotaExceeded"}, fault.Quota, plan.NotSent},
		"quota, late":           {sim.Fault{Kind: sim.FaultError, Status: 200, Code: "QUOTA_EXCEEDED"}, fault.Quota, plan.NotSent},
		"forbidden":             {sim.Fault{Kind: sim.FaultError, Code: "forbidden"}, fault.Denied, plan.NotSent},
		"invalid":               {sim.Fault{Kind: sim.FaultError, Code: "invalid"}, fault.Invalid, plan.NotSent},
		"invalid, late":         {sim.Fault{Kind: sim.FaultError, Status: 200, Code: "INVALID_USAGE"}, fault.Invalid, plan.NotSent},
		"not ready":             {sim.Fault{Kind: sim.FaultError, Code: "resourceNotReady"}, fault.Pending, plan.NotSent},
		"not ready, late":       {sim.Fault{Kind: sim.FaultError, Status: 200, Code: "RESOURCE_NOT_READY"}, fault.Pending, plan.NotSent},
		"condition":             {sim.Fault{Kind: sim.FaultError, Code: "conditionNotMet"}, fault.Invalid, plan.NotSent},
		"address of another":    {sim.Fault{Kind: sim.FaultError, Status: 200, Code: "IP_IN_USE_BY_ANOTHER_RESOURCE"}, fault.Invalid, plan.NotSent},
		"server error":          {sim.Fault{Kind: sim.FaultError, Status: 503}, fault.Ambiguous, plan.MaybeSent},
		"server error, late":    {sim.Fault{Kind: sim.FaultError, Status: 200, Code: "INTERNAL_ERROR"}, fault.Ambiguous, plan.MaybeSent},
		"cut before it is done": {sim.Fault{Kind: sim.FaultCutBefore}, fault.Ambiguous, plan.MaybeSent},
		"cut after it is done":  {sim.Fault{Kind: sim.FaultCutAfter}, fault.Ambiguous, plan.MaybeSent},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			tc.fault.Operation = "firewalls.insert"
			r.fault(tc.fault)
			step := plan.Step{
				ID: plan.StepID{Owner: stack.Owner{Name: "x"}, Key: stack.Key{Kind: model.KindFirewall, Name: "legacy"}, Action: plan.Create},
				Target: stack.Resource{Key: stack.Key{Kind: model.KindFirewall, Name: "legacy"}, Spec: model.Firewall{
					Name: "k8s-fw-x", Network: r.Config.Network, Allowed: []model.Allowed{{Protocol: "tcp", Ports: []string{"80"}}}, Sources: []string{"0.0.0.0/0"}, Priority: 1000,
				}},
			}
			ctx := t.Context()
			if tc.want == fault.Pending { // what is not ready is tried again for a while
				limited, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				ctx = limited
			}
			o := r.Session.Apply(ctx, plan.Batch{Steps: []plan.Step{step}})[0]
			if o.Err == nil || fault.Of(o.Err) != tc.want || o.Sent != tc.sent {
				t.Errorf("got %v (%v), sent %v; want %v, sent %v", o.Err, fault.Of(o.Err), o.Sent, tc.want, tc.sent)
			}
		})
	}
}

// TestThrottled: a call that is refused because of a rate limit is repeated, in whatever
// form the cloud reports the limit.
func TestThrottled(t *testing.T) {
	for name, refusal := range map[string]sim.Fault{
		"by reason": {Kind: sim.FaultError, Status: 403, Code: "rateLimitExceeded", Count: 1},
		"by status": {Kind: sim.FaultError, Status: 429, Code: "somethingNew", Count: 1},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			refusal.Operation = "targetPools.insert"
			r.fault(refusal)
			svc := testService(1, poolClass, nil)
			have, p := r.Plan(svc, false)
			report := r.Engine.Run(t.Context(), p, have, nil)
			if got := r.calls()["targetPools.insert"]; report.Err() != nil || got != 2 {
				t.Errorf("%d calls, %v; want the second one to succeed", got, report.Err())
			}
		})
	}
}

// TestSlowOperation: a step ends with its operation, not before; only a step whose
// context ends first hands the waiting to the caller.
func TestSlowOperation(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{Compute: compute.Options{OperationDelay: 100 * time.Millisecond}}, "")
		svc := testService(1, poolClass, nil)
		found := r.Read(false, svc)[0]
		p := r.Draft(svc, false, found.Have, found.Facts)
		report := r.Engine.Run(t.Context(), p, found.Have, nil)
		if _, waits := report.Wait(); waits || report.Err() != nil {
			t.Errorf("waits %v, error %v", waits, report.Err())
		}
		if got := r.writes(); got["forwardingRules.insert"] != 1 || got["targetPools.insert"] != 1 {
			t.Errorf("calls %v", got)
		}
		p = r.Draft(svc, true, report.Have, found.Facts)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		for _, s := range p.Steps {
			if s.ID.Key.Kind != model.KindExternalRule {
				continue
			}
			if o := r.Session.Apply(ctx, plan.Batch{Steps: []plan.Step{s}, IDs: func(stack.Owner, stack.Ref) (string, bool) { return "", false }})[0]; o.Wait == 0 || o.Sent != plan.WasSent || o.Err != nil {
				t.Errorf("%s: %+v", s.ID, o)
			}
		}
	})
}

// TestForeignFieldsSurvive: what others have set on a backend service stays, and
// a change between our read and our write makes us read again.
func TestForeignFieldsSurvive(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		svc := testService(1, negClass, nil)
		s, name := r.Session, backendOf(r.arrive(svc))
		c := &change{Session: s, Change: kit.Change[*Session]{Ctx: t.Context()}}
		b, err := c.getBackend(name)
		if err != nil {
			t.Fatal(err)
		}
		b.TimeoutSec = new(int32(77))
		b.ConnectionDraining = &computepb.ConnectionDraining{DrainingTimeoutSec: new(int32(99))}
		if err := writeAndWait(t.Context(), s, s.backendAPI.Update, &computepb.UpdateRegionBackendServiceRequest{Project: r.Config.Project, Region: r.Config.Region, BackendService: name, BackendServiceResource: b}); err != nil {
			t.Fatal(err)
		}
		r.reset()
		r.fault(sim.Fault{Operation: "regionBackendServices.update", Kind: sim.FaultError, Code: "conditionNotMet", Count: 2})
		svc.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
		r.arrive(svc)
		if n := r.calls()["regionBackendServices.update"]; n != 3 {
			t.Errorf("%d updates, want 3", n)
		}
		b, err = c.getBackend(name)
		if err != nil {
			t.Fatal(err)
		}
		if b.GetTimeoutSec() != 77 || b.GetConnectionDraining().GetDrainingTimeoutSec() != 99 || b.GetSessionAffinity() != "CLIENT_IP" {
			t.Errorf("got timeout %d, draining %v, affinity %s", b.GetTimeoutSec(), b.GetConnectionDraining(), b.GetSessionAffinity())
		}
	})
}

// listOnce removes the entries of unreachable scopes, which a list also names in "unreachables".
func listOnce(body []byte) []byte {
	var list map[string]any
	if json.Unmarshal(body, &list) != nil || list["unreachables"] == nil {
		return body
	}
	items, _ := list["items"].(map[string]any)
	for _, where := range list["unreachables"].([]any) {
		delete(items, model.PathOf(where.(string)))
	}
	out, err := json.Marshal(list)
	if err != nil {
		return body
	}
	return out
}

// TestBlind: what cannot be reached or may not be seen is not taken for gone.
func TestBlind(t *testing.T) {
	for name, tc := range map[string]struct {
		fault sim.Fault
		want  []stack.Kind
	}{
		"a zone of groups": {
			sim.Fault{Operation: "instanceGroups.aggregatedList", Kind: sim.FaultError, Code: "UNREACHABLE", Message: "zones/us-central1-b"}, []stack.Kind{model.KindGroup},
		},
		"global checks":  {sim.Fault{Operation: "healthChecks.aggregatedList", Kind: sim.FaultError, Code: "UNREACHABLE", Message: "global"}, []stack.Kind{model.KindCheck}},
		"our region":     {sim.Fault{Operation: "backendServices.aggregatedList", Kind: sim.FaultError, Code: "UNREACHABLE", Message: "regions/us-central1"}, []stack.Kind{model.KindBackend}},
		"denied":         {sim.Fault{Operation: "firewalls.list", Kind: sim.FaultError, Code: "forbidden"}, []stack.Kind{model.KindDeny, model.KindFirewall, model.KindCheckFirewall}},
		"another region": {sim.Fault{Operation: "backendServices.aggregatedList", Kind: sim.FaultError, Code: "UNREACHABLE", Message: "regions/europe-west1"}, nil},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			svc := testService(1, netlbClass, nil)
			r.arrive(svc)
			r.Now = r.Now.Add(time.Minute)
			r.fault(tc.fault)
			for _, rewrite := range []func([]byte) []byte{nil, listOnce} {
				r.sim.Cloud.Control.Rewrite = rewrite
				if d := cmp.Diff(tc.want, r.Read(true, svc)[0].Blind.Kinds()); d != "" {
					t.Errorf("blind (-want +got):\n%s", d)
				}
			}
		})
	}
}

// TestUnreachableGroupsOfOthers: without all of its instance groups a region has no complete list.
func TestUnreachableGroupsOfOthers(t *testing.T) {
	for where, want := range map[string]bool{"zones/us-central1-b": true, "zones/europe-west1-b": false} {
		virtual.Run(t, where, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "alpha-features = SkipIGsManagement\n")
			r.fault(sim.Fault{Operation: "instanceGroups.aggregatedList", Kind: sim.FaultError, Code: "UNREACHABLE", Message: where})
			for _, rewrite := range []func([]byte) []byte{nil, listOnce} {
				r.sim.Cloud.Control.Rewrite = rewrite
				if _, err := r.Session.groupsOfOthers(t.Context()); fault.Is(err, fault.Unavailable) != want {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}

// TestPageOfAServerFailure: a read that is answered with pages for a moment is repeated.
func TestPageOfAServerFailure(t *testing.T) {
	for tries, want := range map[int]bool{attempts - 1: true, attempts: false} {
		virtual.Test(t, func(t *testing.T) {
			r := newRig(t, simgce.Options{}, "")
			r.fault(sim.Fault{Operation: "instanceGroups.aggregatedList", Kind: sim.FaultPage, Status: http.StatusBadGateway, Count: tries})
			if _, err := r.Session.groupsOfOthers(t.Context()); (err == nil) != want || err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("after %d pages: %v", tries, err)
			}
		})
	}
}

// TestReadFails: a list that fails for another reason is an error of the read.
func TestReadFails(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		svc := testService(1, netlbClass, nil)
		s, err := model.Cloud().Scope(r.Input(svc))
		if err != nil {
			t.Fatal(err)
		}
		r.fault(sim.Fault{Operation: "forwardingRules.list", Kind: sim.FaultError, Status: http.StatusServiceUnavailable})
		found := r.Session.Read(t.Context(), []providers.Scope{s})
		if !fault.Is(found[0].Err, fault.Unavailable) {
			t.Errorf("got %v", found[0].Err)
		}
	})
}

// TestRefusedMembers: instances that do not exist are named, and the others are added.
func TestRefusedMembers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 9}}, "")
		svc := testService(1, igClass, nil)
		r.arrive(svc)
		have := r.Read(false, svc)[0].Have
		group := have.Of(model.KindGroup)[0]
		old, _ := group.Spec.(model.Group)
		wanted := old
		wanted.Instances = append(slices.Clone(old.Instances), "ghost-1", "ghost-2")
		group.Spec = wanted
		step := plan.Step{
			ID:     plan.StepID{Owner: cases.OwnerOf(svc), Key: group.Key, Action: plan.Update, Part: "instances+"},
			Target: group, Found: old,
			Changes: []plan.Change{{Field: "Instances", Added: []any{"ghost-1", "ghost-2"}}},
			Batch:   group.Key.String(),
		}
		o := r.Session.Apply(t.Context(), plan.Batch{Key: step.Batch, Steps: []plan.Step{step}})[0]
		if o.Err != nil || len(o.Refused) != 2 {
			t.Errorf("got %+v", o)
		}
	})
}

// TestMembersBehindOurBack: a member that another client has added or removed meanwhile
// is no failure.
func TestMembersBehindOurBack(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{Seed: simgce.SeedOptions{Nodes: 9}}, "")
		whole := r.Nodes
		r.Nodes = whole[:8]
		svc := testService(1, igClass, nil)
		r.arrive(svc)
		found := r.Read(false, svc)[0]
		// The console does what we are about to do, without our memory knowing.
		other := newSessionOn(r)
		zone := r.sim.Cloud.Seed.Nodes[8].Zone
		path := groupPath(zone, r.Config.GroupName(model.InternalIG))
		c := &change{Session: other, Change: kit.Change[*Session]{Ctx: t.Context()}}
		if err := c.addInstances(path, []string{whole[8].Name}); err != nil {
			t.Fatal(err)
		}
		r.Nodes = whole
		p := r.Draft(svc, false, found.Have, found.Facts)
		report := r.Engine.Run(t.Context(), p, found.Have, nil)
		if err := report.Err(); err != nil || !report.Clean() {
			t.Fatalf("added already: %v", err)
		}
		if err := c.removeInstances(path, []string{whole[8].Name}); err != nil {
			t.Fatal(err)
		}
		r.Nodes = whole[:8]
		p = r.Draft(svc, false, report.Have, found.Facts)
		report = r.Engine.Run(t.Context(), p, report.Have, nil)
		if err := report.Err(); err != nil || !report.Clean() {
			t.Fatalf("removed already: %v", err)
		}
	})
}

// TestWishedIPIsTaken: an IP that a Service only wishes for does not stop it.
func TestWishedIPIsTaken(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simgce.Options{}, "")
		first := r.arrive(testService(1, poolClass, nil))
		rule, _ := first.Of(model.KindExternalRule)[0].Spec.(model.Rule)
		second := testService(2, poolClass, nil)
		second.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: rule.IP}}
		have := r.arrive(second)
		if got, _ := have.Of(model.KindExternalRule)[0].Spec.(model.Rule); got.IP == "" || got.IP == rule.IP {
			t.Errorf("got IP %q; the other one has %q", got.IP, rule.IP)
		}
	})
}

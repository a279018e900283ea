package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestKnownIsFound: what the writes say to be there is what a read finds.
func TestKnownIsFound(t *testing.T) {
	for name, svc := range map[string]*corev1.Service{
		"public": numberedService(1, model.Public, nil), "internal": numberedService(2, model.Internal, nil), "local": numberedService(3, model.Public, useLocalPolicy),
		"link": numberedService(4, model.Internal, func(s *corev1.Service) {
			s.Annotations["service.beta.kubernetes.io/azure-pls-create"] = "true"
			s.Annotations["service.beta.kubernetes.io/azure-pls-ip-configuration-subnet"] = "links"
		}),
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC}})
			known, err := r.run(svc, false)
			if err != nil {
				t.Fatal(err)
			}
			known.Sort()
			r.Now = r.Now.Add(time.Minute)
			found := r.Read(false, svc)[0]
			options := []cmp.Option{
				cmpopts.IgnoreFields(model.Entries{}, "Expect"), cmpopts.IgnoreFields(model.Access{}, "Rank", "Alone"), cmpopts.IgnoreFields(model.PublicIP{}, "Services"),
				cmpopts.IgnoreFields(model.Place{}, "Address"),
				cmpopts.IgnoreFields(stack.Resource{}, "Proof", "Ownership"), cmpopts.EquateEmpty(),
			}
			if d := cmp.Diff(known.Resources, found.Have.Resources, options...); d != "" {
				t.Errorf("(-known after the run +read):\n%s", d)
			}
			if _, err := r.run(svc, true); err != nil {
				t.Fatal(err)
			}
			if left := r.Read(true, svc)[0].Have; len(left.Resources) > 0 && name != "link" {
				t.Errorf("left over: %+v", left.Resources)
			}
		})
	}
}

// TestHundredTogether: a hundred Services cost few writes of what they share.
func TestHundredTogether(t *testing.T) {
	const n, most = 100, 25
	for _, kind := range []string{model.Public, model.Internal} {
		virtual.Run(t, kind, func(t *testing.T) {
			r := newRig(t, simazure.Options{})
			r.slow()
			var svcs []*corev1.Service
			for i := range n {
				svcs = append(svcs, numberedService(i+1, kind, nil))
			}
			// An address is known after the first run; the second opens it.
			r.AllTogether(false, svcs...)
			r.AllTogether(false, svcs...)
			t.Log(r.sim.Cloud.Journal.Counts())
			for _, operation := range []string{"LoadBalancers.CreateOrUpdate", "SecurityGroups.CreateOrUpdate", "LoadBalancerBackendAddressPools.CreateOrUpdate"} {
				if got := r.writes("network." + operation); got >= most {
					t.Errorf("%s: %d calls, want fewer than %d", operation, got, most)
				}
			}
			if r.writes("network.LoadBalancers.CreateOrUpdate") == 0 {
				t.Errorf("no load balancer was written: %v", r.sim.Cloud.Journal.Counts())
			}
			r.AtRest(svcs...)
			r.AllTogether(true, svcs...)
			r.Gone(svcs...)
		})
	}
}

// TestOthersStay: what AKS has in the load balancer, and a user in the security
// group, is the same after a Service has come and gone: pools, probes, rules and
// all else, but for etags.
func TestOthersStay(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Outbound: true, Addresses: 4}})
		rng := rand.New(rand.NewPCG(7, 7))
		r.addForeign(rng, "kubernetes")
		r.addForeignRules(rng)
		all := func() string {
			var out []string
			for _, id := range []string{r.Config.BalancerID("kubernetes"), r.Config.SecurityID()} {
				o, err := r.Session.get(t.Context(), id, networkVersion)
				if err != nil || o == nil {
					t.Fatal(err)
				}
				props.Drop(map[string]any(o), "etag")
				out = append(out, string(o.Bytes()))
			}
			return strings.Join(out, "\n")
		}
		before := all()
		svc := numberedService(1, model.Public, nil)
		for _, release := range []bool{false, true} {
			if _, err := r.run(svc, release); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(before, all()); d != "" {
			t.Errorf("(-before +after):\n%s", d)
		}
	})
}

// TestFaults: what the cloud refuses, and what then becomes of the Service.
func TestFaults(t *testing.T) {
	const put = "LoadBalancers.CreateOrUpdate"
	for _, c := range []struct {
		name  string
		fault sim.Fault
		want  fault.Meaning
		after time.Duration
		ok    bool // the run succeeds all the same
	}{
		{"once changed by others", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "PreconditionFailed", Count: 1}, 0, 0, true},
		{"superseded", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "CanceledAndSupersededDueToAnotherOperation", Count: 2}, 0, 0, true},
		{"always changed by others", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "PreconditionFailed"}, fault.Conflict, 0, false},
		{"throttled", sim.Fault{Operation: put, Kind: sim.FaultError, Status: 429, Count: 1}, 0, 0, true},
		{"no answer", sim.Fault{Operation: put, Kind: sim.FaultCutAfter, Count: 1}, fault.Ambiguous, 0, false},
		{"refused", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "PrivateIPAddressNotInSubnet", Count: 1}, fault.Invalid, 0, false},
		{"quota", sim.Fault{Operation: put, Kind: sim.FaultError, Code: "LoadBalancerCountLimitReached", Count: 1}, fault.Quota, 0, false},
		{"denied", sim.Fault{Operation: put, Kind: sim.FaultError, Status: 403, Count: 1}, fault.Denied, 0, false},
		{"operation failed", sim.Fault{Operation: "async/" + put, Kind: sim.FaultError, Code: "InternalServerError", Count: 1}, fault.Ambiguous, 0, false},
		{"reads fail now and then", sim.Fault{Operation: "LoadBalancers.Get", Kind: sim.FaultError, Status: 503, Count: 1}, 0, 0, true},
	} {
		virtual.Run(t, c.name, func(t *testing.T) {
			r := newRig(t, simazure.Options{})
			svc := numberedService(1, model.Internal, nil)
			id, err := r.sim.Cloud.Faults.Add(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			found := r.Read(false, svc)[0]
			report := r.Engine.Run(t.Context(), r.Draft(svc, false, found.Have, found.Facts), found.Have, nil)
			got := report.Err()
			switch {
			case c.ok && got != nil:
				t.Errorf("got %v", got)
			case !c.ok && (got == nil || !hasMeaning(report, c.want, c.after)):
				t.Errorf("got %v, want %v after %v", got, c.want, c.after)
			}
			r.sim.Cloud.Faults.Remove(id)
			r.Now = r.Now.Add(c.after)
			if _, err := r.run(svc, false); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestLongOperations verifies that operations are awaited however Azure reports them. Long
// ones are requeued and not sent twice.
func TestLongOperations(t *testing.T) {
	for _, mode := range []simarm.AsyncMode{simarm.AsyncHeader, simarm.AsyncLocation, simarm.AsyncNone} {
		virtual.Run(t, string(mode), func(t *testing.T) {
			r := newRig(t, simazure.Options{ARM: simarm.Options{Async: mode, Latency: 30 * time.Second, PollAfter: 50 * time.Millisecond}})
			svc := numberedService(1, model.Public, nil)
			if _, err := r.run(svc, false); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			r.Session.now = func() time.Time { return r.Now.Add(time.Since(began)) }
			r.Session.patience = time.Millisecond
			have, p := r.Plan(svc, true)
			if report := r.Engine.Run(t.Context(), p, have, nil); report.Err() != nil || report.Clean() {
				t.Errorf("with little patience: got %v, clean %v, want a wait", report.Err(), report.Clean())
			}
			r.Session.patience = patience
			if _, err := r.run(svc, true); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestPoolOfInterfaces: a pool that was made for interfaces is left alone unless
// the configuration lets Azure change it; the fault names the key.
func TestPoolOfInterfaces(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC, NodesAs: simazure.VM}})
		svc := numberedService(1, model.Internal, nil)
		if _, err := r.run(svc, false); err != nil {
			t.Fatal(err)
		}
		r.Config.PoolType, r.Session.config.PoolType = model.PoolNodeIP, model.PoolNodeIP
		_, err := r.run(svc, false)
		if fault.Of(err) != fault.Invalid || !strings.Contains(err.Error(), "enableMigrateToIPBasedBackendPoolAPI") {
			t.Fatalf("got %v, want Invalid with the key", err)
		}
		r.Config.Migrate, r.Session.config.Migrate = true, true
		if _, err = r.run(svc, false); !errors.Is(err, errWaits) {
			t.Fatalf("got %v, want a wait", err)
		}
		if _, err = r.run(svc, false); err != nil {
			t.Fatal(err)
		}
		if n := r.writes("network.LoadBalancers.MigrateToIPBased"); n != 1 {
			t.Errorf("%d migrations, want 1: %v", n, r.sim.Cloud.Journal.Counts())
		}
	})
}

// TestBlind: a list that is refused makes blind for its kinds, and what one
// Service asks for and may not see is nothing to the others.
func TestBlind(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{})
		one, two := numberedService(1, model.Internal, nil), numberedService(2, model.Internal, func(s *corev1.Service) {
			s.Annotations["service.beta.kubernetes.io/azure-load-balancer-internal-subnet"] = "internal"
		})
		scopes := func() []providers.Scope {
			var out []providers.Scope
			for _, svc := range []*corev1.Service{one, two} {
				s, err := model.Cloud().Scope(r.Input(svc))
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, s)
			}
			return out
		}
		if found := r.Session.Read(t.Context(), scopes()[:1]); found[0].Err != nil || len(found[0].Blind) > 0 {
			t.Fatalf("got %v, blind %v", found[0].Err, found[0].Blind)
		}
		denied, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: "Subnets.Get", Kind: sim.FaultError, Status: 403})
		if err != nil {
			t.Fatal(err)
		}
		if found := r.Session.Read(t.Context(), scopes()); found[0].Err != nil || !fault.Is(found[1].Err, fault.Denied) {
			t.Errorf("subnet refused: got %v and %v, want nothing and Denied", found[0].Err, found[1].Err)
		}
		r.sim.Cloud.Faults.Remove(denied)
		if _, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: "LoadBalancers.List", Kind: sim.FaultError, Status: 403}); err != nil {
			t.Fatal(err)
		}
		found := r.Session.Read(t.Context(), scopes())[0]
		if want := []stack.Kind{model.KindPool, model.KindEntries, model.KindNICs, model.KindScaleSet, model.KindAccess}; found.Err != nil || !cmp.Equal(want, found.Blind.Kinds()) {
			t.Errorf("load balancers refused: %v (-want +got)\n%s", found.Err, cmp.Diff(want, found.Blind.Kinds()))
		}
	})
}

// TestGoTogether: Services whose members are machines of a scale set go at the
// same moment, each of them last in its own view, and the scale set is as before.
func TestGoTogether(t *testing.T) {
	for _, as := range []simazure.NodesAs{simazure.VMSS, simazure.Flex, simazure.VM} {
		virtual.Run(t, string(as), func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC, NodesAs: as}})
			svcs := []*corev1.Service{numberedService(1, model.Public, nil), numberedService(2, model.Public, nil), numberedService(3, model.Internal, nil), numberedService(4, model.Internal, useLocalPolicy)}
			r.AllTogether(false, svcs...)
			r.AllTogether(false, svcs...)
			if n := r.writes("network.LoadBalancers.CreateOrUpdate"); n == 0 {
				t.Fatal("no load balancer was written")
			}
			r.AllTogether(true, svcs...)
			r.Gone(svcs...)
			state, err := json.Marshal(r.sim.Cloud.State())
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(state, []byte("/backendAddressPools/")) {
				t.Error("something is still in a pool")
			}
		})
	}
}

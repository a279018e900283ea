package wire

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	simnetwork "github.com/berth-lb/berth/test/sim/azure/network"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// publicIP is the body of the Service's public IP; nil if there is none.
func (r *rig) publicIP(svc *corev1.Service) model.Object {
	r.Helper()
	key := model.PublicIPKey(r.Config.Group, "kubernetes-"+model.BaseName(string(svc.UID)))
	o, err := r.Session.get(r.Context(), r.Config.PublicIPID(key), networkVersion)
	if err != nil {
		r.Fatal(err)
	}
	return o
}

// TestPublicIPShownTooLong: a public IP that Azure still shows on the frontend that has
// just gone is waited for. It is the Service's until it is deleted.
func TestPublicIPShownTooLong(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}, Network: simnetwork.Options{AttachedReads: 8}})
		svc := numberedService(1, model.Public, nil)
		if _, err := r.run(svc, false); err != nil {
			t.Fatal(err)
		}
		waits := 0
		for range 10 {
			_, err := r.run(svc, true)
			if err == nil {
				break
			}
			if !errors.Is(err, errWaits) {
				t.Fatal(err)
			}
			waits++
			if ip := model.PublicIPOf(r.publicIP(svc)); !slices.Equal(ip.Services, []string{"shop/web-1"}) {
				t.Errorf("it is of %v while it is waited for, want the Service", ip.Services)
			}
			r.Now = r.Now.Add(time.Minute)
		}
		if waits == 0 {
			t.Error("the test is wrong: Azure did not lag")
		}
		if r.publicIP(svc) != nil {
			t.Error("the public IP is left")
		}
	})
}

// TestPublicIPHeld: a frontend that an outbound rule uses keeps its public IP after the
// deletion of the Service. Once the rule is deleted, both are orphans.
func TestPublicIPHeld(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		svc := numberedService(1, model.Public, nil)
		if _, err := r.run(svc, false); err != nil {
			t.Fatal(err)
		}
		r.editBalancer("kubernetes", func(lb model.Object, id string) {
			front := id + "/" + model.ListFrontends + "/" + model.BaseName(string(svc.UID))
			lb.Props().SetList("outboundRules", []model.Object{{"name": "my-outbound", "properties": map[string]any{
				"frontendIPConfigurations": []any{model.IDObject(front)}, "backendAddressPool": model.IDObject(id + "/" + model.ListPools + "/kubernetes"), "protocol": "All",
			}}})
			for _, rule := range lb.Props().List(model.ListRules) {
				rule.Props()["disableOutboundSnat"] = true
			}
		})
		r.Now = r.Now.Add(time.Minute)
		if _, err := r.run(svc, true); err != nil {
			t.Fatal(err)
		}
		if ip := model.PublicIPOf(r.publicIP(svc)); ip.Attached == "" || len(ip.Services) > 0 {
			t.Fatalf("held by %q, of %v; want it held and without Services", ip.Attached, ip.Services)
		}
		if left := r.Read(true, svc)[0].Have; slices.ContainsFunc(left.Resources, func(res stack.Resource) bool { return res.Key.Kind == model.KindPublicIP }) {
			t.Errorf("the Service cannot go: %+v", left.Resources)
		}
		r.editBalancer("kubernetes", func(lb model.Object, _ string) { lb.Props().SetList("outboundRules", nil) })
		if got := r.Sweep(); len(got) == 0 {
			t.Error("there are no orphans")
		}
		if r.publicIP(svc) != nil {
			t.Error("the public IP is left")
		}
	})
}

// TestForeignAddressDenied: the address of an unreadable frontend of another owner remains
// unknown. No kind becomes blind because of it, and it is not requested again soon.
func TestForeignAddressDenied(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		svc := numberedService(1, model.Public, nil)
		if _, err := r.run(svc, false); err != nil {
			t.Fatal(err)
		}
		foreign := model.ARMID(r.Config.Subscription, "rg-network", "publicIPAddresses", "theirs")
		if _, err := r.Session.put(t.Context(), foreign, model.Object{
			"location": r.Config.Location, "sku": map[string]any{"name": "Standard"}, "properties": map[string]any{"publicIPAllocationMethod": "Static"},
		}, ""); err != nil {
			t.Fatal(err)
		}
		r.editBalancer("kubernetes", func(lb model.Object, _ string) {
			lb.Props().SetList(model.ListFrontends, append(lb.Props().List(model.ListFrontends), model.Object{"name": "theirs", "properties": map[string]any{"publicIPAddress": model.IDObject(foreign)}}))
		})
		if _, err := r.sim.Cloud.Faults.Add(sim.Fault{Operation: "PublicIPAddresses.Get", Kind: sim.FaultError, Status: 403}); err != nil {
			t.Fatal(err)
		}
		before := r.writes("network.PublicIPAddresses.Get")
		for range 3 {
			r.Now = r.Now.Add(time.Minute)
			found := r.Read(false, svc)[0]
			if len(found.Blind) > 0 {
				t.Errorf("blind for %v", found.Blind)
			}
			if p := r.Draft(svc, false, found.Have, found.Facts); !p.Empty() {
				t.Errorf("the plan is not empty: %v", p.Steps)
			}
		}
		if n := r.writes("network.PublicIPAddresses.Get") - before; n != 1 {
			t.Errorf("it was asked for %d times, want once", n)
		}
	})
}

// TestAddressElsewhere: the public IP of another owner's frontend in another subscription
// is not requested, neither there nor under its name in this subscription.
func TestAddressElsewhere(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		look := newRead(t.Context(), r.Session, nil)
		for subscription, want := range map[string]int{"00000000-0000-4000-8000-000000000000": 0, r.Config.Subscription: 1} {
			frontends := model.Object{}
			frontends.SetList(model.ListFrontends, []model.Object{{"name": "theirs", "properties": map[string]any{
				"publicIPAddress": model.IDObject(model.ARMID(subscription, "rg-network", "publicIPAddresses", "theirs")),
			}}})
			look.balancers = []model.Object{{"name": "kubernetes", "properties": map[string]any(frontends)}}
			before := r.calls()
			if err := look.frontendAddresses(); err != nil {
				t.Error(err)
			}
			if n := r.calls() - before; n != want {
				t.Errorf("subscription %s: %d calls, want %d", subscription, n, want)
			}
		}
	})
}

// TestRequiredFrontendStays: a Service whose frontend the load balancer requires is released,
// whether another controller fills the pools or a Service of IPv6 alone is left. Once another
// Service has come, the frontend and its public IP are orphans.
func TestRequiredFrontendStays(t *testing.T) {
	filled := [2]string{"{", `{"preConfiguredBackendPoolLoadBalancerTypes": "all",`}
	only := func(family corev1.IPFamily) func(*corev1.Service) {
		return func(svc *corev1.Service) { svc.Spec.IPFamilies = []corev1.IPFamily{family} }
	}
	for _, kind := range []string{model.Public, model.Internal} {
		for name, edit := range map[string][2]string{"filled by another controller": filled, "IPv6 alone": {}} {
			virtual.Run(t, kind+" "+name, func(t *testing.T) {
				r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{DualStack: true}, ARM: simarm.Options{Async: simarm.AsyncNone}})
				r.edit = edit
				r.open()
				six, four, late := numberedService(1, kind, only(corev1.IPv6Protocol)), numberedService(2, kind, only(corev1.IPv4Protocol)), numberedService(3, kind, nil)
				r.runAll(false, four)
				if name == "IPv6 alone" {
					r.runAll(false, six)
				}
				r.runAll(true, four)
				for _, res := range r.Read(true, four)[0].Have.Resources {
					if res.Proof != stack.None {
						t.Errorf("the released Service has %s", res.Key)
					}
				}
				if name == "IPv6 alone" {
					r.AtRest(six)
				}
				if left := r.Sweep(six); len(left) > 0 {
					t.Errorf("orphans that cannot be deleted: %q", left)
				}
				r.runAll(false, late)
				r.Sweep(six, late)
				lb, err := r.Session.get(t.Context(), r.Config.BalancerID(balancerName(kind)), networkVersion)
				if err != nil {
					t.Fatal(err)
				}
				if i := model.Named(lb.Props().List(model.ListFrontends), model.BaseName(string(four.UID))); i >= 0 {
					t.Error("the frontend of the released Service is left")
				}
				if kind == model.Public && r.publicIP(four) != nil {
					t.Error("the public IP of the released Service is left")
				}
			})
		}
	}
}

func balancerName(kind string) string {
	if kind == model.Internal {
		return "kubernetes-internal"
	}
	return "kubernetes"
}

package wire

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestThrottled: after a 429 no write of that kind is sent until Azure allows it,
// whatever many Services want; then all of them are done. Writes of other kinds and
// all reads go on meanwhile.
func TestThrottled(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const put, services, refill = "LoadBalancers.CreateOrUpdate", 5, 0.2 // a second: Azure says to wait five seconds
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		r.Session.limits = newLimits(r.Config, providers.Env{Share: 1, Now: time.Now})
		if err := r.sim.Cloud.Throttle.Set(sim.Bucket{Name: "writes", Service: "network", Operations: []string{put}, Capacity: 0, Refill: refill}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n := range services {
			all.Go(func() {
				if _, err := r.run(numberedService(n+1, model.Public, nil), false); err != nil {
					t.Errorf("Service %d: %v", n+1, err)
				}
			})
		}
		const deadline = time.Minute
		began := time.Now()
		for r.throttled(put) == 0 || r.writes("network.PublicIPAddresses.CreateOrUpdate") < services {
			if time.Since(began) > deadline {
				t.Fatalf("after %v: %v; want public IPs written while load balancers wait", deadline, r.sim.Cloud.Journal.Counts())
			}
			time.Sleep(time.Millisecond)
		}
		if n, most := r.throttled(put), 1+int(time.Since(began).Seconds()*refill); n > most {
			t.Errorf("%d writes of load balancers were sent, want at most %d", n, most)
		}
		if err := r.sim.Cloud.Throttle.Set(); err != nil {
			t.Fatal(err)
		}
		all.Wait()
	})
}

// TestBalancerYields: while writes wait for the rate, one of the load balancer serves the
// Services of about two seconds, and the first ones do not wait for the last ones.
func TestBalancerYields(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const services, perSecond = 40, 4
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		var buckets []kit.Bucket
		for _, name := range bucketsOf(http.MethodPut, r.Config.BalancerID("kubernetes")) {
			buckets = append(buckets, kit.Bucket{Name: name, Rate: perSecond, Burst: perSecond})
		}
		r.Session.limits = kit.NewLimits(kit.LimitOptions{Buckets: buckets[:1], Share: 1, Now: time.Now})
		var all sync.WaitGroup
		began := time.Now()
		var first, last atomic.Int64
		for n := range services {
			all.Go(func() {
				ctx := kit.WithTurn(t.Context(), kit.Turn{Urgency: kit.User, Since: began.Add(time.Duration(n))})
				svc := numberedService(n+1, model.Public, nil)
				for range 2 { // its address, and what stands on that
					found := r.Read(false, svc)[0]
					if report := r.Engine.Run(ctx, r.Draft(svc, false, found.Have, found.Facts), found.Have, nil); report.Err() != nil {
						t.Errorf("Service %d: %v", n+1, report.Err())
					}
				}
				took := int64(time.Since(began))
				first.CompareAndSwap(0, took)
				last.Store(took)
			})
		}
		all.Wait()
		if n := r.writes("network.LoadBalancers.CreateOrUpdate"); n > services/5 {
			t.Errorf("%d writes of the load balancer for %d Services, want at most %d", n, services, services/5)
		}
		if first, last := time.Duration(first.Load()), time.Duration(last.Load()); first > 8*time.Second || last > 13*time.Second {
			t.Errorf("the first Service is served after %v and the last one after %v, want at most 8s and 13s", first, last)
		}
	})
}

// throttled counts the calls of an operation that were refused by a bucket.
func (r *rig) throttled(operation string) int {
	n := 0
	for _, e := range r.sim.Cloud.Journal.Entries() {
		if e.Throttled && e.Operation == operation {
			n++
		}
	}
	return n
}

// TestOneFailsOthersGoOn: one Service cannot be done, for many reasons; four more on
// the same load balancer, made at the same time, are all there afterwards.
func TestOneFailsOthersGoOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   string
		bad    func(*corev1.Service)
		before func(*rig)
		want   fault.Meaning // of the fault; Internal: the problem is reported before any call
	}{
		{"public IP that is not there", model.Public, setValue("azure-pip-name", "nowhere"), nil, fault.Internal},
		{"address of no public IP", model.Public, setValue("azure-load-balancer-ipv4", "52.9.9.9"), nil, fault.Internal},
		{"subnet that is not there", model.Internal, setValue("azure-load-balancer-internal-subnet", "nowhere"), nil, fault.Internal},
		{"address outside of the subnet", model.Internal, setValue("azure-load-balancer-ipv4", "10.250.0.9"), nil, fault.Invalid},
		{"port of a stranger", model.Internal, setValue("azure-load-balancer-ipv4", "10.240.200.10"), (*rig).foreignPort, fault.Internal},
		{"more rules than fit", model.Internal, nil, (*rig).fullBalancer, fault.Quota},
		{"no room in the security group", model.Public, setValue("azure-allowed-ip-ranges", "10.7.0.0/16"), (*rig).fullSecurity, fault.Quota},
	} {
		virtual.Run(t, c.name, func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Addresses: 4}, ARM: simarm.Options{Async: simarm.AsyncNone}})
			if c.before != nil {
				c.before(r)
			}
			bad := numberedService(1, c.kind, c.bad)
			if c.bad == nil {
				bad.Spec.Ports = nil
				for n := range int32(20) {
					bad.Spec.Ports = append(bad.Spec.Ports, corev1.ServicePort{Protocol: corev1.ProtocolTCP, Port: 7000 + n, NodePort: 32000 + n})
				}
			}
			var all sync.WaitGroup
			var refused error
			for round := range 3 { // an address, then its rule, then nothing
				var svcs []*corev1.Service
				for n := range 4 {
					svcs = append(svcs, numberedService(2+n, c.kind, nil))
				}
				for i, svc := range append(svcs, bad) {
					found := r.Read(false, svc)[0]
					p, problems := r.tryDraft(svc, found.Have, found.Facts)
					if svc == bad && c.want == fault.Internal && !problems {
						t.Fatal("the test is wrong: there is no problem")
					}
					if problems {
						continue
					}
					all.Go(func() {
						report := r.Engine.Run(t.Context(), p, found.Have, nil)
						switch err := report.Err(); {
						case svc == bad && err != nil:
							refused = err
						case svc != bad && err != nil:
							t.Errorf("round %d, Service %d: %v", round, i, err)
						}
					})
				}
				all.Wait()
			}
			if c.want != fault.Internal && fault.Of(refused) != c.want {
				t.Errorf("the bad one: %v, want %v", refused, c.want)
			}
			for n := range 4 {
				svc := numberedService(2+n, c.kind, nil)
				if _, p := r.Plan(svc, false); !p.Empty() {
					t.Errorf("%s is not there: %v", svc.Name, p.Steps)
				}
			}
		})
	}
}

func setValue(key, text string) func(*corev1.Service) {
	return func(s *corev1.Service) { s.Annotations["service.beta.kubernetes.io/"+key] = text }
}

// tryDraft is draft for a Service that may have problems to report.
func (r *rig) tryDraft(svc *corev1.Service, have *stack.Stack, facts *model.Facts) (p plan.Plan, problems bool) {
	r.Helper()
	have.Owner = cases.OwnerOf(svc)
	_, told, err := model.Cloud().Build(r.Input(svc), facts, have)
	if err != nil {
		r.Fatal(err)
	}
	if told.Errors() {
		return p, true
	}
	return r.Draft(svc, false, have, facts), false
}

// foreignPort creates a frontend of another owner with a rule for port 80.
func (r *rig) foreignPort() {
	r.editBalancer("kubernetes-internal", func(lb model.Object, id string) {
		p := lb.Props()
		p.SetList(model.ListFrontends, []model.Object{{"name": "my-front", "properties": map[string]any{
			"subnet": model.IDObject(r.Config.SubnetID("nodes")), "privateIPAllocationMethod": "Static", "privateIPAddress": "10.240.200.10"}}})
		p.SetList(model.ListPools, []model.Object{{"name": "my-pool"}})
		p.SetList(model.ListRules, []model.Object{{"name": "my-rule", "properties": map[string]any{
			"frontendIPConfiguration": model.IDObject(id + "/" + model.ListFrontends + "/my-front"), "backendAddressPool": model.IDObject(id + "/" + model.ListPools + "/my-pool"), "protocol": "Tcp", "frontendPort": 80, "backendPort": 80}}})
	})
}

// fullBalancer leaves room for ten rules: enough for four Services with two ports.
func (r *rig) fullBalancer() {
	r.foreignPort()
	r.editBalancer("kubernetes-internal", func(lb model.Object, id string) {
		rules := lb.Props().List(model.ListRules)
		for n := len(rules); n < 1500-10; n++ {
			rules = append(rules, model.Object{"name": fmt.Sprint("my-rule-", n), "properties": map[string]any{
				"frontendIPConfiguration": model.IDObject(id + "/" + model.ListFrontends + "/my-front"), "backendAddressPool": model.IDObject(id + "/" + model.ListPools + "/my-pool"),
				"protocol": "Tcp", "frontendPort": 10000 + n, "backendPort": 10000 + n}})
		}
		lb.Props().SetList(model.ListRules, rules)
	})
}

func (r *rig) editBalancer(name string, edit func(lb model.Object, id string)) {
	r.Helper()
	id := r.Config.BalancerID(name)
	lb, err := r.Session.get(r.Context(), id, networkVersion)
	if err != nil {
		r.Fatal(err)
	}
	if lb == nil {
		lb = model.Object{"location": r.Config.Location, "sku": map[string]any{"name": "Standard"}, "properties": map[string]any{}}
	}
	edit(lb, id)
	if _, err := r.Session.put(r.Context(), id, lb, lb.Text("etag")); err != nil {
		r.Fatal(err)
	}
}

// fullSecurity leaves room for the one rule that the good ones share.
func (r *rig) fullSecurity() {
	r.Helper()
	good := numberedService(2, model.Public, nil)
	if _, err := r.run(good, false); err != nil {
		r.Fatal(err)
	}
	id := r.Config.SecurityID()
	nsg, err := r.Session.get(r.Context(), id, networkVersion)
	if err != nil {
		r.Fatal(err)
	}
	rules := nsg.Props().List(model.ListSecurity)
	for n := len(rules); n < 1000; n++ {
		rules = append(rules, model.Object{"name": fmt.Sprint("my-rule-", n), "properties": map[string]any{
			"priority": 1000 + n, "direction": "Inbound", "access": "Allow", "protocol": "Tcp", "sourcePortRange": "*", "sourceAddressPrefix": "10.0.0.0/8",
			"destinationAddressPrefix": netip.AddrFrom4([4]byte{10, 9, byte(n / 250), byte(n % 250)}).String(), "destinationPortRange": "22",
		}})
	}
	nsg.Props().SetList(model.ListSecurity, rules)
	if _, err := r.Session.put(r.Context(), id, nsg, nsg.Text("etag")); err != nil {
		r.Fatal(err)
	}
}

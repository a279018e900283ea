package wire

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// addForeign adds random content of other owners to the load balancers and the security
// group: frontends, rules, probes, pools, NAT and outbound rules.
func (r *rig) addForeign(rng *rand.Rand, balancer string) {
	r.Helper()
	ctx, id := r.Context(), r.Config.BalancerID(balancer)
	lb, err := r.Session.get(ctx, id, networkVersion)
	if err != nil {
		r.Fatal(err)
	}
	if lb == nil {
		lb = model.Object{"location": r.Config.Location, "sku": map[string]any{"name": "Standard"}, "properties": map[string]any{}}
	}
	p := lb.Props()
	add := func(list, name string, properties map[string]any) map[string]any {
		p.SetList(list, append(p.List(list), model.Object{"name": name, "properties": properties}))
		return model.IDObject(id + "/" + list + "/" + name)
	}
	pool := add(model.ListPools, "my-pool", map[string]any{})
	for n := range 1 + rng.IntN(3) {
		where := map[string]any{"subnet": model.IDObject(r.Config.SubnetID("nodes")), "privateIPAllocationMethod": "Static", "privateIPAddress": fmt.Sprintf("10.240.200.%d", 10+n)}
		if model.KindOf(balancer) == model.Public {
			where = map[string]any{"publicIPAddress": model.IDObject(r.sim.Cloud.Seed.Addresses[n].ID)}
		}
		front := add(model.ListFrontends, fmt.Sprintf("my-front-%d", n), where)
		probe := add(model.ListProbes, fmt.Sprintf("my-probe-%d", n), map[string]any{"protocol": "Tcp", "port": 22, "intervalInSeconds": 15, "numberOfProbes": 1 + rng.IntN(3)})
		if rng.IntN(2) == 0 {
			add(model.ListRules, fmt.Sprintf("my-rule-%d", n), map[string]any{"frontendIPConfiguration": front, "backendAddressPool": pool, "probe": probe, "protocol": "Tcp", "frontendPort": 22, "backendPort": 2200 + n, "disableOutboundSnat": true})
		}
		if rng.IntN(2) == 0 {
			add("inboundNatRules", fmt.Sprintf("my-nat-%d", n), map[string]any{"frontendIPConfiguration": front, "protocol": "Tcp", "frontendPort": 5000 + n, "backendPort": 22})
		}
	}
	lb["tags"] = map[string]any{"team": "strangers"}
	if _, err := r.Session.put(ctx, id, lb, lb.Text("etag")); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) addForeignRules(rng *rand.Rand) {
	r.Helper()
	id := r.Config.SecurityID()
	nsg, err := r.Session.get(r.Context(), id, networkVersion)
	if err != nil {
		r.Fatal(err)
	}
	var rules []model.Object
	for n := range 1 + rng.IntN(5) {
		p := map[string]any{
			"priority": 498 + n, "direction": "Inbound", "access": "Allow", "protocol": "Tcp", "sourcePortRange": "*",
			"sourceAddressPrefix": "10.0.0.0/8", "destinationAddressPrefix": "*", "destinationPortRange": "22", "description": "of somebody",
		}
		if n%2 == 1 {
			delete(p, "destinationAddressPrefix")
			p["destinationAddressPrefixes"] = []any{"10.9.0.1", fmt.Sprintf("10.9.1.%d", n)}
		}
		rules = append(rules, model.Object{"name": fmt.Sprintf("my-rule-%d", n), "properties": p})
	}
	rules = append(rules, model.Object{"name": "k8s-azure-lb_allow_IPv4_of-somebody", "properties": map[string]any{
		"priority": 600, "direction": "Inbound", "access": "Allow", "protocol": "Tcp", "sourcePortRange": "*", "sourceAddressPrefix": "Internet",
		"destinationAddressPrefix": "192.0.2.9", "destinationPortRanges": []any{"80-90"},
	}})
	nsg.Props().SetList(model.ListSecurity, rules)
	if _, err := r.Session.put(r.Context(), id, nsg, nsg.Text("etag")); err != nil {
		r.Fatal(err)
	}
}

// notOurs is everything in the shared objects that is not of the Services of a
// test, and the public IPs that have no owner, without etags.
func (r *rig) notOurs(balancers ...string) string {
	r.Helper()
	var out []string
	show := func(o model.Object) {
		tree := map[string]any(o.Clone())
		props.Drop(tree, "etag")
		out = append(out, string(model.Object(tree).Bytes()))
	}
	for _, name := range balancers {
		lb, err := r.Session.get(r.Context(), r.Config.BalancerID(name), networkVersion)
		if err != nil || lb == nil {
			r.Fatalf("load balancer %s: %v", name, err)
		}
		for _, list := range []string{model.ListFrontends, model.ListRules, model.ListProbes, model.ListPools} {
			lb.Props().SetList(list, slices.DeleteFunc(lb.Props().List(list), func(o model.Object) bool {
				return model.BaseOf(o.Text("name")) != "" || list == model.ListPools && model.IsClusterPool("kubernetes", o.Text("name"))
			}))
		}
		show(lb)
	}
	nsg, err := r.Session.get(r.Context(), r.Config.SecurityID(), networkVersion)
	if err != nil {
		r.Fatal(err)
	}
	nsg.Props().SetList(model.ListSecurity, slices.DeleteFunc(nsg.Props().List(model.ListSecurity), func(o model.Object) bool {
		return strings.HasPrefix(o.Text("name"), "k8s-azure-lb") && !strings.HasSuffix(o.Text("name"), "of-somebody")
	}))
	show(nsg)
	ips, _, err := r.Session.list(r.Context(), groupPath(r.Config.Subscription, r.Config.Group, "publicIPAddresses"), networkVersion, nil)
	if err != nil {
		r.Fatal(err)
	}
	for _, ip := range ips {
		if !model.PublicIPOf(ip).Managed() {
			show(ip)
		}
	}
	return strings.Join(out, "\n")
}

// serviceOptions returns options that a Service of a test may use.
func serviceOptions() []func(*corev1.Service) {
	set := func(values map[string]string) func(*corev1.Service) {
		return func(s *corev1.Service) {
			for k, v := range values {
				s.Annotations["service.beta.kubernetes.io/"+k] = v
			}
		}
	}
	return []func(*corev1.Service){
		nil, useLocalPolicy,
		set(map[string]string{"azure-allowed-ip-ranges": "10.1.0.0/16,192.0.2.0/24"}),
		set(map[string]string{"azure-allowed-service-tags": "AzureCloud", "port_80_no_probe_rule": "true"}),
		set(map[string]string{"azure-disable-load-balancer-floating-ip": "true"}),
		set(map[string]string{"azure-load-balancer-tcp-idle-timeout": "30", "azure-load-balancer-disable-tcp-reset": "true", "azure-pip-tags": "a=b"}),
		set(map[string]string{"azure-additional-public-ips": "203.0.113.7", "azure-pip-ip-tags": "FirstPartyUsage=/X"}),
		set(map[string]string{"azure-allowed-ip-ranges": "192.0.2.0/24", "azure-deny-all-except-load-balancer-source-ranges": "true"}),
		set(map[string]string{"azure-load-balancer-health-probe-protocol": "http", "port_443_health-probe_protocol": "https", "port_443_health-probe_request-path": "/ready", "port_80_no_lb_rule": "true"}),
		func(s *corev1.Service) { s.Spec.Ports[0].Protocol = corev1.ProtocolUDP },
		func(s *corev1.Service) { s.Spec.Ports = s.Spec.Ports[:1] },
		func(s *corev1.Service) { s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP },
	}
}

// TestForeignContentOverHTTP: Services come, change and go in any order; what
// is not theirs is the same after every step, byte for byte but for etags.
func TestForeignContentOverHTTP(t *testing.T) {
	for seed := range uint64(3) {
		virtual.Run(t, fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Outbound: true, Addresses: 4}, ARM: simarm.Options{Async: simarm.AsyncNone}})
			balancers := []string{"kubernetes", "kubernetes" + "-internal"}
			for _, name := range balancers {
				r.addForeign(rng, name)
			}
			r.addForeignRules(rng)
			before := r.notOurs(balancers...)
			there := map[int]*corev1.Service{}
			for step := range 24 {
				n := 1 + rng.IntN(5)
				svc, release := there[n], rng.IntN(3) == 0
				if svc == nil || !release {
					all := serviceOptions()
					svc, release = numberedService(n, []string{model.Public, model.Internal}[rng.IntN(2)], all[rng.IntN(len(all))]), false
				}
				if _, err := r.run(svc, release); err != nil {
					t.Fatalf("step %d, %s, release %t: %v", step, svc.Name, release, err)
				}
				there[n] = svc
				if release {
					delete(there, n)
				}
				if d := cmp.Diff(before, r.notOurs(balancers...)); d != "" {
					t.Fatalf("step %d, %s, release %t: content of strangers differs (-before +after):\n%s", step, svc.Name, release, d)
				}
			}
			for _, svc := range there {
				if _, err := r.run(svc, true); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(before, r.notOurs(balancers...)); d != "" {
				t.Errorf("after all have gone (-before +after):\n%s", d)
			}
		})
	}
}

// TestPoolsBeforeUsStay: the cluster's pool existed before the first Service, with the
// nodes in it, and is unchanged after the deletion of the last one.
func TestPoolsBeforeUsStay(t *testing.T) {
	for name, seed := range map[string]simazure.SeedOptions{
		"addresses": {Outbound: true}, "scale set": {Outbound: true, Pools: simazure.NodeNIC, NodesAs: simazure.VMSS},
		"machines": {Outbound: true, Pools: simazure.NodeNIC, NodesAs: simazure.VM}, "flexible": {Outbound: true, Pools: simazure.NodeNIC, NodesAs: simazure.Flex},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: seed, ARM: simarm.Options{Async: simarm.AsyncNone}})
			pools := func() string {
				lb, err := r.Session.get(t.Context(), r.Config.BalancerID("kubernetes"), networkVersion)
				if err != nil || lb == nil {
					t.Fatal(err)
				}
				out := model.Object{"pools": lb.Props()[model.ListPools]}
				props.Drop(map[string]any(out), "etag")
				return string(out.Bytes())
			}
			before := pools()
			one, two := numberedService(1, model.Public, nil), numberedService(2, model.Public, useLocalPolicy)
			for _, step := range []struct {
				svc     *corev1.Service
				release bool
			}{{one, false}, {two, false}, {one, true}, {two, true}} {
				if _, err := r.run(step.svc, step.release); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(before, pools()); d != "" {
				t.Errorf("(-before +after):\n%s", d)
			}
		})
	}
}

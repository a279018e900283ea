package ibm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simibm "github.com/berth-lb/berth/test/sim/ibm"
	"github.com/berth-lb/berth/test/sim/rest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// toOutside asks for rules by which nodes reach the load balancer at ports.
func toOutside(ports string, more ...string) map[string]string {
	return withKeys(append([]string{"vpc-allow-outbound-traffic", ports}, more...)...)
}

// openedBy lists what the rules of the nodes' security group open, in order.
func openedBy(w *world) []string {
	var out []string
	for _, r := range w.Sim.Cloud.NodeRules() {
		out = append(out, fmt.Sprintf("%s:%d", r.Address, r.Port))
	}
	slices.Sort(out)
	return out
}

// balancerOf returns the load balancer of a Service as the cloud has it.
func balancerOf(w *world, svc *corev1.Service) rest.Object {
	return w.Sim.Cloud.Live.Having("load_balancers", "hostname", svc.Status.LoadBalancer.Ingress[0].Hostname)[0]
}

// TestOutbound: each address of the load balancer and each port has a rule of the nodes' security group. They follow the
// key and the addresses, and are deleted with the Service, also by a process that did not create them.
func TestOutbound(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		opt := withNodes(3)
		opt.Busy, opt.Create = 30*time.Second, 2*time.Minute
		w := beginWorld(t, opt)
		other := account.Numbered(1, toOutside("443"))
		w.Serve(other)
		before := openedBy(w)
		svc := props.Service("web", toOutside("80,443")).Service
		w.Serve(svc)
		lb := balancerOf(w, svc)
		var want []string
		for _, ip := range lb.Objects("public_ips") {
			want = append(want, ip.Text("address")+":80", ip.Text("address")+":443")
		}
		want = append(want, before...)
		slices.Sort(want)
		if got := openedBy(w); len(before) != 3 || !slices.Equal(got, want) {
			t.Fatalf("opened %v, want %v", got, want)
		}
		svc.Annotations[prefix+"vpc-allow-outbound-traffic"] = "80"
		w.Serve(svc)
		w.Sim.Cloud.Locked(func() {
			w.Sim.Cloud.Live.Put("load_balancers", lb.With(rest.Object{"public_ips": []any{rest.Object{"address": "198.51.100.7"}}}))
		})
		w.Restart(svc)
		w.Serve(svc)
		if got, want := openedBy(w), append([]string{"198.51.100.7:80"}, before...); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("opened %v after other addresses, want %v", got, want)
		}
		delete(svc.Annotations, prefix+"vpc-allow-outbound-traffic")
		w.Restart(svc)
		w.Serve(svc)
		if got := openedBy(w); !slices.Equal(got, before) {
			t.Errorf("opened %v without the key, want %v", got, before)
		}
		w.Restart()
		w.Release(other)
		if got := openedBy(w); len(got) > 0 {
			t.Errorf("%v are left", got)
		}
	})
}

// TestOutboundOfOthers: a rule that does the same and is not the Service's suffices, and stays.
func TestOutboundOfOthers(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(3))
		svc := props.Service("web", nil).Service
		w.Serve(svc)
		w.Sim.Cloud.AddNodeRule("words-of-others", balancerOf(w, svc).Objects("public_ips")[0].Text("address"), 443)
		svc.Annotations = toOutside("443")
		w.Serve(svc)
		if got := w.Sim.Cloud.NodeRules(); len(got) != 3 || len(slices.Compact(openedBy(w))) != 3 {
			t.Errorf("rules %+v", got)
		}
		w.Release(svc)
		if got := w.Sim.Cloud.NodeRules(); len(got) != 1 || got[0].Name != "words-of-others" {
			t.Errorf("rules %+v are left", got)
		}
	})
}

// TestOutboundWithoutGroup: a cluster that IBM does not manage has no such group. The key is refused there, and no other
// Service needs the group.
func TestOutboundWithoutGroup(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, simibm.Options{Seed: simibm.SeedOptions{Nodes: 2, NoNodeGroup: true}})
		res, err := w.Once(account.Numbered(1, toOutside("443")), false)
		if err != nil || !strings.Contains(fmt.Sprint(res.Draft.Problems), "needs the security group kube-berthdemo in the VPC berthdemo-vpc") {
			t.Fatal(err, res.Draft.Problems)
		}
		svc := props.Service("web", nil).Service
		w.Serve(svc)
		w.Release(svc)
	})
}

// TestOrphanedRules: rules whose Service and load balancer do not exist any more are listed.
func TestOrphanedRules(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		lost := props.Service("web", toOutside("443")).Service
		w.Serve(lost)
		w.Sim.Cloud.Locked(func() { w.Sim.Cloud.Live.Drop("load_balancers", balancerOf(w, lost).Text("id")) })
		found, err := w.Open(t).Orphans(t.Context(), providers.Live{})
		if err != nil || len(found) != 1 || len(found[0].Resources) != 3 {
			t.Errorf("%v, %v", found, err)
		}
	})
}

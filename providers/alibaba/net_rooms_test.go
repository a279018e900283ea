package alibaba_test

import (
	"fmt"
	"slices"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/test/account"
	"github.com/berth-lb/berth/test/props"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestNetRangesWithoutRoom: ranges replace others in a security group that has no room for both.
func TestNetRangesWithoutRoom(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		opt := withSlowJobs(withNodes(2))
		opt.Limits = simalibaba.Limits{Rules: 4} // two of them drop all others
		w := onNet().Begin(t, opt)
		svc := netCase("web", nil, withRanges("198.51.100.0/24", "203.0.113.0/24")).Service
		w.Serve(svc)
		svc.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24", "203.0.113.0/24"}
		w.Serve(svc)
		for _, f := range w.Sim.Cloud.Forwards() {
			if !slices.Equal(f.Admits, svc.Spec.LoadBalancerSourceRanges) {
				t.Errorf("port %d admits %v, want %v", f.Port, f.Admits, svc.Spec.LoadBalancerSourceRanges)
			}
		}
	})
}

// TestNetLocalByAddress: nodes that are servers by their addresses have one weight, whatever their pods.
func TestNetLocalByAddress(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := onNet().Begin(t, withNodes(3))
		svc := netCase("web", withKeys("server-group-type", "ip"), props.Local).Service
		w.Slices = []*discoveryv1.EndpointSlice{account.PodSlice(svc, w.Machines[:1], "192.168.64.1", "192.168.64.2"), account.PodSlice(svc, w.Machines[1:2], "192.168.64.3")}
		w.Serve(svc)
		var weights []string
		for _, g := range w.Objects("server_groups") {
			for _, s := range g.Objects("servers") {
				weights = append(weights, fmt.Sprint(s["Weight"]))
			}
		}
		if want := []string{"1", "1", "1", "1"}; !slices.Equal(weights, want) {
			t.Errorf("weights %v, want %v of two nodes in two groups", weights, want)
		}
	})
}

// TestAddressTypeStays: without its annotation a live load balancer stays internal, which is reported, and follows
// the nodes.
func TestAddressTypeStays(t *testing.T) {
	for _, cloud := range []account.Cloud[simalibaba.Options, simulated]{onAlibaba(), onNet()} {
		virtual.Test(t, func(t *testing.T) {
			w := cloud.Begin(t, withNodes(3))
			svc := props.Service("web", withKeys("address-type", "intranet")).Service
			if cloud.Complete != nil {
				cloud.Complete(svc)
			}
			w.Serve(svc)
			svc.Annotations = withKeys("scheduler", "wrr")
			w.Restart(svc)
			w.Process.SetNodes(w.Machines[1:])
			res := w.Serve(svc)
			if text := res.Draft.Problems.Strings(); res.Draft.Problems.Errors() || len(text) != 1 {
				t.Errorf("problems %v, want a warning", text)
			}
			for _, f := range w.Sim.Forwards() {
				if f.Public || len(f.To) != 2 {
					t.Errorf("%v", f)
				}
			}
		})
	}
}

// TestRangesOfBothFamilies: with ranges, a load balancer of both families drops other clients with IPv6 addresses as well. The
// official controller compares the rules with its own description alone, and finds no other one.
func TestRangesOfBothFamilies(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		w := beginWorld(t, withNodes(2))
		svc := netCase("web", withKeys("ip-version", "DualStack"), withRanges("198.51.100.0/24")).Service
		for _, text := range []string{"198.51.100.0/24", "203.0.113.0/24"} {
			svc.Spec.LoadBalancerSourceRanges = []string{text}
			w.Serve(svc)
			var theirs, ours []string
			w.Sim.Cloud.Locked(func() {
				for _, g := range w.Sim.Cloud.Live.All("security_groups", nil) {
					for _, r := range g.Objects("rules") {
						line := r.Text("Policy") + " " + r.Text("SourceCidrIp") + r.Text("Ipv6SourceCidrIp")
						if r.Text("Description") == g.Text("Description") {
							theirs = append(theirs, line)
						} else {
							ours = append(ours, line)
						}
					}
				}
			})
			if !slices.Equal(theirs, []string{"Drop 0.0.0.0/0", "Accept " + text}) || !slices.Equal(ours, []string{"Drop ::/0"}) {
				t.Errorf("rules %q, and besides %q", theirs, ours)
			}
		}
	})
}

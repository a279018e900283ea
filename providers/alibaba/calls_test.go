package alibaba_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/test/account"
	simalibaba "github.com/berth-lb/berth/test/sim/alibaba"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestCalls measures the calls of Services. A node is one write for each server group.
func TestCalls(t *testing.T) {
	opt := withNodes(4)
	opt.Limits = simalibaba.Limits{LoadBalancers: 200}
	goals := account.Goals{"create": {7.5, 7}, "touch": {0, 0}, "port": {3.2, 3}, "delnode": {3.1, 3}, "addnode": {3.1, 3}, "delete": {2.3, 2}}
	onAlibaba().Calls(t, opt, goals, nil)
}

// TestRates: where the cloud answers fifteen calls of an action in a second, a hundred Services take hardly longer than
// the most frequent action needs, and few calls are refused.
func TestRates(t *testing.T) {
	for kind, cloud := range map[string]account.Cloud[simalibaba.Options, simulated]{model.CLB: onAlibaba(), model.NLB: onNet()} {
		virtual.Run(t, kind, func(t *testing.T) {
			opt := withNodes(3)
			opt.Limits = simalibaba.Limits{LoadBalancers: 200}
			w := cloud.Begin(t, opt)
			if err := w.Sim.Cloud.Limit(); err != nil {
				t.Fatal(err)
			}
			life := account.Life{Control: w.Control(), Process: w.Process, Nodes: w.Machines, Work: func(svc *corev1.Service, release bool) {
				if release {
					w.Release(svc)
				} else {
					w.Serve(svc)
				}
			}}
			for i := range 100 {
				svc := account.Numbered(i, nil)
				if kind == model.NLB {
					asNet(svc)
				}
				life.Services = append(life.Services, svc)
			}
			life.Run(func(p account.Phase) {
				calls, refused, most := 0, 0, map[string]int{}
				for _, e := range w.Control().Journal.Entries() {
					if calls++; e.Throttled {
						refused++
					} else {
						most[e.Service+"."+e.Operation]++
					}
				}
				ideal := 0.0
				for _, n := range most {
					ideal = max(ideal, float64(n-15)/15)
				}
				t.Logf("%s: %s of virtual time, ideal %.1f s, %d of %d calls refused", p.Name, p.Took, ideal, refused, calls)
				if p.Took.Seconds() > 1.3*ideal+1 || refused*50 > calls {
					t.Errorf("%s takes %s where %.1f s are possible, and %d of %d calls are refused", p.Name, p.Took, ideal, refused, calls)
				}
			})
		})
	}
}

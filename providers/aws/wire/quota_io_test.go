package wire

import (
	"testing"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// TestQuotaIsAsked: with many nodes, the quota of targets is read from AWS, so that none
// is refused. Where the read is denied, no Service fails for that, and it is not
// repeated at once.
func TestQuotaIsAsked(t *testing.T) {
	for _, denied := range []bool{false, true} {
		r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 520}})
		if denied {
			r.fault(sim.Fault{Operation: "DescribeAccountLimits", Kind: sim.FaultError, Code: "AccessDenied"})
		}
		want := model.TargetQuota{Group: 1000, Zone: 500, Balancer: 3000, Classic: 1000}
		calls := map[string]int{"elbv2.DescribeAccountLimits": 1, "elb.DescribeAccountLimits": 1}
		if denied {
			want = model.TargetQuota{}
			calls["elb.DescribeAccountLimits"] = 0
		}
		for range 3 {
			found := r.session.Read(t.Context(), []providers.Scope{r.scope(ownerOf(1))})[0]
			if found.Err != nil || found.Facts.Quota != want {
				t.Errorf("denied %v: quotas %+v, want %+v: %v", denied, found.Facts.Quota, want, found.Err)
			}
		}
		for call, n := range calls {
			if got := r.calls()[call]; got != n {
				t.Errorf("denied %v: %d calls of %s, want %d", denied, got, call, n)
			}
		}
	}
	r := newRig(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 20}})
	r.session.Read(t.Context(), []providers.Scope{r.scope(ownerOf(1))})
	if got := r.calls()["elbv2.DescribeAccountLimits"]; got != 0 {
		t.Errorf("%d calls in a small cluster", got)
	}
}

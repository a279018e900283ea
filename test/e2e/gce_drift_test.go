package e2e

import (
	"strings"

	"cloud.google.com/go/compute/apiv1/computepb"
)

// spoilGCE takes away by hand what load balancers consist of, with the addresses that
// nothing has reserved.
func spoilGCE(w *world) {
	ctx := w.t.Context()
	nodes, err := w.SeedNodes()
	w.must(err)
	c, err := dialGCE(ctx, w.Sim.URL, gceProject)
	w.must(err)

	rules, err := readAll(c.rules.List(ctx, &computepb.ListForwardingRulesRequest{Project: gceProject, Region: gceRegion}).Next)
	w.must(err)
	for _, r := range rules {
		op, err := c.rules.Delete(ctx, &computepb.DeleteForwardingRuleRequest{Project: gceProject, Region: gceRegion, ForwardingRule: r.GetName()})
		w.must(err)
		w.must(op.Wait(ctx))
		if r.GetTarget() != "" {
			machine := instanceURL(nodes[0].Spec.ProviderID)
			op, err := c.pools.RemoveInstance(ctx, &computepb.RemoveInstanceTargetPoolRequest{
				Project: gceProject, Region: gceRegion, TargetPool: lastPart(r.GetTarget()),
				TargetPoolsRemoveInstanceRequestResource: &computepb.TargetPoolsRemoveInstanceRequest{
					Instances: []*computepb.InstanceReference{{Instance: &machine}},
				},
			})
			w.must(err)
			w.must(op.Wait(ctx))
		}
	}
	firewalls, err := readAll(c.firewalls.List(ctx, &computepb.ListFirewallsRequest{Project: gceProject}).Next)
	w.must(err)
	for _, f := range firewalls {
		if serviceOf(f.GetDescription()) == "" {
			continue
		}
		op, err := c.firewalls.Delete(ctx, &computepb.DeleteFirewallRequest{Project: gceProject, Firewall: f.GetName()})
		w.must(err)
		w.must(op.Wait(ctx))
	}
}

// instanceURL is an instance as the API writes it, from gce://project/zone/name.
func instanceURL(providerID string) string {
	parts := strings.Split(providerID, "/")
	zone, name := parts[len(parts)-2], parts[len(parts)-1]
	return "https://www.googleapis.com/compute/v1/projects/" + gceProject + "/zones/" + zone + "/instances/" + name
}

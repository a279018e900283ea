package e2e

import (
	"strings"
	"testing"

	"cloud.google.com/go/compute/apiv1/computepb"
)

// gceDrift takes away by hand what load balancers consist of: everything comes
// back as it was, with the same addresses where nothing has released them.
func (p *place) gceDrift(t *testing.T) {
	w := p.start(t, 3)
	ctx := t.Context()
	before := w.dump()
	nodes, err := w.SeedNodes()
	w.must(err)
	w.controller("--drift-interval=3s")
	fleet := w.many(len(p.kinds))
	w.must(w.Create(ctx, fleet...))
	w.programmed(fleet...)
	first := w.byName(fleet)
	c, err := dialGCE(ctx, w.Sim.URL, gceProject)
	w.must(err)

	rules, err := all(c.rules.List(ctx, &computepb.ListForwardingRulesRequest{Project: gceProject, Region: gceRegion}).Next)
	w.must(err)
	for _, r := range rules {
		op, err := c.rules.Delete(ctx, &computepb.DeleteForwardingRuleRequest{Project: gceProject, Region: gceRegion, ForwardingRule: r.GetName()})
		w.must(err)
		w.must(op.Wait(ctx))
		if r.GetTarget() != "" {
			machine := instanceURL(nodes[0].Spec.ProviderID)
			op, err := c.pools.RemoveInstance(ctx, &computepb.RemoveInstanceTargetPoolRequest{
				Project: gceProject, Region: gceRegion, TargetPool: last(r.GetTarget()),
				TargetPoolsRemoveInstanceRequestResource: &computepb.TargetPoolsRemoveInstanceRequest{
					Instances: []*computepb.InstanceReference{{Instance: &machine}},
				},
			})
			w.must(err)
			w.must(op.Wait(ctx))
		}
	}
	firewalls, err := all(c.firewalls.List(ctx, &computepb.ListFirewallsRequest{Project: gceProject}).Next)
	w.must(err)
	for _, f := range firewalls {
		if described(f.GetDescription()) == "" {
			continue
		}
		op, err := c.firewalls.Delete(ctx, &computepb.DeleteFirewallRequest{Project: gceProject, Firewall: f.GetName()})
		w.must(err)
		w.must(op.Wait(ctx))
	}

	w.eventually("everything is back", func() error {
		for _, k := range p.kinds {
			f, err := w.front(k.name)
			if err != nil {
				return err
			}
			f.Address = first[k.name].Address // a released address may have gone to somebody else
			if err := differ(k.name, first[k.name], f); err != nil {
				return err
			}
		}
		return nil
	})
	w.settled(w.meter())
	for _, k := range p.kinds {
		w.addressed(k.name, k.name)
	}
	w.remove(fleet...)
	w.nothingLeft(before)
}

// instanceURL is an instance as the API writes it, from gce://project/zone/name.
func instanceURL(providerID string) string {
	parts := strings.Split(providerID, "/")
	zone, name := parts[len(parts)-2], parts[len(parts)-1]
	return "https://www.googleapis.com/compute/v1/projects/" + gceProject + "/zones/" + zone + "/instances/" + name
}

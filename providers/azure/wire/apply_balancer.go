package wire

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// writeBalancer writes the entries of all steps with one PUT, and then the pools
// that have other members than before.
func (c *change) writeBalancer() {
	name := balancerOf(c.batch)
	var edit model.LBEdit
	var now model.Object
	var pools map[string]poolWrite
	err := c.learnFrontends()
	if err == nil {
		err = kit.Merge(mergeTries, func() error {
			found, err := c.current(c.ctx, c.config.BalancerID(name), networkVersion)
			if err != nil {
				return err
			}
			edit = model.MergeBalancer(model.LBMerge{Config: c.config, Cluster: c.cluster, Name: name, Version: c.facts.version}, found, c.batch)
			now, err = c.putBalancer(name, found, edit)
			return err
		})
	}
	if err == nil {
		pools = c.writePools(name, now)
	}
	c.setAll(edit.Refused, err, func(step plan.Step) plan.Outcome { return c.balancerOutcome(step, now, pools) })
}

// balancerOf returns the name of the load balancer that a batch is about.
func balancerOf(b plan.Batch) string {
	for _, step := range b.Steps {
		switch spec := step.Target.Spec.(type) {
		case model.Entries:
			return spec.Balancer
		case model.Pool:
			return spec.Balancer
		}
	}
	return ""
}

// learnFrontends reads the public IPs of frontends that are not known: their
// version decides whether they can be written, and their address is what the
// Service gets.
func (c *change) learnFrontends() error {
	var unknown []stack.Key
	for _, step := range c.batch.Steps {
		e, _ := step.Target.Spec.(model.Entries)
		for _, f := range e.Frontends {
			if ip, ok := c.facts.ips.Get(f.PublicIP.To, 0); !f.PublicIP.IsZero() && (!ok || ip.address == "") {
				unknown = append(unknown, f.PublicIP.To)
			}
		}
	}
	return c.learnIPs(c.ctx, unknown)
}

// putBalancer does what the merge says and returns the load balancer as it is
// then; nil if there is none.
func (c *change) putBalancer(name string, found model.Object, edit model.LBEdit) (model.Object, error) {
	id := c.config.BalancerID(name)
	switch {
	case edit.Delete:
		return nil, c.removeBalancer(found)
	case edit.Object == nil || len(edit.Refused) == len(c.batch.Steps):
		return found, nil
	case !edit.Changed && model.StateOf(found) != stack.Failed:
		return found, nil
	}
	return c.put(c.ctx, id, edit.Object, found.Text("etag"))
}

// migratePool turns a pool of interfaces into one of addresses, which Azure does
// on request. What is then in it, the next look at it shows.
func (c *change) migratePool(balancer, pool string) error {
	const key = "enableMigrateToIPBasedBackendPoolAPI"
	if !c.config.Migrate {
		return fault.New(fault.Invalid, "%s: network interfaces are in pool %s of load balancer %s, which can have no addresses until they have left it; true lets Azure change that", key, pool, balancer)
	}
	path := c.config.BalancerID(balancer)
	body := model.Object{}
	body.SetTexts("pools", []string{pool})
	a, err := c.send(c.ctx, request{method: http.MethodPost, path: path + "/migrateToIpBased", version: networkVersion, body: body})
	if err == nil {
		err = c.await(c.ctx, http.MethodPost, a, path, networkVersion)
	}
	c.memory.note(path+"/migrateToIpBased", nil, err, c.now())
	if err != nil {
		return err
	}
	return &fault.Fault{Meaning: fault.Pending, After: busyDelay, Text: "load balancer " + balancer + ": pool " + pool + " has become one of addresses"}
}

// balancerOutcome is the outcome of a step on the load balancer as it is now.
func (c *change) balancerOutcome(step plan.Step, lb model.Object, pools map[string]poolWrite) plan.Outcome {
	if step.ID.Action == plan.Delete {
		return kit.Deleted(nil)
	}
	switch spec := step.Target.Spec.(type) {
	case model.Entries:
		now, ok := model.EntriesOf(c.config, lb, model.BaseName(step.ID.Owner.UID), c.facts.address)
		if !ok {
			return plan.Failed(fault.New(fault.Conflict, "load balancer %s: the entries are not found", spec.Balancer))
		}
		return doneOutcome(step, lb.Text("id"), stack.Name, now)
	case model.Pool:
		return pools[strings.ToLower(spec.Name)].outcome(step, lb.Text("id")+"/"+model.ListPools+"/"+spec.Name, spec)
	}
	return plan.Failed(fault.New(fault.Internal, "%s: its content is a %T", step.ID, step.Target.Spec))
}

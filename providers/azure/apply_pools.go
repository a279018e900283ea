package azure

import (
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// poolWrite is what became of one pool of addresses: what could not be done, or which
// members Azure does not take.
type poolWrite struct {
	refused []plan.Refusal
	err     error
}

// outcome is that of a step on the members of the pool.
func (w poolWrite) outcome(step plan.Step, id string, spec Pool) plan.Outcome {
	if w.err != nil {
		return kit.Failed(w.err)
	}
	out := after(step, id, stack.Derived, spec)
	for _, r := range w.refused {
		if a, ok := r.Member.(PoolAddress); ok && slices.Contains(spec.Addresses, a) {
			out.Refused = append(out.Refused, r)
		}
	}
	return out
}

// writePools writes every pool of the batch that has other members than it
// should have, and returns what became of them by name.
func (c *change) writePools(name string, lb Object) map[string]poolWrite {
	out := map[string]poolWrite{}
	for _, step := range c.batch.Steps {
		spec, ok := step.Target.Spec.(Pool)
		if !ok || step.ID.Action == plan.Delete {
			continue
		}
		if _, done := out[strings.ToLower(spec.Name)]; !done {
			out[strings.ToLower(spec.Name)] = c.writePool(name, lb, spec)
		}
	}
	return out
}

func (c *change) writePool(name string, lb Object, spec Pool) poolWrite {
	pool, changed := mergePool(lb, spec.Name, c.batch)
	switch {
	case pool == nil:
		return poolWrite{err: fault.New(fault.Conflict, "load balancer %s: pool %s is gone", name, spec.Name)}
	case !changed:
		return poolWrite{}
	case poolIsNIC(lb, spec.Name):
		return poolWrite{err: c.migratePool(name, spec.Name)}
	}
	return c.writeAddresses(c.config.balancerID(name)+"/"+listPools+"/"+pool.text("name"), lb, spec.Name)
}

// writeAddresses writes the members of a pool with one call. An address that Azure
// does not take, such as one outside the virtual network, makes it refuse all: then
// it is looked for, and the next time it is tried after the others.
func (c *change) writeAddresses(id string, lb Object, name string) poolWrite {
	add, remove, network := poolEdits(name, c.batch)
	var in []PoolAddress // so far
	written := false
	put := func(part []PoolAddress) error {
		pool, changed := mergeMembers(lb, name, slices.Concat(in, part), remove, network)
		if !changed {
			return nil
		}
		_, err := c.put(c.ctx, id, pool, "")
		if err == nil {
			in, written = append(in, part...), true
		}
		return err
	}
	whole := func(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Quota) }
	refused, err := kit.SplitAmong(&c.facts.suspects, strings.ToLower(id), distinct(add), memberText, whole, put)
	if err == nil && !written {
		err = put(nil) // what leaves
	}
	return poolWrite{refused, err}
}

// distinct are the members of which several steps may name the same.
func distinct(all []PoolAddress) []PoolAddress {
	all = slices.Clone(all)
	slices.SortFunc(all, PoolAddress.compare)
	return slices.Compact(all)
}

func memberText(a PoolAddress) string { return a.Name + " " + a.IP }

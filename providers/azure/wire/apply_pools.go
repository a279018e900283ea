package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/azure/model"
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
func (w poolWrite) outcome(step plan.Step, id string, spec model.Pool) plan.Outcome {
	if w.err != nil {
		return kit.Failed(w.err)
	}
	out := doneOutcome(step, id, stack.Derived, spec)
	for _, r := range w.refused {
		if a, ok := r.Member.(model.PoolAddress); ok && slices.Contains(spec.Addresses, a) {
			out.Refused = append(out.Refused, r)
		}
	}
	return out
}

// writePools writes every pool of the batch that has other members than it
// should have, and returns what became of them by name.
func (c *change) writePools(name string, lb model.Object) map[string]poolWrite {
	out := map[string]poolWrite{}
	for _, step := range c.batch.Steps {
		spec, ok := step.Target.Spec.(model.Pool)
		if !ok || step.ID.Action == plan.Delete {
			continue
		}
		if _, done := out[strings.ToLower(spec.Name)]; !done {
			out[strings.ToLower(spec.Name)] = c.writePool(name, lb, spec)
		}
	}
	return out
}

func (c *change) writePool(name string, lb model.Object, spec model.Pool) poolWrite {
	pool, changed := model.MergePool(lb, spec.Name, c.batch)
	switch {
	case pool == nil:
		return poolWrite{err: fault.New(fault.Conflict, "load balancer %s: pool %s is not found", name, spec.Name)}
	case !changed:
		return poolWrite{}
	case model.PoolIsNIC(lb, spec.Name):
		return poolWrite{err: c.migratePool(name, spec.Name)}
	}
	return c.writeAddresses(c.config.BalancerID(name)+"/"+model.ListPools+"/"+pool.Text("name"), lb, spec.Name)
}

// writeAddresses writes the members of a pool with one call. An address that Azure
// does not take, such as one outside the virtual network, makes it refuse all: then
// it is looked for, and the next time it is tried after the others.
func (c *change) writeAddresses(id string, lb model.Object, name string) poolWrite {
	add, remove, network := model.PoolEdits(name, c.batch)
	var in []model.PoolAddress // so far
	written := false
	put := func(part []model.PoolAddress) error {
		pool, changed := model.MergeMembers(lb, name, slices.Concat(in, part), remove, network)
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
	refused, err := kit.SplitAmong(&c.facts.suspects, strings.ToLower(id), distinctMembers(add), memberText, whole, put)
	if err == nil && !written {
		err = put(nil) // what leaves
	}
	if before, _ := model.PoolSpecOf(c.config, lb, name); err == nil && len(before.Addresses)+len(in) == 0 {
		err = noneJoined(name, refused)
	}
	return poolWrite{refused, err}
}

// noneJoined returns the fault of a pool that Azure refused every member of. Nothing answers
// behind it, so whatever is behind another load balancer must stay there.
func noneJoined(pool string, refused []plan.Refusal) error {
	if len(refused) == 0 {
		return nil
	}
	return fmt.Errorf("pool %s has no member, because Azure refused all %d: %v: %w", pool, len(refused), refused[0].Member, refused[0].Err)
}

// distinctMembers removes duplicates: several steps may name the same member.
func distinctMembers(all []model.PoolAddress) []model.PoolAddress {
	all = slices.Clone(all)
	slices.SortFunc(all, model.PoolAddress.Compare)
	return slices.Compact(all)
}

func memberText(a model.PoolAddress) string { return a.Name + " " + a.IP }

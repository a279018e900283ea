package wire

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// membership is what is to become of one interface or machine: pools by id, true
// to join and false to leave.
type membership map[string]bool

// merge applies the memberships to an IP configuration; changed reports whether any was
// missing.
func (m membership) merge(configurations func(pool string) model.Object) (changed bool) {
	for pool, join := range m {
		c := configurations(model.LastSegment(pool))
		if c == nil || inPool(c, pool) == join {
			continue
		}
		p := c.Make("properties")
		list := p.List(memberOf)
		if join {
			list = append(list, model.IDObject(pool))
		} else {
			list = slices.DeleteFunc(list, func(o model.Object) bool { return model.SameID(o.Text("id"), pool) })
		}
		p.SetList(memberOf, list)
		changed = true
	}
	return changed
}

// pool is the id of the pool of a step on members, from its key.
func (c *change) pool(step plan.Step) string {
	parts := strings.SplitN(step.ID.Key.Name, "/", 3)
	lb, pool := parts[0], parts[1]
	for _, name := range c.config.Balancers(c.cluster) {
		if strings.EqualFold(name, lb) {
			lb = name
		}
	}
	if strings.EqualFold(pool, c.cluster) {
		pool = c.cluster
	} else if strings.EqualFold(pool, c.cluster+model.SuffixIPv6) {
		pool = c.cluster + model.SuffixIPv6
	}
	return c.config.BalancerID(lb) + "/" + model.ListPools + "/" + pool
}

// keeps reports whether the members of a pool are retained when a Service is deleted:
// others want them, or rules of others send to the pool.
func (c *change) keeps(step plan.Step) (bool, error) {
	if c.batch.Claims != nil && len(c.batch.Claims.Others(step.ID.Owner, step.Target)) > 0 {
		return true, nil
	}
	id := c.pool(step)
	balancer, _, _ := strings.Cut(id, "/"+model.ListPools+"/")
	lb, err := c.balancerNow(balancer)
	if err != nil {
		return false, err
	}
	if lb != nil && model.IsClusterPool(c.cluster, model.LastSegment(id)) && model.HasForeign(lb) {
		return true, nil // see PoolProof
	}
	return lb != nil && model.PoolInUse(lb, model.LastSegment(id), model.BaseName(step.ID.Owner.UID)), nil
}

// balancerNow is a load balancer, read once for all steps of the batch.
func (c *change) balancerNow(id string) (model.Object, error) {
	if lb, read := c.balancers[id]; read {
		return lb, nil
	}
	lb, err := c.get(c.ctx, id, networkVersion)
	if err != nil {
		return nil, err
	}
	if c.balancers == nil {
		c.balancers = map[string]model.Object{}
	}
	c.balancers[id] = lb
	return lb, nil
}

// memberships are what is to become of the members that a batch writes, by the ARM id of
// the interface or machine.
type memberships map[string]membership

// add records that a member joins or leaves a pool; a join takes precedence.
func (w memberships) add(id, pool string, join bool) {
	if w[id] == nil {
		w[id] = membership{}
	}
	w[id][pool] = join || w[id][pool]
}

// writeInterfaces writes every interface of the batch once, many at a time.
func (c *change) writeInterfaces() {
	all, refused := memberships{}, map[int]error{}
	members := make([][]model.NIC, len(c.batch.Steps))
	for i, step := range c.batch.Steps {
		spec, _ := step.Target.Spec.(model.NICs)
		add, remove := plan.Members[model.NIC](step)
		switch step.ID.Action {
		case plan.Create:
			add, remove = spec.Members, nil
		case plan.Delete:
			add, remove = nil, spec.Members
			var kept bool
			if kept, refused[i] = c.keeps(step); kept || refused[i] != nil {
				remove = nil
			}
		default: // an update says what joins and what leaves
		}
		members[i] = append(slices.Clone(add), remove...)
		for join, list := range map[bool][]model.NIC{false: remove, true: add} {
			for _, n := range list {
				all.add(n.ID, c.pool(step), join)
			}
		}
	}
	errs := (&crowd{change: c, wishes: all, version: networkVersion, body: interfaceBody, configuration: interfaceConfiguration}).write()
	for i, step := range c.batch.Steps {
		if refused[i] != nil {
			c.set(i, kit.Failed(refused[i]))
			continue
		}
		c.set(i, membersOutcome(step, members[i], func(n model.NIC) error { return errs[n.ID] }))
	}
	c.facts.forgetFleet()
}

// interfaceBody is an interface with the wish fulfilled; nil if it is already.
func interfaceBody(found model.Object, wish membership) model.Object {
	body := found.Clone()
	if !wish.merge(func(pool string) model.Object { return familyConfiguration(body, pool) }) {
		return nil
	}
	return body
}

// interfaceConfiguration is the ip configuration of an interface that is for a pool, and
// its id.
func interfaceConfiguration(id string, nic model.Object, pool string) (model.Object, string) {
	c := familyConfiguration(nic, pool)
	return c, id + "/ipConfigurations/" + c.Text("name")
}

// membersOutcome leaves out single members that Azure would not take.
func membersOutcome[T any](step plan.Step, members []T, failure func(T) error) plan.Outcome {
	out := kit.Deleted(nil)
	if step.ID.Action != plan.Delete {
		out = doneOutcome(step, "", stack.Derived, step.Target.Spec)
	}
	for _, m := range members {
		switch err := failure(m); {
		case err == nil:
		case step.ID.Action != plan.Delete && fault.OfMember(err):
			out.Refused = append(out.Refused, plan.Refusal{Member: m, Err: err})
		default:
			return kit.Failed(err)
		}
	}
	if len(members) > 0 && len(out.Refused) == len(members) && fillsEmpty(step) {
		return kit.Failed(noneJoined(step.ID.Key.Name, out.Refused))
	}
	return out
}

// fillsEmpty reports whether a pool was empty before the step.
func fillsEmpty(step plan.Step) bool {
	return !slices.ContainsFunc(step.Changes, func(c plan.Change) bool {
		had := reflect.ValueOf(c.From)
		return had.Kind() == reflect.Slice && had.Len() > 0
	})
}

// listFrom is the number of members of one kind and place from which on they are
// read with one list, and not one by one.
const listFrom = 3

// crowd is the members that a batch writes, of one kind.
type crowd struct {
	*change
	wishes  memberships
	seen    map[string]model.Object // as lists show them, by ARM id in lower case
	version string                  // of the API
	// body is a member with its wish fulfilled; nil if there is nothing to write.
	body func(model.Object, membership) model.Object
	// configuration is the ip configuration of a member, as it is written, that is for a
	// pool, and its id.
	configuration func(id string, written model.Object, pool string) (model.Object, string)
}

// write writes each member once, all at a time since writes take long and the limits
// keep the calls apart, and returns the faults by its id.
func (c *crowd) write() map[string]error {
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(c.wishes)), func(id string) bool { return c.memory.leftAs(id, c.wishes[id]) })
	c.glance(ids)
	var mu sync.Mutex
	errs := map[string]error{}
	kit.ForAll(ids, func(id string) {
		seen := c.seen[strings.ToLower(id)]
		err := kit.Merge(mergeTries, func() error {
			err := c.writeMember(id, seen)
			seen = nil
			return err
		})
		if err == nil || fault.Is(err, fault.NotFound) && !c.wishes[id].joins() {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		errs[id] = err
	})
	return errs
}

// joins reports whether the member is to join any pool.
func (m membership) joins() bool {
	return slices.Contains(slices.Collect(maps.Values(m)), true)
}

// glance reads members with one list call where many of them share a parent. A member that
// is in no list, or in an unreadable one, is read alone.
func (c *crowd) glance(ids []string) {
	places := map[string]int{}
	for _, id := range ids {
		if c.seen[strings.ToLower(id)] == nil {
			places[id[:strings.LastIndex(id, "/")]]++
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if places[place] < listFrom {
			continue
		}
		// If it fails, the calls for the single members tell what is wrong.
		list, _, _ := c.list(c.ctx, place, c.version, nil)
		c.show(list)
	}
}

// show takes over what a list shows.
func (c *crowd) show(list []model.Object) {
	if c.seen == nil {
		c.seen = map[string]model.Object{}
	}
	for _, o := range list {
		c.seen[strings.ToLower(o.Text("id"))] = o
	}
}

// writeMember writes one interface or machine. What was seen in a list decides
// whether there is something to write, and is good enough to be written to if it
// says of which version it is.
func (c *crowd) writeMember(id string, seen model.Object) error {
	wish := c.wishes[id]
	if seen != nil && c.body(seen, wish) == nil {
		return nil
	}
	if seen.Text("etag") == "" || model.StateOf(seen) == stack.Pending {
		var err error
		if seen, err = c.current(c.ctx, id, c.version); err != nil {
			return err
		}
	}
	if seen == nil {
		return fault.New(fault.NotFound, "%s: not found", model.LastSegment(id))
	}
	wanted := c.body(seen, wish)
	if wanted == nil {
		return nil
	}
	_, err := c.accept(c.ctx, id, c.version, wanted, seen.Text("etag"))
	c.moved(id, movesOf(id, wish, wanted, c.configuration), err)
	return err
}

package diff

import (
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// canRestore reports whether a found resource can be created again as it was: by one call,
// and from what was found of it.
func (c *comparison) canRestore(found stack.Resource) bool {
	return c.rules.Kinds[found.Key.Kind].Restore && found.State != stack.Failed && len(c.places.parts[found.Key]) == 0
}

// pairForRestore makes a replacement of an entry point that is deleted for one of another
// kind, such as a forwarding rule of another scheme under the same name.
func (c *comparison) pairForRestore() {
	for i := range c.steps {
		s := &c.steps[i]
		if s.ID.Action != plan.Create || !s.Pair.IsZero() || !c.replacesOthers(s.ID.Key.Kind) {
			continue
		}
		var old []*plan.Step
		for _, id := range s.Needs {
			if t := c.find(id); t != nil && id.Action == plan.Delete && t.Pair.IsZero() && c.replacesOthers(id.Key.Kind) {
				old = append(old, t)
			}
		}
		if len(old) == 1 && c.canRestore(old[0].Target) {
			s.Pair = plan.Pair{Create: s.ID, Delete: old[0].ID, Order: plan.DeleteFirst, Restore: true}
			old[0].Pair = s.Pair
			c.leaves = append(c.leaves, departure{step: old[0].ID, place: i})
		}
	}
}

// replacesOthers reports whether entry points of a kind may have the name of another kind's.
func (c *comparison) replacesOthers(kind stack.Kind) bool {
	rule := c.rules.Kinds[kind]
	return rule.Restore && rule.Role.Is(EntryPoint)
}

// keepForRestore puts behind a new resource that may be refused everything that only the
// old one needs: the deletion of what the old one refers to, and the narrowing of what
// admits traffic. So the old one can serve again when it is restored. What completes the new
// resource may be refused as well, and undoes the replacement then.
func (c *comparison) keepForRestore() {
	for i := range c.steps {
		s := c.steps[i]
		if !s.Pair.Restore || s.ID != s.Pair.Create {
			continue
		}
		graph := plan.NewGraph(c.steps)
		before, used := graph.Before([]int{i}), c.usedBy(c.have.byKey[s.Pair.Delete.Key])
		completing := c.completing(graph, i)
		complete := graph.Before(completing)
		for _, j := range completing {
			c.steps[j].Undoes = append(c.steps[j].Undoes, s.Pair)
		}
		for j := range c.steps {
			t := &c.steps[j]
			if !c.takesFromOld(*t, used) || j == i || before[j] || t.ID == s.Pair.Delete {
				continue
			}
			t.Needs = append(t.Needs, s.ID)
			for _, k := range completing {
				if k != j && !complete[j] {
					t.Needs = append(t.Needs, c.steps[k].ID)
				}
			}
		}
	}
}

// takesFromOld reports whether a step takes away what an old resource needs: something that it
// uses, or traffic that is admitted for it.
func (c *comparison) takesFromOld(s plan.Step, used map[stack.Key]bool) bool {
	rule := c.rules.Kinds[s.ID.Key.Kind]
	return s.ID.Action == plan.Delete && used[s.ID.Key] || rule.Role.Is(Admits) && rule.has(Narrows, s)
}

// completing returns the steps by which a resource that another step creates is complete, as far
// as they wait for that step.
func (c *comparison) completing(graph *plan.Graph, create int) []int {
	var out []int
	for i, s := range c.steps {
		rule := c.rules.Kinds[s.ID.Key.Kind]
		if rule.Role.Is(Completes) && isWrite(s) && rule.has(Widens, s) && graph.Before([]int{i})[create] {
			out = append(out, i)
		}
	}
	return out
}

// usedBy returns the keys of the found resources that one refers to, directly or through
// others.
func (c *comparison) usedBy(found stack.Resource) map[stack.Key]bool {
	out := map[stack.Key]bool{}
	byID := map[string]stack.Key{}
	for _, k := range c.have.keys {
		byID[c.have.byKey[k].ID] = k
	}
	left := []stack.Resource{found}
	for len(left) > 0 {
		next := left[len(left)-1]
		left = left[:len(left)-1]
		for _, ref := range stack.Refs(next.Spec) {
			k := ref.To
			if ref.ID != "" {
				k = byID[ref.ID]
			}
			if used, exists := c.have.byKey[k]; exists && !out[k] {
				out[k] = true
				left = append(left, used)
			}
		}
	}
	return out
}

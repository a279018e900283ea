package diff

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// canRestore reports whether a found resource can be created again as it was, with its parts, from
// what was found of them.
func (c *comparison) canRestore(found stack.Resource) bool {
	rule := c.rules.Kinds[found.Key.Kind]
	return rule.Restore && !rule.Within.Inherent && found.State != stack.Failed && !slices.ContainsFunc(c.places.parts[found.Key], func(k stack.Key) bool {
		return !c.canRestore(c.have.byKey[k])
	})
}

// pairForRestore makes replacements of entry points that are deleted for one of another kind or
// name, such as a forwarding rule of another scheme under the same name. One create may replace
// several: it is paired with the deletions that it needs directly, and then with the others that it
// needs. What is deleted by one of the others cannot be restored where something that it uses is
// deleted as well.
func (c *comparison) pairForRestore() {
	if len(c.departing(func(plan.Step) bool { return true })) > 0 {
		c.pairDeparting()
	}
	c.pairOthers()
}

// pairDeparting pairs deletions of entry points with the creates that wait for them.
func (c *comparison) pairDeparting() {
	for i := range c.steps {
		if c.mayRestore(i) && c.steps[i].Pair.IsZero() {
			c.pairWith(i, c.departing(func(t plan.Step) bool { return slices.Contains(c.steps[i].Needs, t.ID) }), nil)
		}
	}
	graph := plan.NewGraph(c.steps)
	for i := range c.steps {
		if c.mayRestore(i) && (c.steps[i].Pair.IsZero() || c.steps[i].Pair.Restore) {
			before := graph.Before([]int{i})
			c.pairWith(i, c.departing(func(t plan.Step) bool { at, _ := graph.At(t.ID); return before[at] }), before)
		}
	}
}

// pairOthers pairs further creates that need the deletion of an old entry point directly, or that
// use what replaces something that it uses: where one of them is refused, the others are undone.
func (c *comparison) pairOthers() {
	for i := range c.steps {
		s := &c.steps[i]
		if !c.mayRestore(i) || !s.Pair.IsZero() {
			continue
		}
		replaced := c.pairsWhere(func(p plan.Pair) bool { return c.refersTo(i, p.Create.Key) })
		for _, t := range c.steps {
			if !t.Pair.Restore || t.ID != t.Pair.Delete || !c.replacesOthers(t.ID.Key.Kind) {
				continue
			}
			used := c.usedBy(t.Target)
			if slices.Contains(s.Needs, t.ID) || slices.ContainsFunc(replaced, func(p plan.Pair) bool { return used[p.Delete.Key] }) {
				s.Pair = plan.Pair{Create: s.ID, Delete: t.ID, Order: plan.DeleteFirst, Restore: true}
				c.leaves = append(c.leaves, departure{step: t.ID, place: i})
			}
		}
	}
}

// refersTo reports whether the resource of a step refers to a key.
func (c *comparison) refersTo(step int, k stack.Key) bool {
	return slices.ContainsFunc(c.places.refs[step], func(r stack.Ref) bool { return r.To == k })
}

// keepRestorable ends the restoration of old resources that use something which is deleted for the
// new one and cannot be restored itself: undoing such a replacement would leave nothing.
// What uses one that is not restored is not restored either.
func (c *comparison) keepRestorable() {
	var graph *plan.Graph
	for again := true; again; {
		again = false
		for _, s := range c.steps {
			if !s.Pair.Restore {
				continue
			}
			if graph == nil {
				graph = plan.NewGraph(c.steps)
			}
			at, _ := graph.At(s.Pair.Create)
			if c.losesUsed(c.have.byKey[s.Pair.Delete.Key], graph.Before([]int{at})) {
				c.endRestoration(s.Pair.Delete)
				again = true
			}
		}
	}
}

// endRestoration marks the replacements of a deleted resource as ones that nothing restores.
func (c *comparison) endRestoration(deleted plan.StepID) {
	for i := range c.steps {
		if c.steps[i].Pair.Delete == deleted {
			c.steps[i].Pair.Restore = false
		}
	}
	for i := range c.steps { // one that has replaced several may still be undone for the others
		s := &c.steps[i]
		if left := c.pairsOf(s.ID); s.Pair.Delete == deleted && s.ID == s.Pair.Create && len(left) > 0 {
			s.Pair = left[0]
		}
	}
}

// losesUsed reports whether something that a found resource refers to is deleted by one of the
// steps, and cannot be restored either.
func (c *comparison) losesUsed(found stack.Resource, steps []bool) bool {
	used := c.usedBy(found)
	for i, s := range c.steps {
		if len(steps) > 0 && steps[i] && s.ID.Action == plan.Delete && used[s.ID.Key] && !s.Pair.Restore {
			return true
		}
	}
	return false
}

// mayRestore reports whether a step creates an entry point that may replace others.
func (c *comparison) mayRestore(i int) bool {
	s := c.steps[i]
	return s.ID.Action == plan.Create && c.replacesOthers(s.ID.Key.Kind)
}

// departing returns the deletions of entry points that no create is paired with and that are
// selected.
func (c *comparison) departing(selected func(plan.Step) bool) []*plan.Step {
	var out []*plan.Step
	for i := range c.steps {
		t := &c.steps[i]
		if t.ID.Action == plan.Delete && t.Pair.IsZero() && c.replacesOthers(t.ID.Key.Kind) && c.canRestore(t.Target) && selected(*t) {
			out = append(out, t)
		}
	}
	return out
}

// pairWith pairs a create with the deletions that make room for it, and that are performed after
// others.
func (c *comparison) pairWith(create int, old []*plan.Step, before []bool) {
	s := &c.steps[create]
	for _, t := range old {
		t.Pair = plan.Pair{Create: s.ID, Delete: t.ID, Order: plan.DeleteFirst, Restore: !c.losesUsed(t.Target, before)}
		if s.Pair.IsZero() {
			s.Pair = t.Pair
		}
		c.leaves = append(c.leaves, departure{step: t.ID, place: create})
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
		before, used, pairs := graph.Before([]int{i}), map[stack.Key]bool{}, c.pairsOf(s.ID)
		for _, pair := range pairs {
			maps.Copy(used, c.usedBy(c.have.byKey[pair.Delete.Key]))
		}
		whole := c.wholeOf(pairs)
		c.undoes(i, slices.DeleteFunc(slices.Clone(whole), func(p plan.Pair) bool { return p.Create == s.ID }))
		completing := c.completing(graph, i)
		complete := graph.Before(completing)
		for _, j := range completing {
			if c.canUndo(s.ID) {
				c.undoes(j, whole)
			}
		}
		for j := range c.steps {
			t := &c.steps[j]
			if !c.takesFromOld(*t, used) || j == i || before[j] || t.Pair.Create == s.ID {
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
	c.completeLast()
}

// completeLast puts updates that complete one of several new resources, and end what completes the
// old ones, behind all of these resources and what else completes them.
func (c *comparison) completeLast() {
	for i := range c.steps {
		t := &c.steps[i]
		if len(t.Undoes) == 0 || !c.cutsOff(*t) {
			continue
		}
		before := plan.NewGraph(c.steps).Before([]int{i})
		for j, s := range c.steps {
			creates := s.Pair.Restore && s.ID == s.Pair.Create && slices.Contains(t.Undoes, s.Pair)
			completes := c.rules.Kinds[s.ID.Key.Kind].Role.Is(Completes) && !c.cutsOff(s) && slices.ContainsFunc(s.Undoes, func(p plan.Pair) bool { return slices.Contains(t.Undoes, p) })
			if j != i && !before[j] && (creates || completes) {
				t.Needs = append(t.Needs, s.ID)
			}
		}
	}
}

// cutsOff reports whether a step completes a new resource and takes from an old one.
func (c *comparison) cutsOff(s plan.Step) bool {
	rule := c.rules.Kinds[s.ID.Key.Kind]
	return rule.Role.Is(Completes) && isWrite(s) && rule.has(Narrows, &s)
}

// canUndo reports whether a new resource can be deleted once it exists: every new one that refers to
// it is undone as well, except for what completes it.
func (c *comparison) canUndo(create plan.StepID) bool {
	for i, s := range c.steps {
		completes := c.rules.Kinds[s.ID.Key.Kind].Role.Is(Completes)
		if s.ID.Action == plan.Create && s.ID != create && c.refersTo(i, create.Key) && !completes && !(s.Pair.Restore && c.canUndo(s.ID)) {
			return false
		}
	}
	return true
}

// pairsOf returns the replacements by what a step creates.
func (c *comparison) pairsOf(create plan.StepID) []plan.Pair {
	return c.pairsWhere(func(p plan.Pair) bool { return p.Create == create })
}

// wholeOf returns all replacements that are undone where one of some is: those of the same old or
// new resources, and of what old ones refer to.
func (c *comparison) wholeOf(pairs []plan.Pair) []plan.Pair {
	for again := true; again; {
		used := map[stack.Key]bool{}
		for _, p := range pairs {
			maps.Copy(used, c.usedBy(c.have.byKey[p.Delete.Key]))
		}
		all := c.pairsWhere(func(p plan.Pair) bool {
			return used[p.Delete.Key] || slices.ContainsFunc(pairs, func(q plan.Pair) bool { return p.Delete == q.Delete || p.Create == q.Create })
		})
		again, pairs = len(all) > len(pairs), all
	}
	return pairs
}

// undoes adds replacements that are undone where a step is refused.
func (c *comparison) undoes(step int, pairs []plan.Pair) {
	s := &c.steps[step]
	for _, p := range pairs {
		if !slices.Contains(s.Undoes, p) {
			s.Undoes = append(s.Undoes, p)
		}
	}
}

func (c *comparison) pairsWhere(selected func(plan.Pair) bool) []plan.Pair {
	var out []plan.Pair
	for _, s := range c.steps {
		if s.Pair.Restore && selected(s.Pair) && !slices.Contains(out, s.Pair) {
			out = append(out, s.Pair)
		}
	}
	return out
}

// takesFromOld reports whether a step takes away what an old resource needs: something that it
// uses, or traffic that is admitted for it.
func (c *comparison) takesFromOld(s plan.Step, used map[stack.Key]bool) bool {
	rule := c.rules.Kinds[s.ID.Key.Kind]
	return s.ID.Action == plan.Delete && used[s.ID.Key] || rule.Role.Is(Admits) && rule.has(Narrows, &s)
}

// completing returns the steps by which a resource that another step creates is complete, as far
// as they wait for that step.
func (c *comparison) completing(graph *plan.Graph, create int) []int {
	var out []int
	for i, s := range c.steps {
		rule := c.rules.Kinds[s.ID.Key.Kind]
		if rule.Role.Is(Completes) && isWrite(s) && rule.has(Widens, &s) && graph.Before([]int{i})[create] {
			out = append(out, i)
		}
	}
	return out
}

// usedBy returns the keys of the found resources that one or its parts refer to, directly or
// through others.
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
		for _, part := range c.places.parts[next.Key] {
			left = append(left, c.have.byKey[part])
		}
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

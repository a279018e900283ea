package diff

import (
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Replaces reports whether the difference between a desired and an observed resource of
// one key cannot be made in place. Builders call it when a replacement needs further
// resources, such as an address that is held meanwhile.
func Replaces(rules Rules, want, found stack.Resource) bool {
	rule := rules.Kinds[want.Key.Kind]
	return forcesReplacement(rule.differences(want.Spec, found.Spec))
}

// replacing is the differences and replacements, computed before the steps.
type replacing struct {
	// replaced are observed resources that a new one replaces under the same key:
	// references to the key must be written again.
	replaced map[stack.Key]bool
	// diffs are the changes of existing resources, as far as toReplace has computed them.
	diffs map[stack.Key][]plan.Change
}

// toReplace finds the resources that cannot be changed in place, before
// anything is planned, because resources that refer to them depend on it. One
// replacement can cause the next: a resource that cannot change a reference in place
// is replaced together with the resource that it refers to.
func (c *comparison) toReplace() {
	fields := map[stack.Key][]plan.Change{} // the same in each round
	for again := true; again; {
		again = false
		c.diffs = map[stack.Key][]plan.Change{}
		for _, k := range c.parents {
			w, rule := c.want.byKey[k], c.rules.Kinds[k.Kind]
			found, exists := c.have.byKey[k]
			if !exists || c.replaced[k] || w.Ownership == stack.External || rule.Within.Inherent || c.isForeign(w) {
				continue
			}
			if !c.replaced[w.In] {
				if _, known := fields[k]; !known {
					fields[k] = slices.Clip(rule.differences(w.Spec, found.Spec))
				}
				c.diffs[k] = c.withReplaced(fields[k], w, found, rule)
			}
			if c.replaced[w.In] || forcesReplacement(c.diffs[k]) || found.State == stack.Failed && rule.Failed == Remake {
				c.replaced[k] = true
				again = true
			}
		}
	}
}

// changes lists the fields that must be written: different ones, and references to a
// resource which is replaced, since the reference is the same but its identifier is
// not.
func (c *comparison) changes(w, found stack.Resource, rule Rule) []plan.Change {
	return c.withReplaced(rule.differences(w.Spec, found.Spec), w, found, rule)
}

// withReplaced adds the references to replaced resources to the fields that differ.
func (c *comparison) withReplaced(diffs []plan.Change, w, found stack.Resource, rule Rule) []plan.Change {
	if len(c.replaced) == 0 {
		return diffs
	}
	observed := stack.Fields(found.Spec)
	for i, f := range stack.Fields(w.Spec) {
		known := slices.ContainsFunc(diffs, func(ch plan.Change) bool { return ch.Field == f.Name })
		leads := slices.ContainsFunc(stack.Refs(f.Value), func(r stack.Ref) bool { return c.replaced[r.To] })
		if leads && !known && !slices.Contains(rule.Ignore, f.Name) {
			diffs = append(diffs, plan.Change{Field: f.Name, From: valueAt(observed, i, f.Name), To: f.Value, Forces: slices.Contains(rule.Immutable, f.Name)})
		}
	}
	return diffs
}

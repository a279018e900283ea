package model

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// Priorities of rules that are ours, and limits of a security group.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/securitygroup/securitygroup.go.
const (
	firstPriority int32 = 500
	lastPriority  int32 = 4096
	firstDeny     int32 = 4095 // and downwards

	mostSecurityRules = 1000
	mostPrefixes      = 4000
)

const ListSecurity = "securityRules"

// SecurityEdit is the security group after the steps of a batch.
type SecurityEdit struct {
	Object  Object
	Changed bool
	Refused map[int]error // the fault of each step that was left out, by index in the batch
}

// MergeSecurity merges the entries of all steps of a batch into a security group as just
// read. Entries of one content become destinations of one rule. It changes only
// destinations of the steps, and deletes only rules that lose their last destination by
// that. Rules of users, with or without destinations, are retained.
//
// Deletions are applied first, then additions in the order of the batch. Additions beyond
// Azure's limits are refused by name, the others are written.
func MergeSecurity(c Config, nsg Object, b plan.Batch) SecurityEdit {
	g := &nsgMerge{batch: b, refused: map[int]error{}}
	if nsg == nil {
		for i := range b.Steps {
			g.refused[i] = fault.New(fault.Invalid, "network security group %s: it does not exist, and is never made", c.Security)
		}
		return SecurityEdit{Refused: g.refused}
	}
	g.nsg = nsg.Clone()
	g.rules = g.nsg.Make("properties").List(ListSecurity)
	g.wishes()
	for _, s := range b.Steps {
		if s.ID.Action == plan.Delete {
			g.remove(s)
		}
	}
	for _, i := range g.additions() {
		if err := g.add(b.Steps[i]); err != nil {
			g.refused[i] = err
		}
	}
	g.nsg.Make("properties").SetList(ListSecurity, g.rules)
	if len(nsg.Props().List(ListSecurity)) == 0 && len(g.rules) == 0 {
		g.nsg = nsg
	}
	edit := SecurityEdit{Object: g.nsg, Refused: g.refused}
	edit.Changed = !reflect.DeepEqual(map[string]any(nsg), map[string]any(g.nsg))
	if now := g.nsg.Tags(); edit.Changed && len(c.Tags) > 0 {
		g.nsg.setTags(mergeTags(now, c.Tags, c.SystemTags))
	}
	return edit
}

type nsgMerge struct {
	nsg     Object
	rules   []Object
	batch   plan.Batch
	wanted  map[stack.Key]bool // entries that steps of this batch add
	refused map[int]error
}

// wishes notes what is added, so that one Service's removal does not undo
// another's addition in the same batch.
func (g *nsgMerge) wishes() {
	g.wanted = map[stack.Key]bool{}
	for _, s := range g.batch.Steps {
		if s.ID.Action != plan.Delete {
			g.wanted[s.ID.Key] = true
		}
	}
}

func (g *nsgMerge) remove(s plan.Step) {
	a, ok := s.Target.Spec.(Access)
	if !ok || g.wanted[s.ID.Key] {
		return
	}
	// Claims are asked at the moment of writing: since the plan was made, another
	// Service may have come that wants the entry.
	if g.batch.Claims != nil && len(g.batch.Claims.Others(s.ID.Owner, s.Target)) > 0 {
		return
	}
	g.rules = slices.DeleteFunc(g.rules, func(r Object) bool {
		content, ok := ContentOf(r)
		if !ok || content.Rule != a.Rule {
			return false
		}
		had := Destinations(r)
		rest := slices.DeleteFunc(slices.Clone(had), func(d string) bool { return strings.EqualFold(d, a.Destination) })
		if len(rest) == len(had) {
			return false
		}
		if len(rest) == 0 && len(r.Props().List("destinationApplicationSecurityGroups")) == 0 {
			return true
		}
		setDestinations(r.Props(), rest)
		return false
	})
}

// additions are the steps that add, Service by Service in the order of the batch
// and for each in the order in which its rules get priorities; deny rules last.
func (g *nsgMerge) additions() []int {
	var out []int
	first := map[stack.Owner]int{}
	for i, s := range g.batch.Steps {
		if s.ID.Action == plan.Delete {
			continue
		}
		if _, seen := first[s.ID.Owner]; !seen {
			first[s.ID.Owner] = i
		}
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(i, j int) int {
		a, _ := g.batch.Steps[i].Target.Spec.(Access)
		b, _ := g.batch.Steps[j].Target.Spec.(Access)
		return cmp.Or(first[g.batch.Steps[i].ID.Owner]-first[g.batch.Steps[j].ID.Owner], a.Rank-b.Rank, cmp.Compare(a.Destination, b.Destination))
	})
	return out
}

func (g *nsgMerge) add(s plan.Step) error {
	want, ok := s.Target.Spec.(Access)
	if !ok {
		return nil
	}
	byName := -1
	for i, r := range g.rules {
		if content, ok := ContentOf(r); ok && content.Rule == want.Rule {
			if ContainsFold(Destinations(r), want.Destination) {
				return nil
			}
			return g.extend(r, want)
		}
		if strings.EqualFold(r.Text("name"), want.Rule) {
			byName = i
		}
	}
	if byName >= 0 {
		// The rule of this name was changed by hand. Its content follows from its name, so
		// every Service in it wants that content.
		if !ContainsFold(Destinations(g.rules[byName]), want.Destination) {
			if err := g.extend(g.rules[byName], want); err != nil {
				return err
			}
		}
		fillContent(g.rules[byName].Make("properties"), want)
		return nil
	}
	return g.append(want)
}

func (g *nsgMerge) extend(r Object, want Access) error {
	if err := g.fits(want, 0, 0); err != nil {
		return err
	}
	setDestinations(r.Make("properties"), append(Destinations(r), want.Destination))
	return nil
}

func (g *nsgMerge) append(want Access) error {
	if err := g.fits(want, 1, max(1, len(want.Sources))); err != nil {
		return err
	}
	priority, ok := g.freePriority(want.Deny)
	if !ok {
		return refuseFull("network security group %s: no priority from %d to %d is free for %s", want.Security, firstPriority, firstDeny, want.Rule)
	}
	p := Object{"priority": jsonNumber(priority)}
	fillContent(p, want)
	setDestinations(p, []string{want.Destination})
	g.rules = append(g.rules, Object{"name": want.Rule, "properties": map[string]any(p)})
	return nil
}

// fits reports whether one more destination, and a rule with so many sources, are within
// Azure's limits.
func (g *nsgMerge) fits(want Access, rules, sources int) error {
	sums := [2]int{}
	for _, r := range g.rules {
		sums[0] += len(prefixField(r, "sourceAddressPrefix"))
		sums[1] += len(Destinations(r))
	}
	over := func(what string, would, most int) error {
		return refuseFull("network security group %s: %d %s are more than the %d that it can have, so %s is not open for %s",
			want.Security, would, what, most, want.Destination, strings.Join(want.Sources, ", "))
	}
	switch {
	case len(g.rules)+rules > mostSecurityRules:
		return over("rules", len(g.rules)+rules, mostSecurityRules)
	case sums[0]+sources > mostPrefixes && sources > 0:
		return over("source prefixes", sums[0]+sources, mostPrefixes)
	case sums[1]+1 > mostPrefixes:
		return over("destination prefixes", sums[1]+1, mostPrefixes)
	}
	return nil
}

// freePriority is the lowest free number for allow rules and the highest for deny
// rules; any rule of the group takes its number, whichever direction it has.
func (g *nsgMerge) freePriority(deny bool) (int32, bool) {
	taken := map[int32]bool{}
	for _, r := range g.rules {
		taken[r.Props().number("priority")] = true
	}
	p, last, step := firstPriority, lastPriority, int32(1)
	if deny {
		p, last, step = firstDeny, firstPriority, -1
	}
	for taken[p] && p != last {
		p += step
	}
	return p, !taken[p]
}

// fillContent writes what a rule's name stands for.
func fillContent(p Object, a Access) {
	p["protocol"], p["direction"], p["sourcePortRange"] = a.Protocol, "Inbound", "*"
	for _, other := range []string{"sourceAddressPrefix", "sourceAddressPrefixes", "destinationPortRange", "destinationPortRanges"} {
		delete(p, other)
	}
	if a.Deny {
		p["access"], p["sourceAddressPrefix"], p["destinationPortRange"] = "Deny", "*", "*"
		return
	}
	p["access"] = "Allow"
	if len(a.Sources) == 1 {
		p["sourceAddressPrefix"] = a.Sources[0]
	} else {
		p.SetTexts("sourceAddressPrefixes", a.Sources)
	}
	p.SetTexts("destinationPortRanges", a.Ports)
}

func setDestinations(p Object, list []string) {
	list = slices.Clone(list)
	slices.Sort(list)
	list = slices.Compact(list)
	delete(p, "destinationAddressPrefix")
	delete(p, "destinationAddressPrefixes")
	if len(list) == 1 {
		p["destinationAddressPrefix"] = list[0]
		return
	}
	p.SetTexts("destinationAddressPrefixes", list)
}

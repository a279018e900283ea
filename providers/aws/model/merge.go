package model

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// DefaultRuleLimit is how many inbound rules a security group may have in an
// account that never asked for more. Source: Amazon VPC quotas.
const DefaultRuleLimit = 60

// QuotaGroupRules is the name of that quota in Service Quotas.
const QuotaGroupRules = "inbound or outbound rules per security group"

// GroupEdit is what the steps of one batch do to one security group of nodes.
type GroupEdit struct {
	// Authorize and Revoke are sent in one call each, in this order. Sources are literal,
	// each rule is listed once, and no rule is in both.
	Authorize, Revoke []FoundRule
	// Refused has the fault of each step that did not fit, by index in the batch.
	Refused map[int]error
}

// MergeRules applies the edits of all steps of a batch to the rules of a group as just
// read. Both calls that follow are all or nothing, so an existing rule is not granted
// again and a missing one is not revoked. Only the very rule of a step is revoked, never
// the whole permission that AWS shows it in, which holds rules of others as well.
//
// limit bounds the rules that the group may have, 0 leaves that to AWS: the quota can be
// raised and cannot be read, so it is only known once AWS has refused (see
// LearnedLimit). Rules over it are refused by name, the others continue. Revocations
// count first, then grants in the order of the steps, rules for the size of packets
// last.
func MergeRules(group string, found []FoundRule, b plan.Batch, limit int) GroupEdit {
	g := merging{group: group, found: map[Permission]FoundRule{}, batch: b, edit: GroupEdit{Refused: map[int]error{}}}
	for _, r := range found {
		g.found[Normal(r.Permission)] = r
	}
	g.wishes()
	g.revoke()
	g.authorize(limit)
	slices.SortFunc(g.edit.Authorize, FoundRule.Compare)
	slices.SortFunc(g.edit.Revoke, FoundRule.Compare)
	return g.edit
}

// LearnedLimit is the least that the quota of a group can be, after AWS has
// answered that it is reached.
func LearnedLimit(found []FoundRule) int { return max(DefaultRuleLimit, len(found)) }

type merging struct {
	group string
	found map[Permission]FoundRule
	batch plan.Batch
	// wanted are the permissions that steps of this batch grant.
	wanted map[Permission]bool
	edit   GroupEdit
}

// wishes notes what is granted, so that one Service's revocation does not undo
// another's grant in the same batch.
func (g *merging) wishes() {
	g.wanted = map[Permission]bool{}
	for _, s := range g.batch.Steps {
		if r, ok := g.rule(s); ok && s.ID.Action != plan.Delete {
			g.wanted[r.Permission] = true
		}
	}
}

// RuleOf is the rule of a step of a batch on a group, with a literal source; false if its
// source does not exist or the step is none of this group.
func RuleOf(group string, b plan.Batch, s plan.Step) (FoundRule, bool) {
	spec, ok := s.Target.Spec.(NodeRule)
	if !ok || spec.Group != group {
		return FoundRule{}, false
	}
	p := Normal(spec.Permission)
	if !p.Source.IsZero() {
		p.Source = stack.RefID(b.ID(s, spec.Source))
		if p.Source.IsZero() {
			return FoundRule{}, false
		}
	}
	return FoundRule{Permission: p, Description: spec.Description}, true
}

func (g *merging) rule(s plan.Step) (FoundRule, bool) { return RuleOf(g.group, g.batch, s) }

func (g *merging) revoke() {
	for _, s := range g.batch.Steps {
		r, ok := g.rule(s)
		if !ok || s.ID.Action != plan.Delete || g.wanted[r.Permission] {
			continue
		}
		// Claims are asked at the moment of writing: since the plan was made,
		// another Service may have come that wants the rule.
		if g.batch.Claims != nil && len(g.batch.Claims.Others(s.ID.Owner, s.Target)) > 0 {
			continue
		}
		there, exists := g.found[r.Permission]
		if !exists {
			continue
		}
		delete(g.found, r.Permission)
		g.edit.Revoke = append(g.edit.Revoke, there)
	}
}

func (g *merging) authorize(limit int) {
	order := make([]int, len(g.batch.Steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return g.permission(x).ByNeed(g.permission(y)) })
	for _, i := range order {
		s := g.batch.Steps[i]
		r, ok := g.rule(s)
		if s.ID.Action == plan.Delete {
			continue
		}
		if !ok {
			g.edit.Refused[i] = fault.New(fault.Conflict, "security group %s: rule %s: its source does not exist", g.group, s.ID.Key.Name)
			continue
		}
		if _, exists := g.found[r.Permission]; exists {
			continue
		}
		if limit > 0 && len(g.found) >= limit {
			f := fault.New(fault.Quota, "security group %s: rule %s: the group has %d rules, as many as it may have", g.group, s.ID.Key.Name, len(g.found))
			f.Limit = fault.Limit{Name: QuotaGroupRules, Most: strconv.Itoa(limit), Used: strconv.Itoa(len(g.found))}
			g.edit.Refused[i] = f
			continue
		}
		g.found[r.Permission] = r
		g.edit.Authorize = append(g.edit.Authorize, r)
	}
}

// permission is what the step with that index is about.
func (g *merging) permission(i int) Permission {
	rule, _ := g.batch.Steps[i].Target.Spec.(NodeRule)
	return rule.Permission
}

// Normal writes a permission in the one form in which it is compared: rules for
// all protocols have no ports, whatever the API puts there.
func Normal(p Permission) Permission {
	if p.Protocol == "-1" {
		p.FromPort, p.ToPort = 0, 0
	}
	return p
}

// Compare orders permissions by protocol, ports and source.
func (p Permission) Compare(q Permission) int {
	return cmp.Or(
		cmp.Compare(p.Protocol, q.Protocol), cmp.Compare(p.FromPort, q.FromPort), cmp.Compare(p.ToPort, q.ToPort),
		cmp.Compare(p.CIDR, q.CIDR), p.Source.Compare(q.Source),
	)
}

// ByNeed orders permissions for a group that has no room for all: rules that let clients
// in precede rules that let them learn the size of packets.
func (p Permission) ByNeed(q Permission) int {
	rank := map[bool]int{true: 1}
	return rank[p.Protocol == protocolICMP] - rank[q.Protocol == protocolICMP]
}

// Compare orders rules by their permission, then by their description.
func (r FoundRule) Compare(s FoundRule) int {
	return cmp.Or(r.Permission.Compare(s.Permission), cmp.Compare(r.Description, s.Description))
}

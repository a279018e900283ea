package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// frontendNames returns, for each desired frontend, the name that it will have: there is
// one frontend for one address, whatever its creator. It changes nothing yet.
func (g *lbMerge) frontendNames(base string, want Entries) (map[string]string, error) {
	names := map[string]string{}
	list := g.props().List(ListFrontends)
	for _, f := range want.Frontends {
		names[lowerCase(f.Name)] = f.Name
		for _, there := range list {
			name := there.Text("name")
			if g.samePlace(f, there) && (!ownedBy(base, name) || usedByOthers(g.lb, name, base)) {
				names[lowerCase(f.Name)] = name
			}
		}
		taken := Named(list, f.Name)
		if names[lowerCase(f.Name)] != f.Name || taken < 0 || g.samePlace(f, list[taken]) || !usedByOthers(g.lb, f.Name, base) {
			continue
		}
		if _, err := g.newHolder(f.Name, base); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// samePlace reports whether an existing frontend has the desired address.
func (g *lbMerge) samePlace(want Frontend, there Object) bool {
	if !want.PublicIP.IsZero() {
		id := there.Ref("publicIPAddress")
		return id != "" && PublicIPKeyOf(id) == want.PublicIP.To
	}
	if !SameID(there.Ref("subnet"), want.Subnet) {
		return false
	}
	if want.Address == "" { // any address will do, so only the name tells
		return strings.EqualFold(there.Text("name"), want.Name)
	}
	return Canonical(there.Props().Text("privateIPAddress")) == Canonical(want.Address)
}

// newHolder is the name that a frontend gets which must leave its name to its
// former owner and is still used by others: the base name of the first of them.
func (g *lbMerge) newHolder(name, base string) (string, error) {
	users, held := UsersOf(g.lb, name)
	refuse := func(by string) error {
		return fault.New(fault.InUse, "frontend %s of load balancer %s cannot move to another address while it is used by %s", name, g.Name, by)
	}
	if held {
		return "", refuse("outbound or NAT rules or a private link service")
	}
	suffix := ""
	if strings.HasSuffix(name, SuffixIPv6) {
		suffix = SuffixIPv6
	}
	var bases []string
	for _, rule := range users {
		if ownedBy(base, rule) {
			continue
		}
		b := BaseOf(rule)
		if b == "" {
			return "", refuse("rule " + rule)
		}
		bases = append(bases, b+suffix)
	}
	slices.Sort(bases)
	for _, b := range bases {
		if Named(g.props().List(ListFrontends), b) < 0 {
			return b, nil
		}
	}
	return "", refuse("other Services")
}

// putFrontends creates or updates the desired frontends. One with another address is
// recreated under its name in the same PUT; if others still use the old address, that
// frontend is kept under one of their names.
func (g *lbMerge) putFrontends(base string, want Entries, names map[string]string) error {
	for _, f := range want.Frontends {
		if names[lowerCase(f.Name)] != f.Name {
			continue // another Service's
		}
		list := g.props().List(ListFrontends)
		i := Named(list, f.Name)
		switch {
		case i < 0:
			before := g.before(base, f, names)
			g.leavePlace(base, f)
			g.put(ListFrontends, append(g.props().List(ListFrontends), newFrontend(f, before, g.Config)))
		case g.samePlace(f, list[i]):
		case usedByOthers(g.lb, f.Name, base):
			holder, err := g.newHolder(f.Name, base)
			if err != nil {
				return err
			}
			g.hand(f.Name, holder)
			fallthrough
		default:
			list = g.props().List(ListFrontends)
			list[i] = newFrontend(f, list[i], g.Config)
			g.put(ListFrontends, list)
		}
	}
	return nil
}

// before returns the internal frontend of the Service that a frontend of another name
// replaces; nil if there is none.
func (g *lbMerge) before(base string, f Frontend, names map[string]string) Object {
	if f.Subnet == "" {
		return nil
	}
	list := g.props().List(ListFrontends)
	i := slices.IndexFunc(list, func(o Object) bool {
		was := frontendOf(o, nil)
		return ownedBy(base, was.Name) && names[lowerCase(was.Name)] == "" && was.Subnet != "" && was.Version == f.Version
	})
	if i < 0 {
		return nil
	}
	return list[i]
}

// leavePlace takes away a frontend of the Service that has the wanted place under
// another name, since no address can be on two frontends.
func (g *lbMerge) leavePlace(base string, f Frontend) {
	g.put(ListFrontends, slices.DeleteFunc(g.props().List(ListFrontends), func(o Object) bool {
		return ownedBy(base, o.Text("name")) && f.Address+f.PublicIP.To.Name != "" && g.samePlace(f, o)
	}))
}

// hand gives a frontend with its address and its users another name.
func (g *lbMerge) hand(name, holder string) {
	list := g.props().List(ListFrontends)
	copied := list[Named(list, name)].Clone()
	for _, readOnly := range []string{"id", "etag", "type"} {
		delete(copied, readOnly)
	}
	for _, readOnly := range []string{"provisioningState", ListRules, listOutbound, listNAT, listNATPools} {
		delete(copied.Props(), readOnly)
	}
	copied["name"] = holder
	g.put(ListFrontends, append(list, copied))
	rules := g.props().List(ListRules)
	for _, r := range rules {
		if strings.EqualFold(r.refName(toFrontend), name) {
			r.Props()[toFrontend] = IDObject(g.Config.BalancerID(cmp.Or(g.lb.Text("name"), g.Name)) + "/" + ListFrontends + "/" + holder)
		}
	}
	g.put(ListRules, rules)
}

// newFrontend is the body of a frontend. Zones cannot change, so one that is made
// in the place of another keeps that one's, also if it has none.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_loadbalancer.go.
func newFrontend(f Frontend, before Object, c Config) Object {
	p := map[string]any{}
	out := Object{"name": f.Name, "properties": p}
	if !f.PublicIP.IsZero() {
		p["publicIPAddress"] = IDObject(c.PublicIPID(f.PublicIP.To))
		return out
	}
	p["subnet"] = IDObject(f.Subnet)
	p["privateIPAllocationMethod"] = "Dynamic"
	if f.Address != "" {
		p["privateIPAllocationMethod"], p["privateIPAddress"] = "Static", f.Address
	}
	if f.Version == IPv6 {
		p["privateIPAddressVersion"] = IPv6
	}
	zones := f.Zones
	if before != nil {
		zones = before.Texts("zones")
	}
	if len(zones) > 0 {
		out.SetTexts("zones", zones)
	}
	return out
}

// dropFrontends deletes the frontends that the Service no longer wants and that are unused:
// its own, and another Service's that it was the last to use.
func (g *lbMerge) dropFrontends(s plan.Step, base string, had []Frontend, keep map[string]string) {
	g.put(ListFrontends, slices.DeleteFunc(g.props().List(ListFrontends), func(o Object) bool {
		name := o.Text("name")
		for _, k := range keep {
			if strings.EqualFold(k, name) {
				return false
			}
		}
		own := ownedBy(base, name)
		was := slices.ContainsFunc(had, func(f Frontend) bool { return strings.EqualFold(f.Name, name) })
		if !own && !was || usedByOthers(g.lb, name, "") {
			return false
		}
		return own || BaseOf(name) != "" && !g.wantedByOthers(s, o)
	}))
}

// wantedByOthers reports whether another Service still wants the public IP of a frontend.
func (g *lbMerge) wantedByOthers(s plan.Step, frontend Object) bool {
	id := frontend.Ref("publicIPAddress")
	if id == "" || g.batch.Claims == nil {
		return false
	}
	entry := stack.Resource{Key: PublicIPKeyOf(id), Ownership: stack.Shared, Spec: PublicIP{Group: GroupOf(id), Name: LastSegment(id)}}
	return len(g.batch.Claims.Others(s.ID.Owner, entry)) > 0
}

// conflict returns an error that names the Service that has one of the desired ports
// already; that Service keeps it.
func (g *lbMerge) conflict(base string, rules []Rule) error {
	for _, list := range []string{ListRules, listNAT, listNATPools} {
		for _, o := range g.props().List(list) {
			p := o.Props()
			from, to := p.number("frontendPort"), p.number("frontendPort")
			if from == 0 && list != ListRules {
				from, to = p.number("frontendPortRangeStart"), p.number("frontendPortRangeEnd")
			}
			for _, want := range rules {
				// The ports are compared first, because they differ nearly always.
				clash := rulesOverlap(want, p.Text("protocol"), from, to) && strings.EqualFold(o.refName(toFrontend), want.Frontend)
				if !clash || list == ListRules && ownedBy(base, o.Text("name")) {
					continue
				}
				if list == ListRules {
					return g.taken(want, ruleText(g.findOwner, o.Text("name")))
				}
				return g.taken(want, "inbound NAT rule "+o.Text("name"))
			}
		}
	}
	return nil
}

// findOwner returns the known owner that matches.
func (g *lbMerge) findOwner(match func(stack.Owner) bool) (stack.Owner, bool) {
	if g.batch.Claims == nil {
		return stack.Owner{}, false
	}
	return g.batch.Claims.Find(match)
}

func (g *lbMerge) taken(want Rule, by string) error {
	return fault.New(fault.Taken, "port %d/%s of frontend %s on load balancer %s is taken by %s", want.FrontendPort, want.Protocol, want.Frontend, g.Name, by)
}

// rulesOverlap reports whether a rule and a range of ports cannot be on one frontend. A rule
// for all protocols on port 0 takes every port.
func rulesOverlap(r Rule, protocol string, from, to int32) bool {
	if r.FrontendPort != 0 && from != 0 && (r.FrontendPort < from || to < r.FrontendPort) {
		return false
	}
	return r.Protocol == protocolAll || strings.EqualFold(protocol, protocolAll) || strings.EqualFold(r.Protocol, protocol)
}

// onlyIPv6 reports whether the load balancer has IPv6 frontends and none of IPv4.
func (in LBMerge) onlyIPv6(lb Object, b plan.Batch) bool {
	list, six := lb.Props().List(ListFrontends), in.ofIPv6(b)
	return len(list) > 0 && !slices.ContainsFunc(list, func(f Object) bool { return !six(f) })
}

// ofIPv6 returns a function that reports whether a frontend is of IPv6. The version is that
// of the step that wants or deletes the frontend, or that of its public IP.
func (in LBMerge) ofIPv6(b plan.Batch) func(Object) bool {
	versions := map[string]string{}
	for _, s := range b.Steps {
		e, _ := s.Target.Spec.(Entries)
		for _, f := range e.Frontends {
			versions[lowerCase(f.Name)] = f.Version
		}
	}
	return func(frontend Object) bool {
		f := frontendOf(frontend, nil)
		if known := versions[lowerCase(f.Name)]; known != "" {
			f.Version = known
		} else if !f.PublicIP.IsZero() && in.Version != nil {
			f.Version = cmp.Or(in.Version(f.PublicIP.To), f.Version)
		}
		return isIPv6(f)
	}
}

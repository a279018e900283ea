package azure

import (
	"cmp"
	"net/netip"
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

const listSecurity = "securityRules"

// SecurityEdit is the security group after the steps of a batch.
type SecurityEdit struct {
	Object  Object
	Changed bool
	Refused map[int]error // the fault of each step that was left out, by index in the batch
}

// graftSecurity puts the entries of all steps of a batch onto a security group as
// just read. Entries of one content become destinations of one rule. Only
// destinations of the steps are touched, and only rules that lose their last
// destination by that go: rules of users, with or without destinations, stay.
//
// Removals come first, then additions in the order of the batch; those that do
// not fit into Azure's limits are refused by name, the others are written.
func graftSecurity(c Config, nsg Object, b plan.Batch) SecurityEdit {
	g := &nsgGraft{batch: b, refused: map[int]error{}}
	if nsg == nil {
		for i := range b.Steps {
			g.refused[i] = fault.New(fault.Invalid, "network security group %s: it does not exist, and is never made", c.Security)
		}
		return SecurityEdit{Refused: g.refused}
	}
	g.nsg = nsg.clone()
	g.rules = g.nsg.make("properties").list(listSecurity)
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
	g.nsg.make("properties").setList(listSecurity, g.rules)
	if len(nsg.props().list(listSecurity)) == 0 && len(g.rules) == 0 {
		g.nsg = nsg
	}
	edit := SecurityEdit{Object: g.nsg, Refused: g.refused}
	edit.Changed = !reflect.DeepEqual(map[string]any(nsg), map[string]any(g.nsg))
	if now := g.nsg.tags(); edit.Changed && len(c.Tags) > 0 {
		g.nsg.setTags(mergeTags(now, c.Tags, c.SystemTags))
	}
	return edit
}

type nsgGraft struct {
	nsg     Object
	rules   []Object
	batch   plan.Batch
	wanted  map[stack.Key]bool // entries that steps of this batch add
	refused map[int]error
}

// wishes notes what is added, so that one Service's removal does not undo
// another's addition in the same batch.
func (g *nsgGraft) wishes() {
	g.wanted = map[stack.Key]bool{}
	for _, s := range g.batch.Steps {
		if s.ID.Action != plan.Delete {
			g.wanted[s.ID.Key] = true
		}
	}
}

func (g *nsgGraft) remove(s plan.Step) {
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
		content, ok := contentOf(r)
		if !ok || content.Rule != a.Rule {
			return false
		}
		had := destinations(r)
		rest := slices.DeleteFunc(slices.Clone(had), func(d string) bool { return strings.EqualFold(d, a.Destination) })
		if len(rest) == len(had) {
			return false
		}
		if len(rest) == 0 && len(r.props().list("destinationApplicationSecurityGroups")) == 0 {
			return true
		}
		setDestinations(r.props(), rest)
		return false
	})
}

// additions are the steps that add, Service by Service in the order of the batch
// and for each in the order in which its rules get priorities; deny rules last.
func (g *nsgGraft) additions() []int {
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

func (g *nsgGraft) add(s plan.Step) error {
	want, ok := s.Target.Spec.(Access)
	if !ok {
		return nil
	}
	byName := -1
	for i, r := range g.rules {
		if content, ok := contentOf(r); ok && content.Rule == want.Rule {
			if containsFold(destinations(r), want.Destination) {
				return nil
			}
			return g.extend(r, want)
		}
		if strings.EqualFold(r.text("name"), want.Rule) {
			byName = i
		}
	}
	if byName >= 0 {
		// The rule of this name was changed by hand. What it says follows from its
		// name, so everybody in it wants it as the name says.
		if !containsFold(destinations(g.rules[byName]), want.Destination) {
			if err := g.extend(g.rules[byName], want); err != nil {
				return err
			}
		}
		fillContent(g.rules[byName].make("properties"), want)
		return nil
	}
	return g.append(want)
}

func (g *nsgGraft) extend(r Object, want Access) error {
	if err := g.fits(want, 0, 0); err != nil {
		return err
	}
	setDestinations(r.make("properties"), append(destinations(r), want.Destination))
	return nil
}

func (g *nsgGraft) append(want Access) error {
	if err := g.fits(want, 1, max(1, len(want.Sources))); err != nil {
		return err
	}
	priority, ok := g.freePriority(want.Deny)
	if !ok {
		return fault.New(fault.Quota, "network security group %s: no priority from %d to %d is free for %s", want.Security, firstPriority, firstDeny, want.Rule)
	}
	p := Object{"priority": number(priority)}
	fillContent(p, want)
	setDestinations(p, []string{want.Destination})
	g.rules = append(g.rules, Object{"name": want.Rule, "properties": map[string]any(p)})
	return nil
}

// fits tells whether one more destination, and a rule with so many sources, are
// within Azure's limits.
func (g *nsgGraft) fits(want Access, rules, sources int) error {
	sums := [2]int{}
	for _, r := range g.rules {
		sums[0] += len(prefixes(r, "sourceAddressPrefix"))
		sums[1] += len(destinations(r))
	}
	over := func(what string, would, most int) error {
		return fault.New(fault.Quota, "network security group %s: %d %s are more than the %d that it can have, so %s is not open for %s",
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
func (g *nsgGraft) freePriority(deny bool) (int32, bool) {
	taken := map[int32]bool{}
	for _, r := range g.rules {
		taken[r.props().number("priority")] = true
	}
	if deny {
		for p := firstDeny; p >= firstPriority; p-- {
			if !taken[p] {
				return p, true
			}
		}
		return 0, false
	}
	for p := firstPriority; p <= lastPriority; p++ {
		if !taken[p] {
			return p, true
		}
	}
	return 0, false
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
		p.setTexts("sourceAddressPrefixes", a.Sources)
	}
	p.setTexts("destinationPortRanges", a.Ports)
}

// contentOf reads a rule that is ours by name and priority. Rules with ranges of
// ports are not made here and are left alone.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/securitygroup/securitygroup.go.
func contentOf(r Object) (Access, bool) {
	p, name := r.props(), r.text("name")
	priority := p.number("priority")
	if !strings.HasPrefix(name, rulePrefix) || priority < firstPriority || priority > lastPriority || !strings.EqualFold(p.text("direction"), "Inbound") {
		return Access{}, false
	}
	a := Access{Protocol: p.text("protocol"), Family: ipv4}
	if strings.Contains(name, "_"+ipv6) {
		a.Family = ipv6
	}
	if strings.HasPrefix(name, denyPrefix) {
		a.Deny, a.Rule = true, denyName(a.Family)
		return a, strings.EqualFold(p.text("access"), "Deny")
	}
	a.Sources, a.Ports = prefixes(r, "sourceAddressPrefix"), portsOf(p)
	for _, port := range a.Ports {
		if strings.ContainsAny(port, "-*") {
			return Access{}, false
		}
	}
	slices.Sort(a.Sources)
	slices.Sort(a.Ports)
	a.Rule = allowName(a.Family, a.Protocol, a.Sources, a.Ports)
	return a, strings.EqualFold(p.text("access"), "Allow")
}

func portsOf(p Object) []string {
	out := p.texts("destinationPortRanges")
	if one := p.text("destinationPortRange"); one != "" {
		out = append(out, one)
	}
	return out
}

// prefixes is a field that has a singular and a plural form.
func prefixes(r Object, field string) []string {
	out := r.props().texts(field + "es")
	if one := r.props().text(field); one != "" {
		out = append(out, one)
	}
	return out
}

func destinations(r Object) []string { return prefixes(r, "destinationAddressPrefix") }

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
	p.setTexts("destinationAddressPrefixes", list)
}

// AccessSeeker is whose entries are looked for in a security group.
type AccessSeeker struct {
	Own    map[string]bool // addresses that only this Service has
	Shared map[string]bool // addresses that it has with other Services
	Nodes  map[string]bool // addresses of nodes
	InUse  map[string]bool // every address that is somebody's, those above included
	Asked  map[string]bool // addresses that the scope asked for
	Rules  []Rule          // that the Service has, with the address in place of the frontend's name
}

// seekerOf gathers the addresses of the Service with the base name.
func seekerOf(base string, entries []Entries, balancers []FoundBalancer, publicIPs []FoundIP, nodes, asked []string, owner stack.Owner) AccessSeeker {
	s := AccessSeeker{Own: map[string]bool{}, Shared: map[string]bool{}, Nodes: map[string]bool{}, InUse: map[string]bool{}, Asked: map[string]bool{}}
	for _, ip := range publicIPs {
		s.InUse[ip.Address] = true
		if slices.Contains(ip.Services, serviceKey(owner)) {
			s.have(ip.Address, len(ip.Services) > 1)
		}
	}
	for _, lb := range balancers {
		for _, f := range lb.Frontends {
			s.InUse[f.Address] = true
			mine := ownedBy(base, f.Name) || slices.ContainsFunc(f.Users, func(r string) bool { return ownedBy(base, r) })
			if mine {
				s.have(f.Address, !ownedBy(base, f.Name) || slices.ContainsFunc(f.Users, func(r string) bool { return !ownedBy(base, r) }))
			}
		}
	}
	for _, e := range entries {
		for _, r := range e.Rules {
			for _, f := range e.Frontends {
				if strings.EqualFold(f.Name, r.Frontend) {
					r.Frontend = f.Address
				}
			}
			s.Rules = append(s.Rules, r)
		}
	}
	for _, n := range nodes {
		s.Nodes[n], s.InUse[n] = true, true
	}
	for _, a := range asked {
		s.Asked[a] = true
	}
	return s
}

func (s AccessSeeker) have(address string, shared bool) {
	if address == "" {
		return
	}
	if shared || s.Shared[address] {
		s.Shared[address] = true
		delete(s.Own, address)
		return
	}
	s.Own[address] = true
}

// accessOf lists the entries of a security group that concern the Service.
func accessOf(c Config, nsg Object, who AccessSeeker) []stack.Resource {
	var out []stack.Resource
	in := securityKey(c.securityGroup(), c.Security)
	seen := map[stack.Key]bool{}
	for _, r := range nsg.props().list(listSecurity) {
		a, ok := contentOf(r)
		if !ok {
			continue
		}
		a.Group, a.Security = c.securityGroup(), c.Security
		for _, d := range destinations(r) {
			a.Destination = canonical(d)
			key := accessKey(a.Rule, a.Destination)
			proof, concerns := who.proof(a)
			a.Alone = who.Own[a.Destination]
			if concerns && !seen[key] {
				seen[key] = true
				out = append(out, stack.Resource{Key: key, ID: r.text("id"), In: in, Hold: stack.Counted, Proof: proof, Spec: a})
			}
		}
	}
	return out
}

// proof tells why an entry is the Service's to remove, once nobody wants it. An
// address that is nobody's any more is left over, as what the official controller
// takes out of its rules at every change.
func (s AccessSeeker) proof(a Access) (stack.Proof, bool) {
	d := a.Destination
	if _, err := netip.ParseAddr(d); err != nil {
		return stack.None, false
	}
	switch {
	case s.Own[d], s.Shared[d] && (a.Deny || s.serves(a)), s.Nodes[d] && s.serves(a), !s.InUse[d]:
		return stack.Derived, true
	}
	return stack.None, s.Asked[d]
}

// serves tells whether a rule of the Service needs the entry: on a frontend for
// its port, or on nodes for its node port.
func (s AccessSeeker) serves(a Access) bool {
	return slices.ContainsFunc(s.Rules, func(r Rule) bool {
		port := r.FrontendPort
		if s.Nodes[a.Destination] {
			port = r.BackendPort
		} else if r.Frontend != a.Destination {
			return false
		}
		protocol := r.Protocol == protocolAll || a.Protocol == "*" || strings.EqualFold(r.Protocol, a.Protocol)
		return protocol && (port == 0 || slices.Contains(a.Ports, string(number(port))))
	})
}

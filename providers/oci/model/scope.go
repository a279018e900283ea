package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// Ways to look resources up. A load balancer is looked up by the OCID of the
// compartment (By) and its display name (Value).
const (
	ByOwner = "owner" // by what a name or description says of the Service
	ByID    = "id"
	// ByWanted says that rules are wanted where the Service's load balancer is to be.
	ByWanted = "wanted"
)

// OwnedScope says where anything that the Service may own can be found.
func OwnedScope(id Identity) providers.Scope {
	out := providers.Scope{Owner: id.Owner}
	for _, c := range searchCompartments(id) {
		for _, p := range Products() {
			out.Own = append(out.Own, providers.Lookup{Kind: p.Balancer, By: c, Value: BalancerName(p, id.Config.Prefix, id.Owner)})
		}
		out.Own = append(out.Own, providers.Lookup{Kind: KindGroup, By: c, Value: id.Owner.UID})
	}
	for _, p := range Products() {
		if keepsLists(id, p) {
			out.Own = append(out.Own, providers.Lookup{Kind: KindEntry, By: ByOwner, Value: p.Name})
		}
	}
	if groups, err := backendGroupsKey.Forms[0].Type.Parse(id.Places[backendGroupsKey.Name]); err == nil {
		for _, g := range groups {
			out.Own = append(out.Own, providers.Lookup{Kind: KindGroupRules, By: ByID, Value: g})
		}
	}
	// Remains of a Service are deleted even if its ServiceAccount was deleted first, as
	// happens when a namespace is deleted.
	if name, err := accountKey.Forms[0].Type.Parse(id.Places[accountKey.Name]); err == nil {
		out.Facts = append(out.Facts, providers.Lookup{Kind: FactAccount, By: ByOwner, Value: name})
	}
	return out
}

// keepsLists reports whether rules for load balancers of a product may belong to the
// Service. In a mode that manages no rules, existing rules belong to others, however
// similar they are. Rules that were created before a Service switched to such a mode are
// therefore retained.
func keepsLists(id Identity, p Product) bool {
	switch strings.ToUpper(id.Places[ruleModeKey.Name]) {
	case "SL-ALL", "SL-FRONTEND":
		return true
	case modeGroup, "NONE":
		return false
	}
	if p.Name == NLB {
		said := id.Places[netListModeKey.Name]
		return said == modeAll || said == modeFrontend
	}
	return cmp.Or(id.Places[listModeKey.Name], id.Config.listMode()) != modeNone
}

// searchCompartments returns the compartments in which a resource of a Service can be,
// the configured one first. A text that is no identifier names none.
func searchCompartments(id Identity) []string {
	said, err := compartmentKey.Forms[0].Type.Parse(id.Places[compartmentKey.Name])
	if err != nil {
		said = ""
	}
	out := []string{cmp.Or(said, id.Config.Compartment)}
	if c := id.Config.Compartment; c != "" && c != out[0] {
		out = append(out, c)
	}
	return out
}

// OnDelete are the annotations that say where something of a Service is.
func OnDelete() []string {
	return []string{accountKey.Name, compartmentKey.Name, backendGroupsKey.Name, ruleModeKey.Name, listModeKey.Name, netListModeKey.Name}
}

// Scope says what Build must know besides.
func Scope(in Input) (providers.Scope, error) {
	id := in.Identity
	id.Places = map[string]string{}
	for _, key := range OnDelete() {
		id.Places[key] = in.Service.Annotations[key]
	}
	s := OwnedScope(id)
	s.Nodes = in.Backends.Nodes
	ask := func(kind stack.Kind, by, value string) {
		if l := (providers.Lookup{Kind: kind, By: by, Value: value}); value != "" && !slices.Contains(s.Facts, l) {
			s.Facts = append(s.Facts, l)
		}
	}
	for i := range s.Facts {
		s.Facts[i].By = ByWanted // the ServiceAccount is needed
	}
	ask(FactCompartment, ByID, compartmentKey.Get(in.Values))
	first, second := subnetsAsked(in)
	ask(FactSubnet, ByID, first)
	ask(FactSubnet, ByID, second)
	for _, g := range slices.Concat(keyForKind(in, groupsKey, netGroupsKey), backendGroupsKey.Get(in.Values)) {
		ask(FactGroup, ByID, g)
	}
	scopeRules(in, &s, ask)
	scopeAddresses(in, first, second, ask)
	return s, nil
}

// scopeRules adds what the management of security rules must know.
func scopeRules(in Input, s *providers.Scope, ask func(kind stack.Kind, by, value string)) {
	if ruleMode(in) == modeGroup {
		ask(FactOwnGroup, ByWanted, in.Identity.Owner.UID)
	}
	if kept := ruleMode(in); kept == modeAll || kept == modeFrontend {
		s.Own = append(s.Own, providers.Lookup{Kind: KindEntry, By: ByWanted})
	}
	if ruleMode(in) == modeAll {
		ask(FactMachines, ByID, compartmentOf(in))
	}
}

// scopeAddresses adds the reserved addresses, and those of the subnets.
func scopeAddresses(in Input, first, second string, ask func(kind stack.Kind, by, value string)) {
	addresses, where := addressesAsked(in)
	for _, ip := range addresses {
		if isOfSubnet := isV6(ip) || where == reservedPrivateKey.Name && !strings.HasPrefix(ip, privateIPPrefix); !isOfSubnet {
			ask(FactAddress, ByID, ip)
			continue
		}
		for _, subnet := range []string{first, second} {
			if subnet != "" {
				ask(FactAddress, subnet, ip)
			}
		}
	}
}

// ScopeForCreate is Scope for a Service for which nothing was ever made: a group and rules come
// with a load balancer. One of the product that is asked for is looked for, because a
// second one of its name could be made; of the other one none will be.
func ScopeForCreate(in Input) (providers.Scope, error) {
	s, err := Scope(in)
	grouped := ruleMode(in) == modeGroup
	s.Own = slices.DeleteFunc(s.Own, func(l providers.Lookup) bool {
		for _, p := range Products() {
			if p.Name != in.Kind && (l.Kind == p.Balancer || l.Kind == KindEntry && l.By == ByOwner && l.Value == p.Name) {
				return true
			}
		}
		return l.Kind == KindGroup && !grouped
	})
	return s, err
}

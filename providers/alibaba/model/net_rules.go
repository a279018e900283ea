package model

import (
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// netBalancerRule returns the rule of network load balancers.
func netBalancerRule() diff.Rule {
	return diff.Rule{
		Fields: diff.Fields{
			// Build refuses a change of these before anything is written. The cloud chooses the host name.
			Ignore: []string{"IPVersion", "VPC", "Group", "Host", "Protected", "Locked"},
			Sticky: []string{"Name", "AddressType", "IPv6Type", "CrossZone"},
			Subset: []string{"Tags"},
			Sets:   map[string]diff.Set{"Security": {Whole: true}},
			Equal:  map[string]diff.Equal{"Zones": hasZones},
			Parts: map[string]string{
				"Name": PartAttribute, "CrossZone": PartAttribute, "AddressType": PartAddress, "Zones": PartZones,
				"IPv6Type": PartIPv6, "Package": PartPackage, "Tags": PartTags, "Returned": PartReturn,
			},
		},
		Clash:   diff.Doubled,
		Failed:  diff.Remake,
		Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
	}
}

// netAttributesRule returns the rule of what a Service sets on a network load balancer of others.
func netAttributesRule() diff.Rule {
	rule := netBalancerRule()
	rule.Within = diff.Within{Inherent: true}
	rule.Role, rule.Clash, rule.Impact = 0, diff.Refused, nil
	return rule
}

// serverGroupRule returns the rule of server groups, which belong to no load balancer.
func serverGroupRule() diff.Rule {
	return diff.Rule{
		Traffic: diff.Traffic{Role: diff.Members, FollowsBackends: true, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
		Fields: diff.Fields{
			Immutable: []string{"Protocol", "Type", "IPVersion", "AnyPort"},
			Ignore:    []string{"Shared", "Group"},
			Sets:      map[string]diff.Set{"Servers": {Whole: true}},
			Equal:     map[string]diff.Equal{"Settings": hasWords},
			Parts:     map[string]string{"Name": PartSettings, "Settings": PartSettings, "Returned": PartReturn},
		},
		Clash: diff.Doubled,
	}
}

// netListenerRule returns the rule of listeners of network load balancers.
func netListenerRule() diff.Rule {
	return diff.Rule{
		Traffic: diff.Traffic{Role: diff.Port, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Brief}},
		Within:  diff.Within{Cascade: true},
		Fields: diff.Fields{
			Immutable: []string{"Protocol", "Port", "End"},
			Sets:      map[string]diff.Set{"More": {Whole: true}},
			Parts:     map[string]string{"Running": PartStart},
			Equal:     map[string]diff.Equal{"Settings": hasWords},
		},
		Replace: diff.DeleteFirst, // a port has one listener
		Restore: true,
	}
}

// securityGroupRule returns the rule of the security group of a Service. It is joined in the step that
// creates the load balancer, so no listener exists without it.
func securityGroupRule() diff.Rule {
	return diff.Rule{
		Traffic: diff.Traffic{Role: diff.Admits},
		Fields: diff.Fields{
			Ignore: []string{"Group"},
			Sets:   map[string]diff.Set{"Ranges": {Whole: true}},
			Parts:  map[string]string{"Name": PartAttribute, "Description": PartAttribute},
		},
		Clash: diff.Doubled,
	}
}

// hasWords reports what hasSettings does, for an API that ignores the case of words.
func hasWords(want, have any) bool { return hasSettings(lowerWords(want), lowerWords(have)) }

func lowerWords(settings any) map[string]string {
	given, _ := settings.(map[string]string)
	out := map[string]string{}
	for name, value := range given {
		out[name] = strings.ToLower(value)
	}
	return out
}

// netEdges orders what limits the clients of a load balancer before new ports, and what admits more clients after
// the deletion of ports.
func netEdges() []diff.Edge {
	var out []diff.Edge
	var opens, closes []diff.Match
	for _, part := range []struct {
		name  string
		opens func(NetBalancer) bool
	}{
		{PartSecurity, func(b NetBalancer) bool { return len(b.Security) == 0 }},
		{PartAddress, func(b NetBalancer) bool { return b.AddressType == netInternet }},
		{PartIPv6, func(b NetBalancer) bool { return b.IPv6Type == netInternet }},
	} {
		update := func(opens bool) diff.Match {
			return diff.Match{Action: plan.Update, Kind: KindNetBalancer, Part: part.name, Where: func(r stack.Resource) bool {
				b, ok := r.Spec.(NetBalancer)
				return ok && part.opens(b) == opens
			}}
		}
		opens, closes = append(opens, update(true)), append(closes, update(false))
		out = append(out,
			diff.Edge{First: update(false), Then: diff.Match{Action: plan.Create, Kind: KindNetListener}, Same: true, Reason: "a new port is not open to clients that the load balancer is not to admit"},
			diff.Edge{First: diff.Match{Action: plan.Delete, Kind: KindNetListener}, Then: update(true), Same: true, Reason: "a port that closes is not opened to more clients before"})
	}
	for i, first := range closes {
		for j, then := range opens {
			if i != j {
				out = append(out, diff.Edge{First: first, Then: then, Reason: "clients are limited in one way before more are admitted in another"})
			}
		}
	}
	return out
}

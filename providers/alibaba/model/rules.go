package model

import (
	"maps"
	"slices"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Parts of updates that are calls of their own.
const (
	PartName     = "name"
	PartCharge   = "charge"
	PartInternet = "internet"
	PartDelete   = "delete-protection"
	PartModify   = "modification-protection"
	PartTags     = "tags"
	PartReturn   = "return"
	PartServers  = "servers"
	PartStart    = "start"

	PartAddress   = "address-type"
	PartZones     = "zones"
	PartSecurity  = "security"
	PartIPv6      = "ipv6-address-type"
	PartPackage   = "bandwidth-package"
	PartSettings  = "settings"
	PartMore      = "more"
	PartRanges    = "ranges"
	PartAttribute = "attributes"
)

// Rules returns how resources of every kind are compared and written.
func Rules() diff.Rules {
	return diff.Rules{
		Kinds: map[stack.Kind]diff.Rule{
			KindNetBalancer:   netBalancerRule(),
			KindNetAttributes: netAttributesRule(),
			KindServerGroup:   serverGroupRule(),
			KindNetListener:   netListenerRule(),
			KindSecurityGroup: securityGroupRule(),
			KindBalancer:      balancerRule(),
			KindAttributes:    attributesRule(),
			KindDomain: {
				Within: diff.Within{Cascade: true},
				Fields: diff.Fields{Immutable: []string{"Name"}},
				Clash:  diff.Doubled,
			},
			KindList:   {},
			KindPublic: {},
			KindGroup: {
				Traffic: diff.Traffic{Role: diff.Members, FollowsBackends: true, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
				Within:  diff.Within{Cascade: true},
				Clash:   diff.Doubled,
				Fields:  diff.Fields{Sets: map[string]diff.Set{"Servers": {Whole: true}}, Ignore: []string{"Shared"}},
			},
			KindListener: {
				Traffic: diff.Traffic{Role: diff.Port, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Brief}},
				Within:  diff.Within{Cascade: true},
				Fields: diff.Fields{
					Immutable: []string{"Protocol", "Port", "Forward"},
					Parts:     map[string]string{"Running": PartStart},
					Equal:     map[string]diff.Equal{"Settings": hasSettings},
				},
				Replace: diff.DeleteFirst, // a port has one listener of TCP
				Restore: true,
			},
		},
		Edges: netEdges(),
		Lock:  lockBalancer,
	}
}

// balancerRule returns the rule of load balancers.
func balancerRule() diff.Rule {
	return diff.Rule{
		Fields: diff.Fields{
			// Build refuses a change of these before anything is written.
			Ignore: []string{"AddressType", "NetworkType", "IPVersion", "VPC", "VSwitch", "Address", "Zone", "Backup", "Group"},
			Sticky: []string{"Name", "ChargeType", "Size", "TrafficCharge", "Bandwidth", "DeleteProtection", "ModificationProtection"},
			Subset: []string{"Tags"},
			Parts: map[string]string{
				"Name": PartName, "ChargeType": PartCharge, "Size": PartCharge, "TrafficCharge": PartInternet, "Bandwidth": PartInternet,
				"DeleteProtection": PartDelete, "ModificationProtection": PartModify, "Tags": PartTags, "Returned": PartReturn,
			},
		},
		Clash:   diff.Doubled,
		Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"delete": plan.Interrupts}},
	}
}

// attributesRule returns the rule of what a Service sets on a load balancer of others.
func attributesRule() diff.Rule {
	rule := balancerRule()
	rule.Within = diff.Within{Inherent: true}
	rule.Role, rule.Clash, rule.Impact = 0, diff.Refused, nil
	return rule
}

// hasSettings reports whether a listener has the desired settings. Others are those of the cloud
// or of the user.
func hasSettings(want, have any) bool {
	asked, _ := want.(map[string]string)
	found, _ := have.(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if asked[name] != found[name] {
			return false
		}
	}
	return true
}

// lockBalancer allows one change at a time in a load balancer.
func lockBalancer(_ stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string {
	key := r.Key
	switch {
	case r.Key.Kind == KindDomain: // a part of a listener
		key = balancerKey()
	case r.In != (stack.Key{}):
		key = r.In
	}
	if key.Kind == KindSecurityGroup {
		return nil
	}
	if lb, ok := found(key); ok && lb.ID != "" {
		return []string{"load balancer " + lb.ID}
	}
	return nil
}

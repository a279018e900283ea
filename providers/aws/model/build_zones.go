package model

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// reportZones warns about targets in zones in which the load balancer has no subnet: AWS
// registers them, and sends them nothing, with and without cross-zone load balancing.
// Source: User Guide for Network Load Balancers, "Availability Zones".
func (b *builder) reportZones(mappings []Mapping) {
	enabled := map[string]bool{}
	for _, m := range mappings {
		enabled[b.zoneOf(func(s Subnet) bool { return s.ID == m.Subnet })] = true
	}
	if len(mappings) == 0 || enabled[""] {
		return // a subnet that AWS does not list
	}
	idle, zones := map[string]bool{}, []string(nil)
	for _, targets := range stack.Each[Targets](b.out, KindTargets) {
		for _, t := range targets.Targets {
			if zone := b.targetZone(t); zone != "" && !enabled[zone] && !idle[t.ID] {
				idle[t.ID] = true
				zones = append(zones, zone)
			}
		}
	}
	if len(idle) == 0 {
		return
	}
	b.report(annotations.ProblemOf("zones", strings.Join(sortedSet(zones), ", "), "have no subnet of the load balancer, so targets there get no traffic: "+shortList(sortedKeys(idle)),
		"a subnet of each zone in "+subnetsKey.Name, annotations.Warning))
}

// targetZone is the zone of an instance, or of the subnet of a pod's address; empty if it is not
// known.
func (b *builder) targetZone(t Target) string {
	if t.Zone == ZoneOutside {
		return ""
	}
	addr, err := netip.ParseAddr(t.ID)
	if err != nil {
		return b.facts.Instances[t.ID].Zone
	}
	return b.zoneOf(func(s Subnet) bool { return s.holds(addr) })
}

func (b *builder) zoneOf(is func(Subnet) bool) string {
	if i := slices.IndexFunc(b.facts.Subnets, is); i >= 0 {
		return b.facts.Subnets[i].Zone
	}
	return ""
}

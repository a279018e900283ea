package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// chooseSubnets chooses the subnets of a new load balancer, in the order in which
// addresses are given to them: that of the annotation, or that of the zones.
func chooseSubnets(in input, facts *Facts, internal bool) ([]Subnet, annotations.Problems) {
	if names, from, ok := subnetsKey.Lookup(in.Values); ok {
		return namedSubnets(names, from, facts)
	}
	found := discoverSubnets(facts, internal)
	if len(found) == 0 {
		return nil, annotations.Problems{noSubnets(facts, internal)}
	}
	return found, nil
}

// namedSubnets finds subnets by id or by the tag Name. The number found must be
// the number asked for, so a name that two subnets carry is refused as well.
func namedSubnets(names []string, from annotations.Origin, facts *Facts) ([]Subnet, annotations.Problems) {
	var out []Subnet
	var problems annotations.Problems
	for _, name := range names {
		var hits []Subnet
		for _, s := range facts.Subnets {
			if s.ID == name || !strings.HasPrefix(name, "subnet-") && s.Name == name {
				hits = append(hits, s)
			}
		}
		switch len(hits) {
		case 1:
			out = append(out, hits[0])
		case 0:
			problems = append(problems, refuseValue(from, fmt.Sprintf("names %q, which is no subnet of %s", name, facts.VPC), "ids or names of subnets of the VPC")...)
		default:
			problems = append(problems, refuseValue(from, fmt.Sprintf("names %q, which is the name of %d subnets", name, len(hits)), "ids, where names are not unique")...)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	zones := map[string]string{}
	for _, s := range out {
		if other, taken := zones[s.Zone]; taken && s.Zone != "" && other != s.ID {
			problems = append(problems, refuseValue(from, fmt.Sprintf("names %s and %s, which are both in %s", other, s.ID, s.Zone), "one subnet in each zone")...)
		}
		zones[s.Zone] = s.ID
	}
	return slices.CompactFunc(out, func(a, b Subnet) bool { return a.ID == b.ID }), problems
}

// discoverSubnets chooses one subnet in each zone, ordered by zone: of the
// cluster's and unmarked ones (public ones only for a public load balancer), one
// with the tag of the role before one without, then one with the cluster's tag,
// then the lowest id. Local and wavelength zones are left out.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/aws.go (findELBSubnets).
func discoverSubnets(facts *Facts, internal bool) []Subnet {
	role := tagPublicRole
	if internal {
		role = tagInternalRole
	}
	best := map[string]Subnet{}
	for _, s := range clusterSubnets(facts) {
		if s.Zone == "" || !s.Public && !internal || s.ZoneType != "" && s.ZoneType != "availability-zone" {
			continue
		}
		if other, taken := best[s.Zone]; !taken || preferSubnet(s, other, role, facts.Cluster) {
			best[s.Zone] = s
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b Subnet) int { return cmp.Compare(a.Zone, b.Zone) })
}

// clusterSubnets are the subnets that carry the cluster's tag or no cluster's at all; if
// there are none, the one that the controller itself runs in.
func clusterSubnets(facts *Facts) []Subnet {
	var out []Subnet
	for _, s := range facts.Subnets {
		if facts.Cluster.Marks(s.Tags) || !anyClusterTag(s.Tags) {
			out = append(out, s)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, s := range facts.Subnets {
		if s.ID == facts.OwnSubnet {
			return []Subnet{s}
		}
	}
	return nil
}

// preferSubnet reports whether a is a better choice than b.
func preferSubnet(a, b Subnet, role string, cluster ClusterTag) bool {
	_, roleA := a.Tags[role]
	_, roleB := b.Tags[role]
	if roleA != roleB {
		return roleA
	}
	if markA, markB := cluster.Marks(a.Tags), cluster.Marks(b.Tags); markA != markB {
		return markA
	}
	return a.ID < b.ID
}

func anyClusterTag(tags Tags) bool {
	for key := range tags {
		if strings.HasPrefix(key, TagClusterPrefix) {
			return true
		}
	}
	return false
}

// noSubnets says why the discovery found nothing, and what to do.
func noSubnets(facts *Facts, internal bool) annotations.Problem {
	text := fmt.Sprintf("no subnet of %s fits a public load balancer: of %d subnets, %d are open to this cluster, and none of those has a route to an internet gateway",
		facts.VPC, len(facts.Subnets), len(clusterSubnets(facts)))
	if internal {
		text = fmt.Sprintf("no subnet of %s fits an internal load balancer: of %d subnets, %d are open to this cluster",
			facts.VPC, len(facts.Subnets), len(clusterSubnets(facts)))
	}
	if len(facts.Subnets) == 0 {
		text = "no subnet was found in " + facts.VPC
	}
	return annotations.ProblemOf(subnetsKey.Name, "", "is not set, and "+text, "a list of subnets, or subnets with the tag of the cluster", annotations.Error)
}

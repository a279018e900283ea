package model

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// subnets returns the ids of the subnets of the load balancer, sorted; none: a live one keeps
// what it has.
func (b *builder) subnets(live bool, existing []string) []string {
	asked, _, given := subnetsKey.Lookup(b.in.Values)
	zone := zoneKey.Get(b.in.Values)
	if live && !given && (zone == "" || b.areIn(existing, zone)) {
		return nil
	}
	var out []Subnet
	switch {
	case given:
		for _, text := range asked {
			if s, ok := b.subnetOf(text); ok {
				out = append(out, s)
			}
		}
	case b.in.Kind == NLB && !isPublic(b.in) && !live:
		b.problems = append(b.problems, ipTypeKey.Refusal(b.in.Values, "asks for a private network load balancer, which needs a subnet of its own in "+subnetsKey.Name, subnetsKey.Name+" with a subnet that no node is in"))
		return nil
	default:
		out = b.clusterSubnets(zone)
	}
	if b.in.Kind != ALB {
		return b.networkSubnets(out, live, existing, given)
	}
	return idsOf(out)
}

func idsOf(subnets []Subnet) []string {
	var out []string
	for _, s := range subnets {
		out = append(out, s.ID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// networkSubnets returns the subnets of a network load balancer, which cannot change: subnets
// that are asked for must be the ones of a live load balancer.
func (b *builder) networkSubnets(asked []Subnet, live bool, existing []string, given bool) []string {
	switch {
	case b.problems.Errors():
		return nil
	case live && given && !slices.Equal(idsOf(asked), existing):
		b.problems = append(b.problems, subnetsKey.Refusal(b.in.Values, immutable, strings.Join(existing, ", ")))
		return nil
	case live && !given:
		b.problems = append(b.problems, zoneKey.Refusal(b.in.Values, immutable, b.zoneOfSubnet(existing[0])))
		return nil
	case live:
		return nil
	case b.in.Kind == PrivatePath:
		return idsOf(asked)
	case given && !isPublic(b.in) && slices.Contains(b.in.Config.Subnets, asked[0].Name):
		b.problems = append(b.problems, subnetsKey.Refusal(b.in.Values, "is a subnet of the cluster, and a private network load balancer needs one of its own", "a subnet that no node is in"))
		return nil
	case given:
		return idsOf(asked)
	}
	return []string{b.quietestSubnet(asked).ID}
}

// areIn reports whether all subnets are in a zone: the official controller may have chosen
// others there than the configuration names.
func (b *builder) areIn(subnets []string, zone string) bool {
	return !slices.ContainsFunc(subnets, func(id string) bool { return b.zoneOfSubnet(id) != zone })
}

func (b *builder) zoneOfSubnet(id string) string {
	for _, s := range b.facts.Subnets {
		if s.ID == id {
			return s.Zone
		}
	}
	return ""
}

// quietestSubnet returns the subnet of a new network load balancer, which has one: of the
// zones with nodes that with the fewest network load balancers of the cluster, then the most
// nodes. Of equal ones the Service's UID decides, so that Services that are created at once
// spread.
func (b *builder) quietestSubnet(subnets []Subnet) Subnet {
	nodes, busy := map[string]int{}, map[string]int{}
	for n := range b.in.Backends.Nodes.All() {
		if isChosen(b.in, n) {
			nodes[zoneOf(n)]++
		}
	}
	for _, s := range b.facts.Subnets {
		busy[s.Zone] += b.facts.Networks[s.ID]
	}
	rank := func(zone string) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(b.in.Owner.UID + "/" + zone)) // never fails
		return h.Sum64()
	}
	empty := func(s Subnet) int { return rankOf(nodes[s.Zone] == 0) }
	return slices.MinFunc(subnets, func(x, y Subnet) int {
		return cmp.Or(empty(x)-empty(y), busy[x.Zone]-busy[y.Zone], nodes[y.Zone]-nodes[x.Zone], cmp.Compare(rank(x.Zone), rank(y.Zone)), strings.Compare(x.Name, y.Name))
	})
}

// subnetOf returns the subnet of the cluster's VPC that an annotation names.
func (b *builder) subnetOf(text string) (Subnet, bool) {
	var elsewhere bool
	for _, s := range b.facts.Subnets {
		if !s.IsNamed(text) {
			continue
		}
		if s.VPC == b.in.Config.VPC {
			return s, true
		}
		elsewhere = true
	}
	message := "is not the id, name or IPv4 range of a subnet"
	if elsewhere {
		message = "is a subnet of another VPC"
	}
	b.problems = append(b.problems, annotations.Problem{Key: subnetsKey.Name, Value: text, Message: message, Legal: "subnets of the VPC " + b.in.Config.VPC})
	return Subnet{}, false
}

// clusterSubnets returns the configured subnets, of one zone if it is not empty. Names are
// compared as a whole.
func (b *builder) clusterSubnets(zone string) []Subnet {
	var out []Subnet
	for _, s := range b.facts.Subnets {
		if s.VPC == b.in.Config.VPC && slices.Contains(b.in.Config.Subnets, s.Name) && (zone == "" || s.Zone == zone) {
			out = append(out, s)
		}
	}
	switch {
	case len(out) > 0:
	case zone != "":
		b.problems = append(b.problems, zoneKey.Refusal(b.in.Values, "has no subnet of the cluster", "a zone of one of "+strings.Join(b.in.Config.Subnets, ", ")))
	default:
		b.problems.Refuse("g2VpcSubnetNames", strings.Join(b.in.Config.Subnets, ","), "of the cloud configuration names no subnet of the VPC "+b.in.Config.VPC, "names of its subnets")
	}
	return out
}

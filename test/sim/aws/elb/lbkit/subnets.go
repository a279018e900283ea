package lbkit

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/network"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// minFree is how many free addresses a load balancer needs in each subnet.
// Source: Elastic Load Balancing user guides, "subnets for your load balancer".
const minFree = 8

// Subnets looks up and checks the subnets of a load balancer: each exists, all
// in one VPC, one per zone. Those in held were checked before and need no room.
func Subnets(dir network.Directory, ids, held []string) ([]network.Subnet, error) {
	out := make([]network.Subnet, 0, len(ids))
	zones := map[string]bool{}
	for _, id := range ids {
		s, ok := dir.Subnet(id)
		switch {
		case !ok:
			return nil, query.Errorf("SubnetNotFound", "The subnet ID '%s' does not exist", id)
		case len(out) > 0 && out[0].VPC != s.VPC:
			return nil, query.Errorf("InvalidConfigurationRequest", "All subnets must belong to the same VPC: '%s'", out[0].VPC)
		case zones[s.Zone]:
			return nil, query.Errorf("InvalidConfigurationRequest", "A load balancer cannot be attached to multiple subnets in the same Availability Zone")
		case s.FreeAddresses < minFree && !slices.Contains(held, id):
			return nil, query.Errorf("InvalidSubnet", "Not enough IP space available in %s. ELB requires at least %d free IP addresses in each subnet.", id, minFree)
		}
		zones[s.Zone] = true
		out = append(out, s)
	}
	return out, nil
}

// Groups checks the security groups of a load balancer: each exists, in its VPC.
func Groups(dir network.Directory, vpc string, ids []string) error {
	for _, id := range ids {
		g, ok := dir.Group(id)
		if !ok {
			return query.Errorf("InvalidSecurityGroup", "Security group '%s' does not exist", id)
		}
		if vpc != "" && g.VPC != vpc {
			return query.Errorf("InvalidConfigurationRequest", "One or more security groups are invalid")
		}
	}
	return nil
}

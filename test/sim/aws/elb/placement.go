package elb

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
)

// maxGroups is how many security groups one network interface takes.
// Source: Amazon VPC quotas.
const maxGroups = 5

// setGroups checks and sets the security groups, the default group when there are none.
func (c *call) setGroups(lb *loadBalancer, ids []string) error {
	if len(ids) > maxGroups {
		return configurationConflict("A load balancer can have at most %d security groups", maxGroups)
	}
	if g, ok := c.Dir.DefaultGroup(lb.VPC); ok && len(ids) == 0 {
		ids = []string{g.ID}
	}
	if err := lbkit.Groups(c.Dir, lb.VPC, ids); err != nil {
		return withStatus(err)
	}
	lb.Groups = slices.Clone(ids)
	lb.Source = sourceGroup{OwnerAlias: c.opt.Account, GroupName: "default"}
	if len(ids) > 0 {
		g, _ := c.Dir.Group(ids[0])
		lb.Source.GroupName = g.Name
	}
	return nil
}

type applySecurityGroupsInput struct {
	SecurityGroups []string `required:"true"`
	ofBalancer
}

func applySecurityGroups(c *call, lb *loadBalancer, in applySecurityGroupsInput) (any, error) {
	if len(in.SecurityGroups) == 0 {
		return nil, configurationConflict("At least one security group must be specified")
	}
	if err := c.setGroups(lb, in.SecurityGroups); err != nil {
		return nil, err
	}
	c.hold(lb)
	return struct{ SecurityGroups []string }{lb.Groups}, nil
}

type subnetList struct{ Subnets []string }

type changeSubnetsInput struct {
	Subnets []string `required:"true"`
	ofBalancer
}

func attachSubnets(c *call, lb *loadBalancer, in changeSubnetsInput) (any, error) {
	all := slices.Clone(lb.Subnets)
	for _, id := range in.Subnets {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	if err := c.place(lb, all); err != nil {
		return nil, err
	}
	c.hold(lb)
	return subnetList{lb.Subnets}, nil
}

func detachSubnets(c *call, lb *loadBalancer, in changeSubnetsInput) (any, error) {
	gone := in.Subnets
	rest, zones := []string{}, []string{}
	for i, id := range lb.Subnets {
		if !slices.Contains(gone, id) {
			rest, zones = append(rest, id), append(zones, lb.Zones[i])
		}
	}
	for _, id := range gone {
		if !slices.Contains(lb.Subnets, id) {
			return nil, configurationConflict("%s is not attached to the load balancer", id)
		}
	}
	if len(rest) == 0 {
		return nil, configurationConflict("The load balancer must have at least one subnet")
	}
	lb.Subnets, lb.Zones = rest, zones
	c.hold(lb)
	return subnetList{lb.Subnets}, nil
}

package elbv2

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

type limit struct{ Name, Max string }

func describeAccountLimits(c *call) (any, error) {
	marker, size := c.Paging()
	if err := c.Err(); err != nil {
		return nil, err
	}
	l := c.opt.Limits
	var all []limit
	for name, n := range map[string]int{
		"application-load-balancers":                              l.ApplicationLoadBalancers,
		"certificates-per-application-load-balancer":              l.Certificates,
		"certificates-per-network-load-balancer":                  l.Certificates,
		"condition-values-per-alb-rule":                           maxConditionValues,
		"condition-wildcards-per-alb-rule":                        maxConditionValues,
		"gateway-load-balancers":                                  100,
		"gateway-load-balancers-per-vpc":                          100,
		"geneve-target-groups":                                    100,
		"listeners-per-application-load-balancer":                 l.Listeners,
		"listeners-per-network-load-balancer":                     l.Listeners,
		"network-load-balancer-enis-per-vpc":                      l.Interfaces,
		"network-load-balancers":                                  l.NetworkLoadBalancers,
		"rules-per-application-load-balancer":                     l.Rules,
		"target-groups":                                           l.TargetGroups,
		"target-groups-per-action-on-application-load-balancer":   l.GroupsPerAction,
		"target-groups-per-action-on-network-load-balancer":       l.GroupsPerAction,
		"target-groups-per-application-load-balancer":             l.GroupsPerALB,
		"target-id-registrations-per-application-load-balancer":   1000,
		"targets-per-application-load-balancer":                   1000,
		"targets-per-availability-zone-per-gateway-load-balancer": 300,
		"targets-per-availability-zone-per-network-load-balancer": l.TargetsPerZone,
		"targets-per-network-load-balancer":                       l.TargetsPerLoadBalancer,
		"targets-per-target-group":                                l.TargetsPerGroup,
	} {
		all = append(all, limit{name, strconv.Itoa(n)})
	}
	slices.SortFunc(all, func(a, b limit) int { return strings.Compare(a.Name, b.Name) })
	page, next, err := lbkit.Page(all, func(l limit) string { return l.Name }, marker, size)
	if err != nil {
		return nil, err
	}
	return struct {
		Limits     query.Members[limit]
		NextMarker string `xml:",omitempty"`
	}{query.Members[limit]{Member: page}, next}, nil
}

type capacityAnswer struct {
	LastModifiedTime            string `xml:",omitempty"`
	DecreaseRequestsRemaining   int
	MinimumLoadBalancerCapacity *capacityUnits `xml:",omitempty"`
	CapacityReservationState    query.Members[zonalCapacity]
}

type capacityUnits struct{ CapacityUnits int }

type zonalCapacity struct {
	State                  stateView
	AvailabilityZone       string
	EffectiveCapacityUnits string
}

// decreases is how often a day capacity may be lowered; it is not counted here.
const decreases = 2

func (lb *loadBalancer) capacity() capacityAnswer {
	out := capacityAnswer{DecreaseRequestsRemaining: decreases}
	if !lb.CapacitySet.IsZero() {
		out.LastModifiedTime = stamp(lb.CapacitySet)
	}
	if lb.Capacity == 0 {
		return out
	}
	out.MinimumLoadBalancerCapacity = &capacityUnits{lb.Capacity}
	for _, z := range lb.Zones {
		share := strconv.FormatFloat(float64(lb.Capacity)/float64(len(lb.Zones)), 'f', -1, 64)
		out.CapacityReservationState.Member = append(out.CapacityReservationState.Member, zonalCapacity{stateView{Code: "provisioned"}, z.Zone, share})
	}
	return out
}

func describeCapacity(c *call) (any, error) {
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
	return lb.capacity(), nil
}

func modifyCapacity(c *call) (any, error) {
	reset := c.Flag("ResetCapacityReservation")
	var units *int
	if r := c.Within("MinimumLoadBalancerCapacity"); r != nil {
		units = r.Number("CapacityUnits", 0, 1<<30)
	}
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
	drop := reset != nil && *reset
	switch {
	case drop == (units != nil):
		return nil, query.Errorf("ValidationError", "You must specify either MinimumLoadBalancerCapacity or ResetCapacityReservation")
	case c.now.Before(lb.Created.Add(c.opt.Delays.Provisioning)):
		return nil, query.Errorf("OperationNotPermitted", "Capacity of load balancer '%s' cannot be modified while it is provisioning", lb.ARN)
	case drop:
		lb.Capacity = 0
	default:
		lb.Capacity = *units
	}
	lb.CapacitySet = c.now
	return lb.capacity(), nil
}

// poolPattern is the form of IPAM pool ids; source: service model.
var poolPattern = regexp.MustCompile(`^(ipam-pool-)[a-zA-Z0-9]+$`)

func readPool(r *lbkit.Reader) string {
	return r.Text("Ipv4IpamPoolId", lbkit.Length(0, 1000), lbkit.Matches(poolPattern))
}

func modifyIPPools(c *call) (any, error) {
	pool := ""
	if r := c.Within("IpamPools"); r != nil {
		pool = readPool(r)
	}
	drop := c.EachText("RemoveIpamPools", lbkit.OneOf("ipv4"))
	lb, err := c.loadBalancer()
	if err != nil {
		return nil, err
	}
	if lb.Type != typeApplication {
		return nil, invalid("IPAM pools are supported only for load balancers with type 'application'")
	}
	if len(drop) > 0 {
		lb.Pool = ""
	}
	if pool != "" {
		lb.Pool = pool
	}
	out := struct {
		IpamPools *poolView `xml:",omitempty"`
	}{}
	if lb.Pool != "" {
		out.IpamPools = &poolView{lb.Pool}
	}
	return out, nil
}

package elbv2

import (
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

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
		out.LastModifiedTime = formatTime(lb.CapacitySet)
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

package elbv2

import (
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type capacityAnswer struct {
	LastModifiedTime            string `xml:",omitempty"`
	DecreaseRequestsRemaining   int
	MinimumLoadBalancerCapacity *capacityUnits `xml:",omitempty"`
	CapacityReservationState    []zonalCapacity
}

type capacityUnits struct {
	CapacityUnits *int `range:"0..1073741824"`
}

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
	out.MinimumLoadBalancerCapacity = &capacityUnits{&lb.Capacity}
	for _, z := range lb.Zones {
		share := strconv.FormatFloat(float64(lb.Capacity)/float64(len(lb.Zones)), 'f', -1, 64)
		out.CapacityReservationState = append(out.CapacityReservationState, zonalCapacity{stateView{Code: "provisioned"}, z.Zone, share})
	}
	return out
}

type modifyCapacityInput struct {
	ResetCapacityReservation    bool
	MinimumLoadBalancerCapacity capacityUnits
	ofBalancer
}

func modifyCapacity(c *call, lb *loadBalancer, in modifyCapacityInput) (any, error) {
	units := in.MinimumLoadBalancerCapacity.CapacityUnits
	switch {
	case in.ResetCapacityReservation == (units != nil):
		return nil, query.Errorf("ValidationError", "You must specify either MinimumLoadBalancerCapacity or ResetCapacityReservation")
	case c.now.Before(lb.Created.Add(c.opt.Delays.Provisioning)):
		return nil, query.Errorf("OperationNotPermitted", "Capacity of load balancer '%s' cannot be modified while it is provisioning", lb.ARN)
	case in.ResetCapacityReservation:
		lb.Capacity = 0
	default:
		lb.Capacity = *units
	}
	lb.CapacitySet = c.now
	return lb.capacity(), nil
}

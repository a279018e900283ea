package oci

import (
	"math"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/rest"
)

// Limits are how much of a thing there may be; 0 is the default, and less than 0 none.
// Sources: Service Limits; API reference, CreateLoadBalancerDetails.
type Limits struct {
	LoadBalancers, NetworkLoadBalancers  int // of the compartment; by default as many as wanted
	Listeners, BackendSets, Backends     int // of a load balancer; 16, 16, 512
	NetworkListeners, NetworkBackendSets int // of a network load balancer; 50, 50
	NetworkBackends                      int // of a backend set of one; 512
	Groups                               int // of a load balancer, or a VNIC; 5
	ListRules                            int // of a security list, in each direction; 200
	GroupRules                           int // of a network security group; 120
	FreeformTags, DefinedTags            int // of a resource; 10, 64
	NetworkSecurityGroups                int // of the VCN; 1000
}

// DefaultLimits are those of a tenancy that has not asked for more.
func DefaultLimits() Limits { return Limits{}.orDefault() }

func (l Limits) orDefault() Limits {
	for at, value := range map[*int]int{
		&l.LoadBalancers: 1 << 20, &l.NetworkLoadBalancers: 1 << 20, &l.Listeners: 16, &l.BackendSets: 16, &l.Backends: 512,
		&l.NetworkListeners: 50, &l.NetworkBackendSets: 50, &l.NetworkBackends: 512, &l.Groups: 5, &l.ListRules: 200, &l.GroupRules: 120,
		&l.FreeformTags: 10, &l.DefinedTags: 64, &l.NetworkSecurityGroups: 1000,
	} {
		sim.Default(at, value)
		*at = max(*at, 0)
	}
	return l
}

// balancerLimits are those of the load balancers of one service.
type balancerLimits struct{ all, listeners, sets, ofSet, backends int }

// unlimited stands for a limit that a service does not have.
const unlimited = math.MaxInt

// limitRoutes are the calls about limits. Source: API reference, Limits, GetResourceAvailability.
func limitRoutes() []route {
	return []route{rest.Reads(apiLimits, "GetResourceAvailability", "/20190729/services/{service}/limits/{limit}/resourceAvailability", getAvailability)}
}

// readAvailability is the statement that allows them.
const readAvailability = "read resource-availability"

func getAvailability(v *visit) (any, error) {
	for _, p := range newProducts() {
		if p.quota == v.Params["service"]+"/"+v.Params["limit"] {
			used := len(v.State.All(p.table, nil))
			return rest.Object{"used": used, "available": max(0, p.limits(v.cloud.opt.Limits).all-used)}, nil
		}
	}
	return nil, notFound("limit", v.Params["limit"])
}

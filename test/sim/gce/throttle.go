package gce

import "github.com/berth-lb/berth/test/sim"

// RealThrottle gives buckets like the real rate quotas, for Control.Throttle.Set;
// a cloud starts without any. The real ones count per minute; here a minute's
// worth is the burst. Source: Compute Engine documentation, API rate quotas.
func RealThrottle() []sim.Bucket {
	bucket := func(name string, perMinute float64, operations ...string) sim.Bucket {
		return sim.Bucket{Name: name, Service: "compute", Operations: operations, Capacity: perMinute, Refill: perMinute / 60}
	}
	return []sim.Bucket{
		bucket("operations", 1500, "*Operations.get", "*Operations.wait", "*Operations.list"),
		bucket("health", 1200, "*.getHealth"),
		bucket("list", 1500, "*.list", "*.aggregatedList", "*.listInstances", "*.listNetworkEndpoints"),
		bucket("endpoints", 1500, "networkEndpointGroups.attach*", "networkEndpointGroups.detach*"),
		bucket("read", 1500, "*.get"),
		bucket("change", 1500),
	}
}

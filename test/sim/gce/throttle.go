package gce

import (
	"net/http"
	"strings"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// RealThrottle returns buckets like the real rate quotas, for Control.Throttle.Set; a cloud
// starts without any. They are filled up at every full minute, and are separate for global
// and regional calls; zones count to their region. Lists of all places and waits in regions
// and zones count as heavy reads.
// Source: docs.cloud.google.com/compute/api-quota (legacy quotas for global methods, for
// regional methods; it has no numbers any more, these are the last published ones).
func RealThrottle() []sim.Bucket {
	minute := func(name string, calls float64, operations ...string) sim.Bucket {
		return sim.Bucket{Name: name, Service: "compute", Operations: operations, Capacity: calls, Refill: calls / 60, WindowSeconds: 60}
	}
	global := func(methods ...string) (out []string) {
		for _, collection := range globalCollections() {
			for _, m := range methods {
				out = append(out, collection+"."+m)
			}
		}
		return out
	}
	return []sim.Bucket{
		minute("heavy-read", 1500, "regionOperations.wait", "zoneOperations.wait"),
		minute("global-heavy-read", 1500, "*.aggregatedList"),
		minute("global-operations", 1500, "globalOperations.*"),
		minute("operations", 1500, "*Operations.*"),
		minute("health", 1200, "*.getHealth"),
		minute("global-list", 1500, global("list")...),
		minute("list", 1500, "*.list", "*.listInstances"),
		minute("endpoints-list", 1500, "networkEndpointGroups.listNetworkEndpoints"),
		minute("endpoints-change", 1500, "networkEndpointGroups.attach*", "networkEndpointGroups.detach*"),
		minute("global-read", 1500, global("get")...),
		minute("read", 1500, "*.get"),
		minute("global-change", 1500, global("*")...),
		minute("change", 1500),
	}
}

// globalCollections are those whose resources are in no region.
func globalCollections() []string {
	return strings.Fields("backendServices firewalls globalAddresses globalForwardingRules healthChecks httpHealthChecks httpsHealthChecks images networks projects routes urlMaps")
}

// tooFast is the refusal of a call beyond a rate.
// Source: docs.cloud.google.com/compute/api-quota, rateLimitExceeded.
func (c *Cloud) tooFast(operation string) error {
	e := &wire.Error{
		Status: http.StatusForbidden, Reason: "rateLimitExceeded", Code: "RATE_LIMIT_EXCEEDED",
		Message: "Quota exceeded for quota group '" + operation + "' and limit 'Queries per minute' of service 'compute.googleapis.com'.",
	}
	if c.opt.TooMany {
		e.Status, e.Canonical = http.StatusTooManyRequests, "RESOURCE_EXHAUSTED"
	}
	return e
}

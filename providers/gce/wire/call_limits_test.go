package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/test/sim"
	simgce "github.com/berth-lb/berth/test/sim/gce"
)

// TestRateGroups: every call counts for the group that Google counts it for, and so does
// the simulator.
func TestRateGroups(t *testing.T) {
	const project = "https://compute.googleapis.com/compute/v1/projects/p/"
	for _, c := range []struct{ method, path, group, bucket string }{
		{http.MethodGet, "regions/r/forwardingRules/f", "read", "read"},
		{http.MethodGet, "regions/r/forwardingRules", "list", "list"},
		{http.MethodPost, "regions/r/forwardingRules", "write", "change"},
		{http.MethodPost, "zones/z/instanceGroups/g/listInstances", "list", "list"},
		{http.MethodPost, "zones/z/networkEndpointGroups/g/listNetworkEndpoints", "endpoint-list", "endpoints-list"},
		{http.MethodPost, "zones/z/networkEndpointGroups/g/attachNetworkEndpoints", "endpoint-write", "endpoints-change"},
		{http.MethodPost, "regions/r/operations/o/wait", "heavy-read", "heavy-read"},
		{http.MethodPost, "zones/z/operations/o/wait", "heavy-read", "heavy-read"},
		{http.MethodGet, "regions/r/operations/o", "operation", "operations"},
		{http.MethodPost, "global/operations/o/wait", "global-operation", "global-operations"},
		{http.MethodGet, "aggregated/instances", "global-heavy-read", "global-heavy-read"},
		{http.MethodGet, "global/firewalls/f", "global-read", "global-read"},
		{http.MethodGet, "global/firewalls", "global-list", "global-list"},
		{http.MethodPatch, "global/firewalls/f", "global-write", "global-change"},
		{http.MethodPost, "regions/r/backendServices/b/getHealth", "health", "health"},
	} {
		r, err := http.NewRequest(c.method, project+c.path, strings.NewReader(""))
		if err != nil {
			t.Fatal(err)
		}
		call := nameOf(r)
		if got := quotaOf(r, call.Operation); got != c.group {
			t.Errorf("%s: counts for %s, want %s", call.Operation, got, c.group)
		}
		if got := bucketIn(simgce.RealThrottle(), call.Operation); got != c.bucket {
			t.Errorf("%s: the simulator counts it for %s, want %s", call.Operation, got, c.bucket)
		}
	}
}

// bucketIn is the bucket that a call takes its token of.
func bucketIn(all []sim.Bucket, operation string) string {
	for _, b := range all {
		b.Capacity, b.Refill, b.WindowSeconds = 0, 0, 0
		var throttle sim.Throttle
		if err := throttle.Set(b); err != nil {
			return err.Error()
		}
		if taken := throttle.Take(sim.Call{Service: "compute", Operation: operation}, time.Unix(0, 0)); taken.Refused {
			return b.Name
		}
	}
	return ""
}

package oci

import "github.com/berth-lb/berth/test/sim"

// RealThrottle are rates like the official controller's own limits. Oracle publishes none
// for these APIs, only that beyond them the answer is 429 TooManyRequests.
// Source: oracle/oci-cloud-controller-manager:pkg/oci/client (20 calls a second, 5 at once).
func RealThrottle() []sim.Bucket {
	var out []sim.Bucket
	for _, api := range []string{apiLB, apiNLB, apiCore} {
		out = append(out,
			sim.Bucket{Name: api + " reads", Service: api, Operations: []string{"Get*", "List*"}, Capacity: 40, Refill: 20},
			sim.Bucket{Name: api + " writes", Service: api, Capacity: 40, Refill: 20},
		)
	}
	return out
}

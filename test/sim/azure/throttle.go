package azure

import (
	"net/http"
	"time"

	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// Layers of throttling: Resource Manager counts first and hands the call on to the
// resource provider, which counts for the subscription and, in Compute, for each
// resource.
const (
	layerManager  = "manager"
	layerProvider = "provider"
	layerResource = "resource"
)

// RealThrottle gives buckets like those of the real service, for
// Control.Throttle.Set; a cloud starts without any.
// Sources: learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling
// (regional token buckets of a subscription and a principal; network throttling in
// five minutes); learn.microsoft.com/azure/virtual-machines/compute-throttling-limits
// (policies per minute, for the subscription and for each resource).
func RealThrottle() []sim.Bucket {
	out := append(managerBuckets(),
		fiveMinutes("network-read", 10000, "*.Get*", "*.List*"),
		fiveMinutes("network-change", 1000),
	)
	return append(out, computeBuckets()...)
}

func managerBuckets() []sim.Bucket {
	bucket := func(name string, capacity, refill float64, operations ...string) sim.Bucket {
		return sim.Bucket{Name: name, Layer: layerManager, Operations: operations, Capacity: capacity, Refill: refill}
	}
	return []sim.Bucket{
		{Name: "logins", Layer: layerManager, Service: "login", Capacity: 1e9, Refill: 1e9}, // not Resource Manager's
		{Name: "metadata", Layer: layerManager, Service: "metadata", Capacity: 1e9, Refill: 1e9},
		bucket("reads", 250, 25, "*.Get*", "*.List*"),
		bucket("deletes", 200, 10, "*.Delete*"),
		bucket("writes", 200, 10),
	}
}

func fiveMinutes(name string, calls float64, operations ...string) sim.Bucket {
	return sim.Bucket{Name: name, Layer: layerProvider, Service: "network", Operations: operations, Capacity: calls, Refill: calls / 300, WindowSeconds: 300}
}

// computeBuckets are the policies with the operations that the simulator has.
func computeBuckets() []sim.Bucket {
	const machines, sets, instances = "VirtualMachines.", "VirtualMachineScaleSets.", "VirtualMachineScaleSetVMs."
	var out []sim.Bucket
	policy := func(layer, name string, refill, capacity float64, operations ...string) {
		b := sim.Bucket{Name: name, Layer: layer, Service: "compute", Operations: operations, Capacity: capacity, Refill: refill / 60}
		if layer == layerResource {
			b.Per, b.Name = sim.PerResource, name+"-each"
		}
		out = append(out, b)
	}
	both := func(name string, subscription, capacity, each, eachCapacity float64, operations ...string) {
		policy(layerProvider, name, subscription, capacity, operations...)
		policy(layerResource, name, each, eachCapacity, operations...)
	}
	both("get-vm", 8000, 24000, 12, 36, machines+"Get")
	policy(layerProvider, "list-vm", 300, 900, machines+"List*")
	both("delete-vm", 500, 1500, 4, 12, machines+"Delete")
	both("update-vm", 500, 1500, 4, 12, machines+"*")
	both("get-vmss", 800, 2400, 12, 36, sets+"Get")
	policy(layerProvider, "list-vmss", 360, 1080, sets+"List*")
	both("delete-vmss", 175, 525, 4, 12, sets+"Delete")
	both("update-vmss", 500, 1500, 4, 12, sets+"*")
	both("get-vmss-vm", 2000, 6000, 12, 36, instances+"Get*")
	both("delete-vmss-vm", 500, 1500, 4, 12, instances+"Delete")
	both("update-vmss-vm", 500, 1500, 4, 12, instances+"CreateOrUpdate", instances+"Update*", instances+"[a-z]*")
	return out
}

// bucketed is the call as the buckets see it.
func (v *visit) bucketed() sim.Call {
	c := sim.Call{Service: v.Service, Operation: v.Operation}
	if v.call != nil && v.Service == "compute" {
		c.Resource = arm.Key(v.request.Path)
	}
	return c
}

// maxRetryAfter is the longest time that a refusal tells to wait.
const maxRetryAfter = time.Hour

// refusal is 429 by the quota of the subscription or by a throttle bucket.
func (v *visit) refusal() *arm.Error {
	c := v.cloud
	if v.call != nil {
		if err := c.quota.take(v.request.Method, v.request.Now); err != nil {
			return err
		}
	}
	v.taken = c.Throttle.Take(v.bucketed(), c.clock.Now())
	if !v.taken.Refused {
		return nil
	}
	code := "TooManyRequests"
	if v.Service == "compute" {
		// Compute names its throttling like its refusals. Source: Azure documentation, troubleshooting API throttling errors of Compute.
		code = "OperationNotAllowed"
	}
	wait := int(min(v.taken.Wait, maxRetryAfter).Seconds())
	return &arm.Error{Status: http.StatusTooManyRequests, Code: code, Message: "The request is being throttled as the limit has been reached for operation type - " + v.Operation + ".", RetryAfter: max(c.opt.RetryAfter, wait)}
}

// remainingOfCompute is how many calls the policies of Compute leave: those for the
// subscription and those for the resource; without throttling as many as Resource
// Manager. Source: the page on Compute of RealThrottle, on the response headers.
func (v *visit) remainingOfCompute(manager int) int {
	least, throttled := 0, false
	for _, layer := range []string{layerProvider, layerResource} {
		if n, ok := v.taken.Left[layer]; ok && (!throttled || n < least) {
			least, throttled = n, true
		}
	}
	if !throttled {
		return manager
	}
	return least
}

// remaining is how many calls of a kind a header says are left: of Resource
// Manager's bucket where it throttles, else of the hour.
func (v *visit) remaining() (string, int) {
	kind, left := v.cloud.quota.left(v.request.Method)
	if n, throttled := v.taken.Left[layerManager]; throttled {
		return kind, n
	}
	if v.taken.Refused && v.taken.Left[layerManager] == 0 {
		return kind, 0
	}
	return kind, left
}

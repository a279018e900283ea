package baidu

import (
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// What a user does in the console, for tests.

// Balancers returns the ids of all load balancers.
func (c *Cloud) Balancers() []string {
	var out []string
	c.Locked(func() {
		for _, lb := range c.Live.All(balancers, nil) {
			out = append(out, lb.Text("id"))
		}
	})
	return out
}

// Balancer returns a load balancer; nil: it does not exist.
func (c *Cloud) Balancer(id string) (lb rest.Object) {
	c.Locked(func() { lb, _ = c.Live.Get(balancers, id) })
	return lb
}

// AddBalancer adds a load balancer of a kind without a public address.
func (c *Cloud) AddBalancer(kind, name string, tags map[string]string) (id string) {
	list := []any{}
	for key, value := range tags {
		list = append(list, rest.Object{"tagKey": key, "tagValue": value})
	}
	c.Locked(func() {
		id = c.Live.id("lb-")
		c.Live.Put(balancers, rest.Object{
			"id": id, "blbId": id, "name": name, "desc": "", "address": c.Live.address(10), "status": available, "vpcId": c.Seed.VPC, "subnetId": c.Seed.Subnets[0].ID,
			"publicIp": "", "tags": list, "allowDelete": true, kindOf: kind, family: "", made: c.Clock.Now().Add(-time.Hour).Format(time.RFC3339Nano), "servers": []any{},
		})
	})
	return id
}

// AddListener adds a listener without a policy.
func (c *Cloud) AddListener(lb, protocol string, port int) {
	c.AddNormalListener(lb, protocol, port, 0)
}

// AddNormalListener adds a listener with a port of the backends.
func (c *Cloud) AddNormalListener(lb, protocol string, port, backend int) {
	c.Locked(func() {
		c.Live.Put(listeners, rest.Object{
			"id": listenerID(lb, protocol, port), owner: lb, "listenerType": protocol, "listenerPort": port, "backendPort": backend, "scheduler": "RoundRobin",
			"healthCheckTimeoutInSecond": 3, "healthCheckInterval": 3, "unhealthyThreshold": 3, "healthyThreshold": 3,
		})
	})
}

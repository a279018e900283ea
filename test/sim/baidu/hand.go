package baidu

import (
	"fmt"
	"maps"
	"slices"
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
	c.Locked(func() {
		id = c.Live.id("lb-")
		c.Live.Put(balancers, rest.Object{
			"id": id, "blbId": id, "name": name, "desc": "", "address": c.Live.address(10), "status": available, "vpcId": c.Seed.VPC, "subnetId": c.Seed.Subnets[0].ID,
			"publicIp": "", "tags": tagObjects(tags), "allowDelete": true, kindOf: kind, family: "", made: c.Clock.Now().Add(-time.Hour).Format(time.RFC3339Nano), "servers": []any{},
		})
	})
	return id
}

// Double adds a copy of a load balancer, without its parts and its public address, that was created so long after it.
// It returns the id of the copy.
func (c *Cloud) Double(lb string, after time.Duration) (id string) {
	c.Locked(func() {
		o, _ := c.Live.Get(balancers, lb)
		id = c.Live.id("lb-")
		c.Live.Put(balancers, o.With(rest.Object{"id": id, "blbId": id, "address": c.Live.address(10), "publicIp": "", made: movedTime(o, after)}))
	})
	return id
}

// DoubleAddress adds a copy of a public address that is bound to nothing, bought so long after it. It returns the copy.
func (c *Cloud) DoubleAddress(address string, after time.Duration) (copied string) {
	c.Locked(func() {
		o, _ := c.Live.Get(addresses, address)
		copied = c.Live.address(180)
		c.Live.Put(addresses, o.With(rest.Object{
			"id": copied, "eip": copied, "eipId": c.Live.id("ip-"), "status": available, "instanceType": "", "instanceId": "", made: movedTime(o, after),
		}))
	})
	return copied
}

// movedTime returns the time of the creation of an object, moved by a while.
func movedTime(o rest.Object, by time.Duration) string {
	created, _ := time.Parse(time.RFC3339Nano, o.Text(made))
	return created.Add(by).Format(time.RFC3339Nano)
}

// SetTags replaces the tags of a load balancer.
func (c *Cloud) SetTags(lb string, tags map[string]string) {
	c.Locked(func() { c.Live.Change(balancers, lb, rest.Object{"tags": tagObjects(tags)}) })
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

// AddAddress adds a public address that is bound to a load balancer.
func (c *Cloud) AddAddress(lb, name string, tags map[string]string) (address string) {
	c.Locked(func() {
		address = c.Live.address(180)
		c.Live.Put(addresses, rest.Object{
			"id": address, "eip": address, "eipId": c.Live.id("ip-"), "name": name, "status": bound, "instanceType": "BLB", "instanceId": lb, "bandwidthInMbps": 100,
			"paymentTiming": "Postpaid", "billingMethod": "ByTraffic", "tags": tagObjects(tags),
		})
		c.Live.Change(balancers, lb, rest.Object{"publicIp": address})
	})
	return address
}

// tagObjects returns tags as the APIs have them.
func tagObjects(tags map[string]string) []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, rest.Object{"tagKey": key, "tagValue": tags[key]})
	}
	return out
}

// AddGroup adds a server group with instances.
func (c *Cloud) AddGroup(lb, name string, instances ...string) (id string) {
	members := []any{}
	for _, i := range instances {
		members = append(members, rest.Object{"instanceId": i, "weight": 100})
	}
	return c.addGroup(groups, "sg-", lb, name, members)
}

// AddPool adds a group of IP addresses with members at a port.
func (c *Cloud) AddPool(lb, name string, port int, ips ...string) (id string) {
	members := []any{}
	for n, ip := range ips {
		members = append(members, rest.Object{"memberId": fmt.Sprintf("ip-member-%s-%d", name, n), "ip": ip, "port": port, "weight": 100})
	}
	return c.addGroup(pools, "ip-group-", lb, name, members)
}

func (c *Cloud) addGroup(collection, prefix, lb, name string, members []any) (id string) {
	c.Locked(func() {
		id = c.Live.id(prefix)
		c.Live.Put(collection, rest.Object{"id": id, owner: lb, "name": name, "desc": "", "members": members})
	})
	return id
}

// Route adds a policy that sends a listener to a group, and the port of the group; 0 is that of an IP group.
func (c *Cloud) Route(lb, protocol string, port int, group string, backend int) {
	c.Locked(func() {
		check := rest.Object{"healthCheckTimeoutInSecond": 3, "healthCheckIntervalInSecond": 3, "healthCheckDownRetry": 3, "healthCheckUpRetry": 3}
		if protocol == "UDP" {
			check["udpHealthCheckString"] = "HealthCheck"
		}
		key := "appServerGroupId"
		if backend == 0 {
			key = "appIpGroupId"
		}
		c.Live.Put(targets, rest.Object{"id": c.Live.id("port-"), owner: lb, inside: group, "type": protocol, "port": backend}.With(check))
		c.Live.Put(policies, rest.Object{
			"id": c.Live.id("policy-"), owner: lb, inside: listenerID(lb, protocol, port), "portType": protocol, "frontendPort": port, key: group, "backendPort": backend, "desc": "", "priority": 1,
		})
	})
}

// AddBackends adds instances to a normal load balancer.
func (c *Cloud) AddBackends(lb string, instances ...string) {
	members := []any{}
	for _, i := range instances {
		members = append(members, rest.Object{"instanceId": i, "weight": 100})
	}
	c.Locked(func() { c.Live.Change(balancers, lb, rest.Object{"servers": members}) })
}

// Addresses returns all public addresses.
func (c *Cloud) Addresses() []string {
	var out []string
	c.Locked(func() {
		for _, a := range c.Live.All(addresses, nil) {
			out = append(out, a.Text("id"))
		}
	})
	return out
}

// DropAddress deletes a public address as its owner does.
func (c *Cloud) DropAddress(address string) {
	c.Locked(func() {
		if a, ok := c.Live.Get(addresses, address); ok {
			c.Live.Change(balancers, a.Text("instanceId"), rest.Object{"publicIp": ""})
		}
		c.Live.Drop(addresses, address)
	})
}

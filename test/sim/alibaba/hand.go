package alibaba

import (
	"fmt"
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

// AddListener adds a running listener without a server group to a load balancer.
func (c *Cloud) AddListener(lb, protocol string, port int, description string) {
	c.Locked(func() {
		c.Live.Put(listeners, rest.Object{
			"id": listenerID(lb, protocol, port), owner: lb, "ListenerPort": port, "ListenerProtocol": protocol, "Status": "running", "Description": description, "Scheduler": "wrr", "Bandwidth": -1,
			"settings": standardParams(protocol),
		})
	})
}

// listenerAt returns a listener of a load balancer.
func (c *Cloud) listenerAt(lb, protocol string, port int) (l rest.Object) {
	c.Locked(func() { l, _ = c.Live.Get(listeners, listenerID(lb, protocol, port)) })
	return l
}

// Description returns that of a listener.
func (c *Cloud) Description(lb, protocol string, port int) string {
	return c.listenerAt(lb, protocol, port).Text("Description")
}

// Setting returns the value of a parameter of a listener as a text.
func (c *Cloud) Setting(lb, protocol string, port int, name string) string {
	l := c.listenerAt(lb, protocol, port)
	if v, ok := l[name]; ok {
		return fmt.Sprint(v)
	}
	if v, ok := l.Object("settings")[name]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// changeServers replaces the servers of the groups of a name.
func (c *Cloud) changeServers(group string, change func([]any) []any) {
	c.Locked(func() {
		for _, g := range c.Live.Having(groups, "VServerGroupName", group) {
			c.Live.Put(groups, g.With(rest.Object{"servers": change(slices.Clone(g.List("servers")))}))
		}
	})
}

// AddServer adds a server with a description of the user to a group.
func (c *Cloud) AddServer(group, instance string, port int, description string) {
	c.changeServers(group, func(all []any) []any {
		return append(all, rest.Object{"ServerId": instance, "ServerIp": "", "Type": "ecs", "Port": port, "Weight": 100, "Description": description})
	})
}

// SetWeights gives all servers of a group a weight.
func (c *Cloud) SetWeights(group string, weight int) {
	c.changeServers(group, func(all []any) []any {
		for i, s := range all {
			server, _ := rest.AsObject(s)
			all[i] = server.With(rest.Object{"Weight": weight})
		}
		return all
	})
}

// ServersOf returns the servers of a group as instance:port.
func (c *Cloud) ServersOf(group string) []string {
	var out []string
	c.changeServers(group, func(all []any) []any {
		for _, s := range all {
			server, _ := rest.AsObject(s)
			port, _ := server.Number("Port")
			out = append(out, fmt.Sprintf("%s:%d", server.Text("ServerId"), port))
		}
		return all
	})
	slices.Sort(out)
	return out
}

// TagsOf returns the tags of a load balancer.
func (c *Cloud) TagsOf(lb string) (tags map[string]string) {
	c.Locked(func() {
		o, _ := c.Live.Get(balancers, lb)
		tags = tagsOf(o)
	})
	return tags
}

// Double adds a copy of a load balancer of either kind, without its parts, that was created so long after it.
// It returns the id of the copy.
func (c *Cloud) Double(lb string, after time.Duration) (id string) {
	c.Locked(func() {
		if o, classic := c.Live.Get(balancers, lb); classic {
			id = c.Live.id("lb-bp1")
			c.Live.Put(balancers, o.With(rest.Object{"id": id, "LoadBalancerId": id, "Address": fmt.Sprintf("47.98.0.%d", c.Live.made%250+1), "CreateTime": movedTime(o, "CreateTime", formClassic, after)}))
			return
		}
		o, _ := c.Live.Get(nets, lb)
		id = c.Live.id("nlb-")
		host := id + "." + c.opt.Region + ".nlb.aliyuncs.com"
		c.Live.Put(nets, o.With(rest.Object{"id": id, "LoadBalancerId": id, "DNSName": host, "SecurityGroupIds": []any{}, "CreateTime": movedTime(o, "CreateTime", formNet, after)}))
	})
	return id
}

// movedTime returns a time of an object, moved by a while.
func movedTime(o rest.Object, name, form string, by time.Duration) string {
	created, _ := time.Parse(form, o.Text(name))
	return created.Add(by).Format(form)
}

// Untag removes a tag of a load balancer of either kind.
func (c *Cloud) Untag(lb, key string) {
	without := func(tags []any) []any {
		return slices.DeleteFunc(slices.Clone(tags), func(t any) bool {
			tag, _ := rest.AsObject(t)
			return tag.Text("TagKey")+tag.Text("Key") == key
		})
	}
	c.Locked(func() {
		if o, classic := c.Live.Get(balancers, lb); classic {
			c.Live.Put(balancers, o.With(rest.Object{"Tags": rest.Object{"Tag": without(o.Object("Tags").List("Tag"))}}))
		}
		if o, isNet := c.Live.Get(nets, lb); isNet {
			c.Live.Put(nets, o.With(rest.Object{"Tags": without(o.List("Tags"))}))
		}
	})
}

// AddBalancer creates a load balancer as a user does in the console, and returns its id.
func (c *Cloud) AddBalancer(name, addressType string) (id string) {
	c.Locked(func() { id = c.Live.userBalancer(c.opt.Region, name, addressType) })
	return id
}

func (s *state) userBalancer(region, name, addressType string) string {
	id := s.id("lb-bp1")
	s.Put(balancers, rest.Object{
		"id": id, "LoadBalancerId": id, "LoadBalancerName": name, "LoadBalancerStatus": "active", "RegionId": region, "PayType": "PayOnDemand", "ResourceGroupId": "rg-acfdefault",
		"AddressType": addressType, "AddressIPVersion": "ipv4", "NetworkType": "vpc", "Address": fmt.Sprintf("47.97.0.%d", s.made%250+1), "VpcId": "", "VSwitchId": "", "MasterZoneId": region + "-h",
		"SlaveZoneId": region + "-i", "InstanceChargeType": "PayByCLCU", "InternetChargeType": "paybytraffic", "LoadBalancerSpec": "", "Bandwidth": 0,
		"DeleteProtection": "off", "ModificationProtectionStatus": "NonProtection", "Tags": rest.Object{"Tag": []any{}},
	})
	return id
}

// AddGroup creates an empty server group of a user, and returns its id.
func (c *Cloud) AddGroup(lb, name string) (id string) {
	c.Locked(func() { id = c.Live.userGroup(lb, name) })
	return id
}

func (s *state) userGroup(lb, name string) string {
	id := s.id("rsp-bp1")
	s.Put(groups, rest.Object{"id": id, "VServerGroupId": id, "VServerGroupName": name, owner: lb, "servers": []any{}})
	return id
}

// UseGroup has a listener use a server group.
func (c *Cloud) UseGroup(lb, protocol string, port int, group string) {
	c.Locked(func() {
		c.Live.Change(listeners, listenerID(lb, protocol, port), rest.Object{"VServerGroupId": group})
	})
}

// Tag gives a load balancer a tag.
func (c *Cloud) Tag(lb, key, value string) {
	c.Locked(func() {
		o, _ := c.Live.Get(balancers, lb)
		c.Live.Put(balancers, o.With(rest.Object{"Tags": rest.Object{"Tag": append(slices.Clone(o.Object("Tags").List("Tag")), rest.Object{"TagKey": key, "TagValue": value})}}))
	})
}

// Associate binds an elastic IP address to a load balancer.
func (c *Cloud) Associate(lb, address string) {
	c.Locked(func() {
		id := c.Live.id("eip-bp1")
		c.Live.Put(addresses, rest.Object{"id": id, "AllocationId": id, "IpAddress": address, "InstanceId": lb, "InstanceType": "SlbInstance", "Status": "InUse"})
	})
}

// GroupIDs returns the ids of the server groups of a name.
func (c *Cloud) GroupIDs(name string) []string {
	var out []string
	c.Locked(func() {
		for _, g := range c.Live.Having(groups, "VServerGroupName", name) {
			out = append(out, g.Text("id"))
		}
	})
	return out
}

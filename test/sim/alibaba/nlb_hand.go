package alibaba

import (
	"slices"
	"strings"
	"time"

	"github.com/berth-lb/berth/test/sim/rest"
)

// What a user does with network load balancers in the console, for tests.

func (s *state) userNet(region, name string) string {
	id := "nlb-" + hashOf("network load balancer " + name)[:18]
	s.Put(nets, rest.Object{
		"id": id, "LoadBalancerId": id, "LoadBalancerName": name, "LoadBalancerStatus": active, "DNSName": id + "." + region + ".nlb.aliyuncs.com", "VpcId": "", "RegionId": region, "AddressType": "Internet",
		"AddressIpVersion": "ipv4", "Ipv6AddressType": "Intranet", "CrossZoneEnabled": true, "SecurityGroupIds": []any{}, "ZoneMappings": []any{}, "Tags": []any{}, "ResourceGroupId": "rg-acfdefault",
		"BandwidthPackageId": "", "DeletionProtectionConfig": rest.Object{"Enabled": false}, "ModificationProtectionConfig": rest.Object{"Status": "NonProtection"},
	})
	return id
}

// Nets returns the ids of all network load balancers.
func (c *Cloud) Nets() []string { return c.idsOf(nets) }

// ServerGroups returns the ids of all server groups of network load balancers.
func (c *Cloud) ServerGroups() []string { return c.idsOf(serverGroups) }

// SecurityGroups returns the ids of all security groups.
func (c *Cloud) SecurityGroups() []string { return c.idsOf(securityGroups) }

// DoubleSecurityGroup adds a copy of a security group, created so long after it.
func (c *Cloud) DoubleSecurityGroup(group string, after time.Duration) {
	c.Locked(func() {
		o, _ := c.Live.Get(securityGroups, group)
		id := c.Live.id("sg-bp1")
		c.Live.Put(securityGroups, o.With(rest.Object{"id": id, "SecurityGroupId": id, "CreationTime": movedTime(o, "CreationTime", formNet, after)}))
	})
}

func (c *Cloud) idsOf(collection string) []string {
	var out []string
	c.Locked(func() {
		for _, o := range c.Live.All(collection, nil) {
			out = append(out, o.Text("id"))
		}
	})
	return out
}

// DeleteNet deletes a network load balancer with its listeners at once, whatever its protections.
func (c *Cloud) DeleteNet(id string) {
	c.Locked(func() {
		for _, l := range c.Live.Having(netListeners, owner, id) {
			c.Live.Drop(netListeners, l.Text("id"))
		}
		c.Live.Drop(nets, id)
	})
}

// AddNetListener adds a running listener of the user to a network load balancer.
func (c *Cloud) AddNetListener(lb string, port int, group, description string) {
	c.Locked(func() {
		id := c.Live.id("lsn-")
		c.Live.Put(netListeners, rest.Object{
			"id": id, "ListenerId": id, owner: lb, "ListenerPort": port, "ListenerProtocol": "TCP", "ListenerStatus": running, "ListenerDescription": description, "ServerGroupId": group,
			"CertificateIds": []any{}, "CaCertificateIds": []any{}, "ProxyProtocolV2Config": rest.Object{}, "more": []any{},
		})
	})
}

// NetDescriptions returns the descriptions of the listeners of network load balancers, sorted.
func (c *Cloud) NetDescriptions() []string {
	var out []string
	c.Locked(func() {
		for _, l := range c.Live.All(netListeners, nil) {
			out = append(out, l.Text("ListenerDescription"))
		}
	})
	slices.Sort(out)
	return out
}

// NetTagsOf returns the tags of a network load balancer or a server group.
func (c *Cloud) NetTagsOf(id string) (tags map[string]string) {
	c.Locked(func() {
		for _, collection := range []string{nets, serverGroups} {
			if o, ok := c.Live.Get(collection, id); ok {
				tags = netTags(o)
			}
		}
	})
	return tags
}

// StopNetListener stops the listeners of a description.
func (c *Cloud) StopNetListener(description string) {
	c.Locked(func() {
		for _, l := range c.Live.Having(netListeners, "ListenerDescription", description) {
			c.Live.Change(netListeners, l.Text("id"), rest.Object{"ListenerStatus": "Stopped"})
		}
	})
}

// RenameSecurityGroups gives a name to the security groups that controllers have created.
func (c *Cloud) RenameSecurityGroups(name string) {
	c.Locked(func() {
		for _, g := range c.Live.All(securityGroups, func(g rest.Object) bool { return strings.HasPrefix(g.Text("SecurityGroupName"), "k8s-") }) {
			c.Live.Change(securityGroups, g.Text("id"), rest.Object{"SecurityGroupName": name})
		}
	})
}

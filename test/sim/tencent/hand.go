package tencent

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

// Balancer returns a load balancer; nil: it does not exist.
func (c *Cloud) Balancer(id string) (lb rest.Object) {
	c.Locked(func() { lb, _ = c.Live.Get(balancers, id) })
	return lb
}

// ChangeBalancer sets values of a load balancer.
func (c *Cloud) ChangeBalancer(id string, values rest.Object) {
	c.Locked(func() { c.Live.Change(balancers, id, values) })
}

// SetTags replaces the tags of a load balancer.
func (c *Cloud) SetTags(id string, tags map[string]string) {
	list := []any{}
	for key, value := range tags {
		list = append(list, rest.Object{"TagKey": key, "TagValue": value})
	}
	c.ChangeBalancer(id, rest.Object{"Tags": list})
}

// TagsOf returns the tags of a load balancer.
func (c *Cloud) TagsOf(id string) map[string]string { return tagsOf(c.Balancer(id)) }

// AddBalancer adds a public load balancer that the user created, with tags.
func (c *Cloud) AddBalancer(tags map[string]string) string {
	var id string
	c.Locked(func() {
		id = c.Live.id("lb-")
		c.Live.Put(balancers, handMade(id, c.opt.Region, c.Seed.VPC, fmt.Sprintf("119.30.0.%d", c.Live.made%250+1), c.Clock.Now().UTC().Format(timeFormat)))
	})
	c.SetTags(id, tags)
	return id
}

// Double adds a copy of a load balancer, without its listeners, that was created so long after it. It returns the
// id of the copy.
func (c *Cloud) Double(lb string, after time.Duration) (id string) {
	c.Locked(func() {
		o, _ := c.Live.Get(balancers, lb)
		created, _ := time.Parse(timeFormat, o.Text("CreateTime"))
		id = c.Live.id("lb-")
		c.Live.Put(balancers, o.With(rest.Object{
			"id": id, owner: id, "LoadBalancerVips": []any{fmt.Sprintf("119.31.0.%d", c.Live.made%250+1)}, "CreateTime": created.Add(after).Format(timeFormat),
		}))
	})
	return id
}

// handMade returns a public load balancer without tags.
func handMade(id, region, vpc, address, created string) rest.Object {
	return rest.Object{
		"id": id, owner: id, "LoadBalancerName": "by hand " + id, "LoadBalancerType": "OPEN", "Forward": 1, "Status": 1, "LoadBalancerVips": []any{address},
		"LoadBalancerDomain": "", "VpcId": vpc, "SubnetId": "", "AddressIPVersion": "ipv4", "IPv6Mode": "", "AddressIPv6": "", "ChargeType": "POSTPAID_BY_HOUR", "SecureGroups": []any{},
		"LoadBalancerPassToTarget": false, "AttributeFlags": []any{}, "SnatPro": false, "SnatIps": []any{}, "Tags": []any{}, "Region": region,
		"NetworkAttributes": rest.Object{"InternetChargeType": "TRAFFIC_POSTPAID_BY_HOUR", "InternetMaxBandwidthOut": 10}, "CreateTime": created,
	}
}

// DropBalancer deletes a load balancer.
func (c *Cloud) DropBalancer(id string) { c.Locked(func() { c.Live.dropBalancer(id) }) }

// AddListener adds a listener to a load balancer, and returns its id.
func (c *Cloud) AddListener(lb, protocol string, port int, name string) (id string) {
	c.Locked(func() {
		id = c.Live.id("lbl-")
		c.Live.Put(listeners, rest.Object{
			"id": id, owner: lb, "ListenerId": id, "ListenerName": name, "Protocol": protocol, "Port": port, "SniSwitch": 0, "Targets": []any{}, "Scheduler": "WRR", "SessionExpireTime": 0,
			"HealthCheck": standardHealth(protocol), "TargetType": "NODE", "DeregisterTargetRst": false, "EndPort": 0,
		})
	})
	return id
}

// listenerAt returns the listener at a port of a load balancer.
func (c *Cloud) listenerAt(lb, protocol string, port int) (l rest.Object) {
	c.Locked(func() {
		for _, one := range c.Live.Having(listeners, owner, lb) {
			if one.Text("Protocol") == protocol && numberOf(one, "Port", 0) == port {
				l = one
			}
		}
	})
	return l
}

// ListenerID returns the id of a listener; empty: it does not exist.
func (c *Cloud) ListenerID(lb, protocol string, port int) string {
	return c.listenerAt(lb, protocol, port).Text("id")
}

// Setting returns a parameter of a listener as a text; a part of one has its name after a dot.
func (c *Cloud) Setting(lb, protocol string, port int, name, part string) string {
	l := c.listenerAt(lb, protocol, port)
	if part != "" {
		return fmt.Sprint(l.Object(name)[part])
	}
	return fmt.Sprint(l[name])
}

// Bind adds targets to a listener or a rule, each an instance or an address, at a port.
func (c *Cloud) Bind(listener string, port int, targets ...string) {
	c.Locked(func() {
		for _, collection := range []string{listeners, rules} {
			o, ok := c.Live.Get(collection, listener)
			if !ok {
				continue
			}
			list := slices.Clone(o.List("Targets"))
			for _, t := range targets {
				one := rest.Object{"InstanceId": t, "EniIp": "", "Port": port, "Weight": 10}
				if isAddress(t) {
					one["InstanceId"], one["EniIp"] = "", t
				}
				list = append(list, one)
			}
			c.Live.Put(collection, o.With(rest.Object{"Targets": list}))
		}
	})
}

// AddRule adds a rule to a listener, and returns its id.
func (c *Cloud) AddRule(listener, domain, certificate string) (id string) {
	c.Locked(func() {
		l, _ := c.Live.Get(listeners, listener)
		id = c.Live.id("loc-")
		c.Live.Put(rules, rest.Object{
			"id": id, owner: l.Text(owner), "ListenerId": listener, "LocationId": id, "Domain": domain, "Url": "/", "Targets": []any{}, "Scheduler": "WRR", "SessionExpireTime": 0,
			"HealthCheck": standardHealth(l.Text("Protocol")), "Certificate": rest.Object{"CertId": certificate},
		})
	})
	return id
}

// ChangeListener sets values of a listener.
func (c *Cloud) ChangeListener(id string, values rest.Object) {
	c.Locked(func() { c.Live.Change(listeners, id, values) })
}

// TargetsOf returns the targets of a listener with their weights.
func (c *Cloud) TargetsOf(lb, protocol string, port int) []string {
	var out []string
	for _, t := range c.listenerAt(lb, protocol, port).Objects("Targets") {
		out = append(out, fmt.Sprintf("%s/%d", targetName(t), numberOf(t, "Weight", 10)))
	}
	slices.Sort(out)
	return out
}

// Domains returns the domains of the rules of a listener, with their certificates.
func (c *Cloud) Domains(lb, protocol string, port int) []string {
	var out []string
	id := c.ListenerID(lb, protocol, port)
	c.Locked(func() {
		for _, r := range c.Live.Having(rules, "ListenerId", id) {
			out = append(out, r.Text("Domain")+" "+r.Object("Certificate").Text("CertId"))
		}
	})
	slices.Sort(out)
	return out
}

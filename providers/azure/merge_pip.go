package azure

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// publicIPBody is the body of a new public IP with what the Service writes on it.
func publicIPBody(c Config, spec PublicIP, owner stack.Owner, binding *Binding) (Object, error) {
	p := map[string]any{"publicIPAllocationMethod": "Static", "publicIPAddressVersion": spec.Version}
	out := Object{"location": c.Location, "sku": map[string]any{"name": "Standard"}, "properties": p}
	if spec.Prefix != "" {
		p["publicIPPrefix"] = idObject(spec.Prefix)
	}
	setIPTags(p, spec.IPTags)
	if c.ExtendedLocation.Name != "" {
		out["extendedLocation"] = extendedLocation(c)
	} else if len(spec.Zones) > 0 {
		out.setTexts("zones", spec.Zones)
	}
	out.setTags(spec.Tags)
	if binding == nil {
		return out, nil
	}
	return bound(out, owner, *binding)
}

// publicIPUpdate writes single fields of a public IP that is there.
func publicIPUpdate(o Object, spec PublicIP, fields []string) Object {
	out := o.clone()
	if slices.Contains(fields, "Tags") {
		tags := maps.Clone(spec.Tags)
		for k, v := range o.tags() {
			if _, kept := withoutBinding(Tags{k: v})[k]; !kept {
				tags[k] = v
			}
		}
		out.setTags(tags)
	}
	if slices.Contains(fields, "IPTags") {
		setIPTags(out.make("properties"), spec.IPTags)
	}
	return out
}

func setIPTags(p Object, tags *Tags) {
	if tags == nil {
		return
	}
	list := []Object{}
	for _, kind := range slices.Sorted(maps.Keys(*tags)) {
		list = append(list, Object{"ipTagType": kind, "tag": (*tags)[kind]})
	}
	p.setList("ipTags", list)
}

// bound is the public IP with what a Service writes on it: its name in the
// ownership tag, and the DNS label. The label of another Service is refused.
func bound(o Object, owner stack.Owner, b Binding) (Object, error) {
	out := o.clone()
	tags := out.tags()
	if b.Service != "" {
		list := tags.owners()
		if !slices.Contains(list, b.Service) {
			tags[tagService] = strings.Join(append(list, b.Service), ",")
		}
	}
	if err := label(out, tags, serviceKey(owner), b); err != nil {
		return nil, err
	}
	if !maps.Equal(tags, o.tags()) {
		out.setTags(tags)
	}
	return out, nil
}

func label(out Object, tags Tags, service string, b Binding) error {
	if b.DNSLabel == nil {
		return nil
	}
	if by := tags.dnsService(); by != "" && by != service {
		return fault.New(fault.Invalid, "public IP %s: its DNS label is that of %s", out.text("name"), by)
	}
	p := out.make("properties")
	if *b.DNSLabel == "" {
		delete(p, "dnsSettings")
		delete(tags, tagDNS)
		return nil
	}
	if !strings.EqualFold(p.in("dnsSettings").text("domainNameLabel"), *b.DNSLabel) {
		p.make("dnsSettings")["domainNameLabel"] = *b.DNSLabel
	}
	if b.Service != "" {
		tags[tagDNS] = service
	}
	return nil
}

// unbound is the public IP without the Service. remove: nobody else is named, so
// it can be deleted instead. A label stays where it is; its mark goes.
func unbound(o Object, owner stack.Owner) (out Object, remove bool) {
	out = o.clone()
	tags, service := out.tags(), serviceKey(owner)
	before := maps.Clone(tags)
	rest := slices.DeleteFunc(tags.owners(), func(s string) bool { return s == service })
	key := tagService
	if _, ok := tags.get(tagService); !ok {
		key = tagServiceLegacy
	}
	if there, ok := tags.find(key); ok && len(tags.owners()) > 0 {
		tags[there] = strings.Join(rest, ",")
	}
	if tags.dnsService() == service {
		delete(tags, tagDNS)
		delete(tags, tagDNSLegacy)
	}
	if !maps.Equal(before, tags) {
		out.setTags(tags)
	}
	return out, len(rest) == 0
}

// linkBody is the body of a private link service, laid over the one that is there.
func linkBody(c Config, o Object, spec Link) Object {
	out := o.clone()
	if out == nil {
		out = Object{"location": c.Location}
		if c.ExtendedLocation.Name != "" {
			out["extendedLocation"] = extendedLocation(c)
		}
	}
	delete(out, "etag") // Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_privatelinkservice.go
	p := out.make("properties")
	lb, frontend, _ := strings.Cut(spec.Frontend, "/")
	p.setList("loadBalancerFrontendIpConfigurations", []Object{idObject(c.balancerID(lb) + "/" + listFrontends + "/" + frontend)})
	subnet := c.subnetID(lastSegment(spec.Subnet.To.Name))
	var ips []Object
	for _, ip := range spec.IPs {
		q := map[string]any{"privateIPAllocationMethod": "Dynamic", "subnet": idObject(subnet), "primary": ip.Primary, "privateIPAddressVersion": ipv4}
		if ip.Address != "" {
			q["privateIPAllocationMethod"], q["privateIPAddress"] = "Static", ip.Address
		}
		ips = append(ips, Object{"name": ip.Name, "properties": q})
	}
	p.setList("ipConfigurations", ips)
	p.setTexts("fqdns", spec.FQDNs)
	p["enableProxyProtocol"] = spec.ProxyProtocol
	p.make("visibility").setTexts("subscriptions", spec.Visibility)
	p.make("autoApproval").setTexts("subscriptions", spec.AutoApproval)
	out.setTags(spec.Tags)
	return out
}

// linkOf is a private link service as found; the place comes from its load balancer.
func linkOf(o Object, balancers []FoundBalancer) Link {
	p := o.props()
	out := Link{
		Group: groupOf(o.text("id")), Name: o.text("name"), FQDNs: p.texts("fqdns"), ProxyProtocol: p.flag("enableProxyProtocol"),
		Visibility: p.in("visibility").texts("subscriptions"), AutoApproval: p.in("autoApproval").texts("subscriptions"), Tags: o.tags(),
		Trouble: troubleOf(o),
	}
	for _, f := range p.list("loadBalancerFrontendIpConfigurations") {
		out.Frontend = frontendOfID(f.text("id"))
	}
	lb, name, _ := strings.Cut(out.Frontend, "/")
	out.Entries = stack.RefTo(entriesKey(lb))
	for _, b := range balancers {
		for _, f := range b.Frontends {
			if strings.EqualFold(b.Name, lb) && strings.EqualFold(f.Name, name) {
				out.On = f.place()
			}
		}
	}
	for _, ip := range p.list("ipConfigurations") {
		q := ip.props()
		one := LinkIP{Name: ip.text("name"), Primary: q.flag("primary")}
		if strings.EqualFold(q.text("privateIPAllocationMethod"), "Static") {
			one.Address = q.text("privateIPAddress")
		}
		out.IPs = append(out.IPs, one)
		id := q.in("subnet").text("id")
		out.Subnet = stack.RefTo(policyKey(groupOf(id), segmentAfter(id, "virtualnetworks"), lastSegment(id)))
	}
	return out
}

// frontendOfID is "<lb>/<frontend>" in lower case.
func frontendOfID(id string) string {
	return segmentAfter(id, "loadbalancers") + "/" + segmentAfter(id, lower(listFrontends))
}

package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// PublicIPBody is the body of a new public IP with what the Service writes on it.
func PublicIPBody(c Config, spec PublicIP, owner stack.Owner, binding *Binding) (Object, error) {
	p := map[string]any{"publicIPAllocationMethod": "Static", "publicIPAddressVersion": spec.Version}
	out := Object{"location": c.Location, "sku": map[string]any{"name": "Standard"}, "properties": p}
	if spec.Prefix != "" {
		p["publicIPPrefix"] = IDObject(spec.Prefix)
	}
	setIPTags(p, spec.IPTags)
	if c.ExtendedLocation.Name != "" {
		out["extendedLocation"] = extendedLocation(c)
	} else if len(spec.Zones) > 0 {
		out.SetTexts("zones", spec.Zones)
	}
	out.setTags(spec.Tags)
	if binding == nil {
		return out, nil
	}
	return Bound(out, owner, *binding)
}

// PublicIPUpdate updates single fields of an existing public IP.
func PublicIPUpdate(o Object, spec PublicIP, fields []string) Object {
	out := o.Clone()
	if slices.Contains(fields, "Tags") {
		tags := maps.Clone(spec.Tags)
		for k, v := range o.Tags() {
			if _, kept := withoutBinding(Tags{k: v})[k]; !kept {
				tags[k] = v
			}
		}
		out.setTags(tags)
	}
	if slices.Contains(fields, "IPTags") {
		setIPTags(out.Make("properties"), spec.IPTags)
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
	p.SetList("ipTags", list)
}

// Bound is the public IP with what a Service writes on it: its name in the
// ownership tag, and the DNS label. The label of another Service is refused.
func Bound(o Object, owner stack.Owner, b Binding) (Object, error) {
	out := o.Clone()
	tags := out.Tags()
	if b.Service != "" {
		list := tags.owners()
		if !slices.Contains(list, b.Service) {
			tags[tagService] = strings.Join(append(list, b.Service), ",")
		}
	}
	if err := labelIP(out, tags, ServiceKey(owner), b); err != nil {
		return nil, err
	}
	if !maps.Equal(tags, o.Tags()) {
		out.setTags(tags)
	}
	return out, nil
}

func labelIP(out Object, tags Tags, service string, b Binding) error {
	if b.DNSLabel == nil {
		return nil
	}
	if by := tags.dnsService(); by != "" && by != service {
		return fault.New(fault.Invalid, "public IP %s: its DNS label is that of %s", out.Text("name"), by)
	}
	p := out.Make("properties")
	if *b.DNSLabel == "" {
		delete(p, "dnsSettings")
		delete(tags, tagDNS)
		return nil
	}
	if !strings.EqualFold(p.In("dnsSettings").Text("domainNameLabel"), *b.DNSLabel) {
		p.Make("dnsSettings")["domainNameLabel"] = *b.DNSLabel
	}
	if b.Service != "" {
		tags[tagDNS] = service
	}
	return nil
}

// Unbound returns the public IP without the Service. remove reports that no other Service
// is named, so that it can be deleted instead. A label is retained without its mark.
func Unbound(o Object, owner stack.Owner) (out Object, remove bool) {
	out = o.Clone()
	tags, service := out.Tags(), ServiceKey(owner)
	before := maps.Clone(tags)
	rest := slices.DeleteFunc(tags.owners(), func(s string) bool { return s == service })
	key := tagService
	if _, ok := tags.Get(tagService); !ok {
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

// LinkBody returns the body of a private link service, merged into the existing one.
func LinkBody(c Config, o Object, spec Link) Object {
	out := o.Clone()
	if out == nil {
		out = Object{"location": c.Location}
		if c.ExtendedLocation.Name != "" {
			out["extendedLocation"] = extendedLocation(c)
		}
	}
	delete(out, "etag") // Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_privatelinkservice.go
	p := out.Make("properties")
	lb, frontend, _ := strings.Cut(spec.Frontend, "/")
	p.SetList("loadBalancerFrontendIpConfigurations", []Object{IDObject(c.BalancerID(lb) + "/" + ListFrontends + "/" + frontend)})
	subnet := c.SubnetID(LastSegment(spec.Subnet.To.Name))
	var ips []Object
	for _, ip := range spec.IPs {
		q := map[string]any{"privateIPAllocationMethod": "Dynamic", "subnet": IDObject(subnet), "primary": ip.Primary, "privateIPAddressVersion": ipv4}
		if ip.Address != "" {
			q["privateIPAllocationMethod"], q["privateIPAddress"] = "Static", ip.Address
		}
		ips = append(ips, Object{"name": ip.Name, "properties": q})
	}
	p.SetList("ipConfigurations", ips)
	p.SetTexts("fqdns", spec.FQDNs)
	p["enableProxyProtocol"] = spec.ProxyProtocol
	p.Make("visibility").SetTexts("subscriptions", spec.Visibility)
	p.Make("autoApproval").SetTexts("subscriptions", spec.AutoApproval)
	out.setTags(spec.Tags)
	return out
}

// LinkOf returns an observed private link service, with the place of its load balancer.
func LinkOf(o Object, balancers []FoundBalancer) Link {
	p := o.Props()
	out := Link{
		Group: GroupOf(o.Text("id")), Name: o.Text("name"), FQDNs: p.Texts("fqdns"), ProxyProtocol: p.Flag("enableProxyProtocol"),
		Visibility: p.In("visibility").Texts("subscriptions"), AutoApproval: p.In("autoApproval").Texts("subscriptions"), Tags: o.Tags(),
		Trouble: TroubleOf(o),
	}
	for _, f := range p.List("loadBalancerFrontendIpConfigurations") {
		out.Frontend = FrontendOfID(f.Text("id"))
	}
	lb, name, _ := strings.Cut(out.Frontend, "/")
	out.Entries = stack.RefTo(EntriesKey(lb))
	for _, b := range balancers {
		for _, f := range b.Frontends {
			if strings.EqualFold(b.Name, lb) && strings.EqualFold(f.Name, name) {
				out.On = f.place()
			}
		}
	}
	for _, ip := range p.List("ipConfigurations") {
		q := ip.Props()
		one := LinkIP{Name: ip.Text("name"), Primary: q.Flag("primary")}
		if strings.EqualFold(q.Text("privateIPAllocationMethod"), "Static") {
			one.Address = q.Text("privateIPAddress")
		}
		out.IPs = append(out.IPs, one)
		id := q.In("subnet").Text("id")
		out.Subnet = stack.RefTo(PolicyKey(GroupOf(id), SegmentAfter(id, "virtualnetworks"), LastSegment(id)))
	}
	return out
}

// FrontendOfID is "<lb>/<frontend>" in lower case.
func FrontendOfID(id string) string {
	return SegmentAfter(id, "loadbalancers") + "/" + SegmentAfter(id, lowerCase(ListFrontends))
}

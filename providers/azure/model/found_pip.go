package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// PublicIPOf is a public IP as Build knows it. It is shared and must not be written to.
func PublicIPOf(o Object) FoundIP {
	p, tags := o.Props(), o.Tags()
	out := FoundIP{
		Group: GroupOf(o.Text("id")), Name: o.Text("name"), Address: Canonical(p.Text("ipAddress")),
		Version: cmp.Or(p.enum("publicIPAddressVersion", ipv4, IPv6), ipv4), SKU: o.In("sku").Text("name"), Tags: tags,
		DNSLabel: p.In("dnsSettings").Text("domainNameLabel"), IPTags: Tags{},
		Attached: lowerCase(cmp.Or(p.In("ipConfiguration").Text("id"), p.In("natGateway").Text("id"))),
		Services: slices.Clip(tags.owners()), Cluster: tags.Cluster(), DNSService: tags.dnsService(),
	}
	for _, t := range p.List("ipTags") {
		out.IPTags[t.Text("ipTagType")] = t.Text("tag")
	}
	return out
}

// PublicIPResources returns a managed public IP and its binding, as found for the Service;
// f holds its observed facts. A public IP whose tag does not list the Service is returned
// without proof and binding if the scope asked for it, by name or address; matchFound
// proves it if it is desired. A public IP that the Service gave up while something held it
// is the Service's again, by its name, once it is free.
func PublicIPResources(o Object, f FoundIP, cluster string, owner stack.Owner, asked bool) []stack.Resource {
	listed, binding := slices.Contains(f.Services, ServiceKey(owner)), ServiceKey(owner)
	if f.Attached == "" && f.GivenUp(cluster, owner) {
		listed, binding = true, ""
	}
	if !listed && (!asked || !f.Managed()) || !f.Tags.OfCluster(cluster) {
		return nil
	}
	key := PublicIPKey(f.Group, f.Name)
	ip := PublicIP{
		Group: f.Group, Name: f.Name, Version: f.Version, Prefix: o.Ref("publicIPPrefix"), IPTags: &f.IPTags,
		Zones: o.Texts("zones"), Tags: withoutBinding(f.Tags), Address: f.Address, SKU: f.SKU, Services: f.Services,
		Trouble: TroubleOf(o),
	}
	found := stack.Resource{Key: key, ID: o.Text("id"), Ownership: stack.Shared, State: StateOf(o), Spec: ip}
	if !listed {
		return []stack.Resource{found}
	}
	found.Proof = stack.Tag
	return []stack.Resource{
		found,
		{Key: bindingKey(f.Group, f.Name), ID: o.Text("id"), In: key, Proof: stack.Tag, Spec: Binding{
			PublicIP: stack.RefTo(key), Service: binding, DNSLabel: &f.DNSLabel,
		}},
	}
}

// GivenUp reports whether a public IP was created for the Service, which left it as its
// last user because something held it. The name shows its former owner.
func (f FoundIP) GivenUp(cluster string, owner stack.Owner) bool {
	return len(f.Services) == 0 && f.Cluster != "" && f.Tags.OfCluster(cluster) && owner.UID != "" && ownedBy(BaseName(owner.UID), f.BaseIn(cluster))
}

// onOther reports whether a load balancer that is not among the given ones has the public
// IP, such as that of another cluster.
func (f FoundIP) onOther(c Config, balancers []FoundBalancer) bool {
	return SegmentAfter(f.Attached, "loadbalancers") != "" && !slices.ContainsFunc(balancers, func(lb FoundBalancer) bool {
		return strings.HasPrefix(f.Attached, lowerCase(c.BalancerID(lb.Name))+"/")
	})
}

// BaseIn is the part of its name that is of the Service it was made for.
func (f FoundIP) BaseIn(cluster string) string {
	name, _ := strings.CutPrefix(lowerCase(f.Name), lowerCase(cluster)+"-")
	return name
}

// withoutBinding returns the tags without the ones that bindings write.
func withoutBinding(t Tags) Tags {
	out := Tags{}
	for k, v := range t {
		if !ContainsFold([]string{tagService, tagServiceLegacy, tagDNS, tagDNSLegacy}, k) {
			out[k] = v
		}
	}
	return out
}

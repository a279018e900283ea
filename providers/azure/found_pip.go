package azure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// publicIPOf is a public IP as Build knows it. It is shared and must not be written to.
func publicIPOf(o Object) FoundIP {
	p, tags := o.props(), o.tags()
	out := FoundIP{
		Group: groupOf(o.text("id")), Name: o.text("name"), Address: canonical(p.text("ipAddress")),
		Version: cmp.Or(p.text("publicIPAddressVersion"), ipv4), SKU: o.in("sku").text("name"), Tags: tags,
		DNSLabel: p.in("dnsSettings").text("domainNameLabel"), IPTags: Tags{},
		Attached: lower(cmp.Or(p.in("ipConfiguration").text("id"), p.in("natGateway").text("id"))),
		Services: slices.Clip(tags.owners()), Cluster: tags.cluster(), DNSService: tags.dnsService(),
	}
	for _, t := range p.list("ipTags") {
		out.IPTags[t.text("ipTagType")] = t.text("tag")
	}
	return out
}

// publicIPResources are a managed public IP and its binding, as found for the
// Service; f is what is known of it. One whose tag does not list the Service is
// found without proof and binding if the scope asked for it, by name or address;
// adopt proves it if it is wanted. One that the Service gave up while something held
// it is the Service's again once it is free, by its name.
func publicIPResources(o Object, f FoundIP, cluster string, owner stack.Owner, asked bool) []stack.Resource {
	listed, binding := slices.Contains(f.Services, serviceKey(owner)), serviceKey(owner)
	if f.Attached == "" && f.givenUp(cluster, owner) {
		listed, binding = true, ""
	}
	if !listed && (!asked || !f.Managed()) || !f.Tags.ofCluster(cluster) {
		return nil
	}
	key := publicIPKey(f.Group, f.Name)
	ip := PublicIP{
		Group: f.Group, Name: f.Name, Version: f.Version, Prefix: o.ref("publicIPPrefix"), IPTags: &f.IPTags,
		Zones: o.texts("zones"), Tags: withoutBinding(f.Tags), Address: f.Address, SKU: f.SKU, Services: f.Services,
		Trouble: troubleOf(o),
	}
	found := stack.Resource{Key: key, ID: o.text("id"), Hold: stack.Counted, State: stateOf(o), Spec: ip}
	if !listed {
		return []stack.Resource{found}
	}
	found.Proof = stack.Tag
	return []stack.Resource{
		found,
		{Key: bindingKey(f.Group, f.Name), ID: o.text("id"), In: key, Proof: stack.Tag, Spec: Binding{
			PublicIP: stack.RefTo(key), Service: binding, DNSLabel: &f.DNSLabel,
		}},
	}
}

// givenUp tells whether a public IP was made for the Service, which went off it as the
// last one because something held it. The name tells whose it was.
func (f FoundIP) givenUp(cluster string, owner stack.Owner) bool {
	return len(f.Services) == 0 && f.Cluster != "" && f.Tags.ofCluster(cluster) && owner.UID != "" && ownedBy(baseName(owner.UID), f.baseIn(cluster))
}

// baseIn is the part of its name that is of the Service it was made for.
func (f FoundIP) baseIn(cluster string) string {
	name, _ := strings.CutPrefix(lower(f.Name), lower(cluster)+"-")
	return name
}

// withoutBinding are the tags less those that bindings write.
func withoutBinding(t Tags) Tags {
	out := Tags{}
	for k, v := range t {
		if !containsFold([]string{tagService, tagServiceLegacy, tagDNS, tagDNSLegacy}, k) {
			out[k] = v
		}
	}
	return out
}

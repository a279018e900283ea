package model

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// fits reports whether an existing public IP can be used. The official controller writes
// SKU and version into addresses of users; Berth does not.
func (b *builder) fits(ip FoundIP, family corev1.IPFamily) bool {
	if ip.SKU != "" && strings.EqualFold(ip.SKU, skuBasic) {
		b.fail("public IP "+ip.Group+"/"+ip.Name, ip.SKU, "is its SKU, and a Standard load balancer needs a Standard public IP", "a Standard public IP")
		return false
	}
	if ip.Version == string(family) {
		return true
	}
	if b.mine(ip) && strings.EqualFold(ip.Name, publicIPName(b.cluster, b.base, "", b.suffix(family))) {
		b.recreate = true // the name is the same for either family alone
		return true
	}
	b.fail("public IP "+ip.Group+"/"+ip.Name, ip.Version, "is its version, and the Service needs "+string(family), "")
	return false
}

// mine reports whether only this Service uses the public IP, by its tag.
func (b *builder) mine(ip FoundIP) bool {
	return slices.Equal(ip.Services, []string{ServiceKey(b.in.Owner)}) && ip.Tags.OfCluster(b.cluster)
}

func (b *builder) newPublicIP(group, name string, family corev1.IPFamily) {
	prefix, _ := b.perFamily(pipPrefixKey, pipPrefixV6Key, family)
	spec := PublicIP{Group: group, Name: name, Version: string(family), Prefix: prefix, Tags: b.publicIPTags(nil)}
	if b.in.Config.ExtendedLocation.Name == "" {
		spec.Zones = b.facts.Zones
	}
	if tags, _, ok := pipIPTagsKey.Lookup(b.in.Values); ok {
		spec.IPTags = &tags
	}
	// What has just been made is not among the facts that were read before.
	if had, ok := b.found(PublicIPKey(group, name)); ok {
		if found, ok := had.Spec.(PublicIP); ok {
			spec.Tags = b.publicIPTags(found.Tags)
			spec.Zones = found.Zones
		}
	}
	b.putPublicIP(spec, b.dnsLabel())
}

// managedIP is a public IP that a controller of this cluster made, for this
// Service or for another one that shares it.
func (b *builder) managedIP(ip FoundIP, family corev1.IPFamily) {
	if by := ip.DNSService; by != "" && by != ServiceKey(b.in.Owner) && b.dnsLabel() != nil {
		b.report(dnsKey.Refusal(b.in.Values, "cannot be set: the DNS label of "+ip.Name+" is that of "+by, ""))
		return
	}
	spec := PublicIP{Group: ip.Group, Name: ip.Name, Version: string(family), Tags: b.publicIPTags(withoutBinding(ip.Tags))}
	if tags, _, ok := pipIPTagsKey.Lookup(b.in.Values); ok && !maps.Equal(tags, ip.IPTags) {
		switch {
		case b.in.Config.MutateIPTag:
			spec.IPTags = &tags
		case b.mine(ip):
			b.recreate = true
			b.report(pipIPTagsKey.Warning(b.in.Values, "needs another public IP, since Azure cannot change IP tags: the address changes", ""))
		default:
			b.report(annotations.NotApplied(pipIPTagsKey.Warning(b.in.Values, "is not applied while other Services use the public IP "+ip.Name+", whose IP tags Azure cannot change; name another public IP", ""))...)
		}
	}
	if had, ok := b.found(PublicIPKey(ip.Group, ip.Name)); ok {
		if found, ok := had.Spec.(PublicIP); ok {
			spec.Tags = b.publicIPTags(found.Tags)
		}
	}
	b.putPublicIP(spec, b.dnsLabel())
}

func (b *builder) putPublicIP(spec PublicIP, label *string) {
	key := PublicIPKey(spec.Group, spec.Name)
	b.out.Put(stack.Resource{Key: key, Ownership: stack.Shared, Spec: spec})
	b.out.Put(stack.Resource{Key: bindingKey(spec.Group, spec.Name), In: key, Spec: Binding{
		PublicIP: stack.RefTo(key), Service: ServiceKey(b.in.Owner), DNSLabel: label,
	}})
}

// userIP is a public IP of the user's, or of another cluster: never tagged, never
// deleted. Only a DNS label that the user asks for is written.
func (b *builder) userIP(ip FoundIP) {
	key := PublicIPKey(ip.Group, ip.Name)
	b.out.Put(stack.Resource{Key: key, Ownership: stack.External, Spec: PublicIP{
		Group: ip.Group, Name: ip.Name, Version: ip.Version, Address: ip.Address, SKU: ip.SKU, Tags: ip.Tags,
	}})
	b.tellUnused(pipTagsKey, ip)
	b.tellUnused(pipIPTagsKey, ip)
	label := b.dnsLabel()
	_, written := b.have.Get(bindingKey(ip.Group, ip.Name))
	if label == nil || strings.EqualFold(*label, ip.DNSLabel) && !written {
		return
	}
	b.out.Put(stack.Resource{Key: bindingKey(ip.Group, ip.Name), In: key, Spec: Binding{PublicIP: stack.RefTo(key), DNSLabel: label}})
}

func (b *builder) tellUnused(key *annotations.Key[Tags], ip FoundIP) {
	if _, _, ok := key.Lookup(b.in.Values); ok {
		b.report(key.Warning(b.in.Values, "has no effect on "+ip.Name+", which is not made here", ""))
	}
}

func (b *builder) dnsLabel() *string {
	if label, _, ok := dnsKey.Lookup(b.in.Values); ok {
		return &label
	}
	return nil
}

// publicIPTags are the configuration's, over them the annotation's, and the
// cluster's mark. Tags that say whose a public IP is are not the user's to set:
// with the name of another Service in them it would be that one's, and stay.
func (b *builder) publicIPTags(found Tags) Tags {
	wanted := Tags{}
	maps.Copy(wanted, b.in.Config.Tags)
	for k, v := range pipTagsKey.Get(b.in.Values) {
		if isServiceTag(k, v) {
			b.report(pipTagsKey.Warning(b.in.Values, "sets "+k+", which says whose the public IP is: that one is left out", ""))
			continue
		}
		wanted.set(k, v)
	}
	// Under its older name the mark stays as it is.
	if _, legacy := found.Get(tagClusterLegacy); !legacy {
		wanted[tagCluster] = b.cluster
	}
	return mergeTags(found, wanted, b.in.Config.SystemTags, tagCluster, tagClusterLegacy)
}

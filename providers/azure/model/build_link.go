package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// link wants the private link service on the IPv4 frontend.
func (b *builder) link() {
	if !linkCreateKey.Get(b.in.Values) {
		return
	}
	if !slices.Contains(b.families, corev1.IPv4Protocol) {
		b.report(linkCreateKey.Refusal(b.in.Values, "needs an IPv4 address, and the Service has none", ""))
		return
	}
	i := slices.IndexFunc(b.entries.Frontends, isIPv4)
	if i < 0 {
		return // its problem is recorded, or the Service has nothing to link to
	}
	frontend := b.entries.Frontends[i]
	if b.in.Config.PoolType == PoolNodeIP && !b.linked(frontend.Name) {
		// Source: learn.microsoft.com/azure/load-balancer/backend-pool-management, limitations.
		b.report(linkCreateKey.Refusal(b.in.Values, "needs pools of interfaces: Azure has no private link services on load balancers with pools of addresses (loadBalancerBackendPoolConfigurationType "+PoolNodeIP+")", ""))
		return
	}
	group := lowerCase(linkGroupKey.Or(b.in.Values, b.in.Config.linkGroup()))
	if !b.there(linkGroupKey, b.facts.LinkGroups) {
		return
	}
	name, mine := b.linkName(group, lowerCase(b.lb+"/"+frontend.Name), frontend.Name)
	if !mine {
		return
	}
	subnet := linkSubnet(b.in)
	if _, ok := b.facts.Subnets[lowerCase(subnet)]; !ok {
		b.fail(linkSubnetKey.Name, subnet, "is no subnet of the virtual network "+b.in.Config.VNet, "the name of a subnet")
		return
	}
	policy := PolicyKey(b.in.Config.NetworkGroup(), b.in.Config.VNet, subnet)
	b.out.Put(stack.Resource{Key: policy, Ownership: stack.Shared, Spec: Policy{
		Group: b.in.Config.NetworkGroup(), Network: b.in.Config.VNet, Subnet: subnet, Disabled: true,
	}})
	b.out.Put(stack.Resource{Key: LinkKey(), Spec: Link{
		Group: group, Name: name, Entries: stack.RefTo(EntriesKey(b.lb)), Frontend: lowerCase(b.lb + "/" + frontend.Name), On: frontend.place(),
		Subnet: stack.RefTo(policy), IPs: b.linkIPs(subnet, name), FQDNs: linkNamesKey.Get(b.in.Values),
		ProxyProtocol: linkProxyKey.Get(b.in.Values), Visibility: reduceToStar(linkVisibilityKey.Get(b.in.Values)),
		AutoApproval: linkApprovalKey.Get(b.in.Values), Tags: b.linkTags(),
	}})
}

// linked reports whether the frontend already has a private link service.
func (b *builder) linked(frontend string) bool {
	return slices.ContainsFunc(b.facts.Links, func(l FoundLink) bool { return slices.Contains(l.Frontends, lowerCase(b.lb+"/"+frontend)) })
}

// linkName is the name of the private link service; false: there is one already
// that another Service made, or a problem.
func (b *builder) linkName(group, frontend, frontendName string) (string, bool) {
	wanted, _, said := linkNameKey.Lookup(b.in.Values)
	for _, l := range b.facts.Links {
		if l.Group == group && slices.Contains(l.Frontends, frontend) {
			return l.Name, b.mayUse(l, wanted, said)
		}
	}
	if had, ok := b.found(LinkKey()); ok && !said {
		found, _ := had.Spec.(Link)
		return found.Name, true
	}
	name := cmp.Or(wanted, linkName(frontendName))
	for _, l := range b.facts.Links {
		if l.Group == group && strings.EqualFold(l.Name, name) && !b.isMyLink(l.Tags) {
			b.fail(linkNameKey.Name, l.Name, "is the name of a private link service on another frontend", "a name that is free")
			return "", false
		}
	}
	return name, true
}

func (b *builder) isMyLink(t Tags) bool {
	owner, _ := t.Get(TagOwner)
	return owner == ServiceKey(b.in.Owner) && strings.EqualFold(t.Cluster(), b.cluster)
}

// mayUse reports whether the private link service of the frontend is the Service's. A
// private link service of another Service is shared unchanged.
func (b *builder) mayUse(l FoundLink, wanted string, said bool) bool {
	switch details := linkDetails(b.in.Values); {
	case !strings.EqualFold(l.Tags.Cluster(), b.cluster):
		b.report(linkCreateKey.Refusal(b.in.Values, "finds the private link service "+l.Name+" on the frontend, which this cluster did not make", ""))
		return false
	case !b.isMyLink(l.Tags):
		if len(details) > 0 {
			b.report(annotations.Problem{Key: details[0].Key, Value: details[0].Raw, Message: "cannot be set, because the private link service on the frontend is another Service's", Legal: linkCreateKey.Name + " alone"})
		}
		return false
	case said && !strings.EqualFold(l.Name, wanted):
		b.report(linkNameKey.Refusal(b.in.Values, "cannot change the name of the private link service "+l.Name, strconv.Quote(l.Name)))
		return false
	}
	return true
}

// linkIPs are the given addresses first, then dynamic ones up to the count. The
// first is the primary.
func (b *builder) linkIPs(subnet, link string) []LinkIP {
	var out []LinkIP
	for _, a := range linkIPsKey.Get(b.in.Values) {
		out = append(out, LinkIP{Name: linkIPName(subnet, link, "static", a.String()), Address: a.String()})
	}
	for i := len(out); i < linkCountKey.Get(b.in.Values); i++ {
		out = append(out, LinkIP{Name: linkIPName(subnet, link, "dynamic", strconv.Itoa(i))})
	}
	if len(out) > 0 {
		out[0].Primary = true
	}
	return out
}

// reduceToStar reduces a list that contains a star to the star, which matches all.
func reduceToStar(list []string) []string {
	if slices.Contains(list, "*") {
		return []string{"*"}
	}
	return list
}

func (b *builder) linkTags() Tags {
	wanted := Tags{}
	for k, v := range b.in.Config.Tags {
		wanted.set(k, v)
	}
	wanted[tagCluster], wanted[TagOwner] = b.cluster, ServiceKey(b.in.Owner)
	found := Tags{}
	if had, ok := b.found(LinkKey()); ok {
		l, _ := had.Spec.(Link)
		found = l.Tags
	}
	return mergeTags(found, wanted, b.in.Config.SystemTags)
}

package model

import (
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
)

// Keys of private link services.
var (
	linkCreateKey = &annotations.Key[bool]{
		Name: azurePrefix + "pls-create", Names: annotations.NamesBy(annotations.ThingLink, unnamedLink), Group: groupLink, Example: "true",
		Doc: "Makes a private link service on the IPv4 frontend.",
		Forms: []annotations.Form[bool]{{
			Type: boolType(), Bad: annotations.AsAbsent, Source: cpaLink,
			Doc: "Without it a private link service that carries the Service's mark is deleted; the official controller keeps it until the frontend is deleted.",
		}},
	}
	linkGroupKey = annotations.Needing(annotations.Configured(&annotations.Key[string]{
		Name: azurePrefix + "pls-resource-group", Names: annotations.NamesThe(annotations.ThingResourceGroup), Group: groupLink, Example: "links",
		Doc:   "Resource group of the private link service.",
		Forms: nameForm("", cpaLink),
	}, annotations.EmptyAbsent, "privateLinkServiceResourceGroup", "resourceGroup"), needsLink())
	linkNameKey = annotations.Needing(&annotations.Key[string]{
		Name: azurePrefix + "pls-name", Names: annotations.NamesThe(annotations.ThingLink), Group: groupLink, Example: "shop-link",
		Doc:   "Name of the private link service; it cannot change.",
		Forms: nameForm("pls-<frontend>", cpaLink),
	}, needsLink())
	linkSubnetKey = annotations.Needing(annotations.Configured(&annotations.Key[string]{
		Name: azurePrefix + "pls-ip-configuration-subnet", Names: annotations.NamesThe(annotations.ThingSubnet), Group: groupLink, Example: "links",
		Doc:   "Subnet that the translated addresses are from.",
		Forms: nameForm("", cpaLink),
	}, annotations.EmptyAbsent, azurePrefix+"load-balancer-internal-subnet", "subnetName"), needsLink())
	linkCountKey = annotations.Needing(&annotations.Key[int]{
		Name: azurePrefix + "pls-ip-configuration-ip-address-count", Group: groupLink, Example: "2", Doc: "Number of translated addresses.",
		Forms: []annotations.Form[int]{{Type: annotations.IntRange(1, 8).In("addresses").Trimmed(), Default: 1, Source: cpaLink}},
	}, needsLink())
	linkIPsKey = annotations.Needing(&annotations.Key[[]netip.Addr]{
		Name: azurePrefix + "pls-ip-configuration-ip-address", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupLink, Example: "10.240.0.7 10.240.0.8", Doc: "Static translated addresses, the first is the primary; the rest up to the count are dynamic.",
		Forms: []annotations.Form[[]netip.Addr]{{
			Type: annotations.ListWith(annotations.ListOptions{Separator: " ", Unique: true}, annotations.IP(annotations.IPv4)), DefaultDoc: "all dynamic", Source: cpaLink,
		}},
	}, needsLink())
	linkNamesKey = annotations.Needing(&annotations.Key[[]string]{
		Name: azurePrefix + "pls-fqdns", Names: annotations.NamesThe(annotations.ThingHostname), Group: groupLink, Example: "shop.example.com",
		Doc:   "Names by which clients know the service.",
		Forms: linkList(),
	}, needsLink())
	linkProxyKey      = annotations.Needing(annotations.Flag(azurePrefix+"pls-proxy-protocol", groupLink, "Sends the PROXY protocol; with externalTrafficPolicy Local the ports are then probed themselves.", boolForm(cpaLink)), needsLink())
	linkVisibilityKey = annotations.Needing(&annotations.Key[[]string]{
		Name: azurePrefix + "pls-visibility", Names: annotations.NamesThe(annotations.ThingSubscription), Exposes: annotations.ToAccounts, Group: groupLink, Example: "*",
		Doc:   `Subscriptions that may see the service; "*" means all.`,
		Forms: linkList(),
	}, needsLink())
	linkApprovalKey = annotations.Needing(&annotations.Key[[]string]{
		Name: azurePrefix + "pls-auto-approval", Names: annotations.NamesThe(annotations.ThingSubscription), Exposes: annotations.ToAccounts, Group: groupLink, Example: "0a1b2c3d-0000-0000-0000-000000000000",
		Doc:   "Subscriptions whose connections are approved at once.",
		Forms: linkList(),
	}, needsLink())
)

// unnamedLink returns the name of a private link service that no annotation names.
func unnamedLink(create bool) []string {
	if !create {
		return nil
	}
	return []string{linkName("<frontend>")}
}

// needsLink is the need of the details of a private link service.
func needsLink() annotations.Need { return annotations.Need{linkCreateKey.Is(true)} }

func linkList() []annotations.Form[[]string] {
	return []annotations.Form[[]string]{{
		Type: annotations.ListWith(annotations.ListOptions{Separator: " ", Unique: true}, annotations.NonEmpty()), Source: cpaLink,
	}}
}

// linkDetails are the keys that describe a private link service.
func linkDetails(bag *annotations.Bag) []annotations.Origin {
	var out []annotations.Origin
	said := bag.Origins()
	for _, name := range []string{
		linkNameKey.Name, linkSubnetKey.Name, linkNamesKey.Name, linkVisibilityKey.Name, linkApprovalKey.Name, linkCountKey.Name, linkIPsKey.Name, linkProxyKey.Name,
	} {
		if i := slices.IndexFunc(said, func(o annotations.Origin) bool { return o.Key == name }); i >= 0 {
			out = append(out, said[i])
		}
	}
	return out
}

// checkLink: where a private link service can be, and how many addresses it has.
func checkLink(kind string, bag *annotations.Bag, _ []corev1.ServicePort) annotations.Problems {
	if bag.Refused(linkCreateKey, linkCountKey, linkIPsKey) {
		return nil
	}
	if !linkCreateKey.Get(bag) {
		return nil
	}
	var out annotations.Problems
	if kind == Public && !noFloatingKey.Get(bag) {
		out = append(out, linkCreateKey.Refusal(bag, "needs "+internalKey.Name+" or "+noFloatingKey.Name, ""))
	}
	if n := len(linkIPsKey.Get(bag)); n > linkCountKey.Get(bag) {
		out = append(out, linkIPsKey.Refusal(bag, "has more addresses than "+linkCountKey.Name+" says", ""))
	}
	return out
}

func linkKeys() []annotations.Declaration {
	return []annotations.Declaration{
		linkCreateKey, linkGroupKey, linkNameKey, linkSubnetKey, linkCountKey, linkIPsKey, linkNamesKey, linkProxyKey, linkVisibilityKey, linkApprovalKey,
	}
}

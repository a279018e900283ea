package model

import (
	"errors"
	"net/netip"
	"regexp"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// Keys for addresses and what is written on public IPs.
var (
	ipv4Key = &annotations.Key[netip.Addr]{
		Name: azurePrefix + "load-balancer-ipv4", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupAddress, Example: "10.240.0.25",
		Doc: "The IPv4 address: of an existing public IP, or a free one of the subnet.",
		Forms: []annotations.Form[netip.Addr]{{
			Type: annotations.IP(annotations.IPv4).Trimmed(), Empty: annotations.EmptyAbsent, DefaultDoc: "spec.loadBalancerIP if that is an IPv4 address",
			Change: annotations.Brief, Source: cpaUtils,
		}},
	}
	ipv6Key = &annotations.Key[netip.Addr]{
		Name: azurePrefix + "load-balancer-ipv6", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupAddress, Example: "2603:1020::10",
		Doc: "The IPv6 address: of an existing public IP, or a free one of the subnet.",
		Forms: []annotations.Form[netip.Addr]{{
			Type: annotations.IP(annotations.IPv6).Trimmed(), Empty: annotations.EmptyAbsent, DefaultDoc: "spec.loadBalancerIP if that is an IPv6 address",
			Change: annotations.Brief, Source: cpaUtils,
			Needs: []annotations.Need{onIPv6()}, Doc: "Spellings do not matter; the official controller compares texts.",
		}},
	}
	pipNameKey = &annotations.Key[string]{
		Name: azurePrefix + "pip-name", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupAddress, Example: "gateway-ip",
		Doc:   "Name of an existing public IP, for IPv4 or for the only family of the Service.",
		Forms: pipName(),
	}
	pipNameV6Key = annotations.Needing(&annotations.Key[string]{
		Name: azurePrefix + "pip-name-ipv6", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupAddress, Example: "gateway-ip6",
		Doc:   "Name of an existing public IP for IPv6.",
		Forms: pipName(),
	}, onIPv6())
	pipPrefixKey = &annotations.Key[string]{
		Name: azurePrefix + "pip-prefix-id", Names: annotations.NamesThe(annotations.ThingAddressPrefix), Group: groupAddress, Example: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p",
		Doc:   "Public IP prefix that the address is made from, for IPv4 or for the only family of the Service.",
		Forms: pipPrefix(),
	}
	pipPrefixV6Key = annotations.Needing(&annotations.Key[string]{
		Name: azurePrefix + "pip-prefix-id-ipv6", Names: annotations.NamesThe(annotations.ThingAddressPrefix), Group: groupAddress, Example: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p",
		Doc:   "Public IP prefix that the IPv6 address is made from.",
		Forms: pipPrefix(),
	}, onIPv6())
	additionalKey = &annotations.Key[[]netip.Addr]{
		Name: azurePrefix + "additional-public-ips", Names: annotations.NamesThe(annotations.ThingAddress), Group: groupAddress, Example: "20.1.2.3,20.1.2.4",
		Doc: "Addresses of load balancers in front, such as a global one, that clients and nodes must know.",
		Forms: []annotations.Form[[]netip.Addr]{{
			Type: annotations.ListWith(annotations.ListOptions{AtLeast: 1, Unique: true}, annotations.IP(annotations.AnyFamily)), Source: cpaAccess,
			Doc: "They are in the status after the Service's own and are destinations in the security group. Blanks around them do not count.",
		}},
	}
	dnsKey = &annotations.Key[string]{
		Name: azurePrefix + "dns-label-name", Names: annotations.NamesThe(annotations.ThingDNSLabel), Group: groupAddress, Example: "shop",
		Doc: "DNS label of the public IP; the empty text takes it away, without the key it is left alone.",
		Forms: []annotations.Form[string]{{
			Kinds: onPublic(), Type: dnsLabel(), DefaultDoc: "left alone", Source: cpaBalancer,
		}},
	}
	pipTagsKey = &annotations.Key[Tags]{
		Name: azurePrefix + "pip-tags", Names: annotations.NamesNothing(), Group: groupAddress, Example: "team=shop,stage=prod", Doc: "Tags of a public IP that is made for the Service.",
		Forms: []annotations.Form[Tags]{{
			Kinds: onPublic(), Type: tagMap(), Removal: annotations.Stays, Source: cpaBalancer, Doc: "Laid over the tags of the cloud configuration. A user's public IP is never tagged.",
		}},
	}
	pipIPTagsKey = &annotations.Key[Tags]{
		Name: azurePrefix + "pip-ip-tags", Names: annotations.NamesNothing(), Group: groupAddress, Example: "RoutingPreference=Internet", Doc: "IP tags of a public IP that is made for the Service.",
		Forms: []annotations.Form[Tags]{{
			Kinds: onPublic(), Type: tagMap(), DefaultDoc: "left as they are", Change: annotations.Replaced, Source: cpaBalancer,
			Doc: "Azure cannot change them: the public IP is deleted and recreated, with another address, unless others use it. " +
				"With enableIPTagMutationForExistingPublicIP in the cloud configuration they are changed in place.",
		}},
	}
)

// onIPv6 is the need of keys of the IPv6 address.
func onIPv6() annotations.Need {
	return annotations.Need{annotations.FieldIs(annotations.FieldFamilies, "IPv6")}
}

func pipName() []annotations.Form[string] {
	return []annotations.Form[string]{{
		Kinds: onPublic(), Type: annotations.String().Trimmed(), Empty: annotations.EmptyAbsent,
		DefaultDoc: "the public IP that has the wanted address, else one made for the Service", Change: annotations.Brief, Source: cpaUtils,
	}}
}

func pipPrefix() []annotations.Form[string] {
	const legal = "an ARM id that ends in /providers/Microsoft.Network/publicIPPrefixes/<name>"
	return []annotations.Form[string]{{
		Kinds: onPublic(), Empty: annotations.EmptyAbsent, DefaultDoc: "an address of Azure's", Change: annotations.Brief, Source: cpaUtils,
		Type: annotations.String().Trimmed().Legally(legal).Checked(func(id string) error {
			if SegmentAfter(id, "publicipprefixes") == "" || GroupOf(id) == "" {
				return errors.New("is not " + legal)
			}
			return nil
		}),
	}}
}

// dnsLabel is what Azure takes. Source: Azure Public IP addresses, DNS name label.
func dnsLabel() annotations.Type[string] {
	const legal = "3 to 63 letters, digits and hyphens that begin with a letter and end with no hyphen, or the empty text"
	return annotations.Custom("dns label", legal, func(raw string) (string, error) {
		raw = lowerCase(strings.TrimSpace(raw))
		if ok, _ := regexp.MatchString(`^[a-z][a-z0-9-]{1,61}[a-z0-9]$`, raw); raw != "" && !ok {
			return "", errors.New("is not " + legal)
		}
		return raw, nil
	})
}

func tagMap() annotations.Type[Tags] {
	return annotations.Custom("map", "key=value pairs separated by commas", func(raw string) (Tags, error) { return parseTags(raw), nil })
}

func addressKeys() []annotations.Declaration {
	return []annotations.Declaration{
		ipv4Key, ipv6Key, pipNameKey, pipNameV6Key, pipPrefixKey, pipPrefixV6Key, additionalKey, dnsKey, pipTagsKey, pipIPTagsKey,
	}
}

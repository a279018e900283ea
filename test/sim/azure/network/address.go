package network

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/azure/arm"
)

// IP versions as the API writes them.
const (
	ipv4 = "IPv4"
	ipv6 = "IPv6"
)

// subnetPrefixes reads both spellings of a subnet's ranges.
func subnetPrefixes(subnet arm.Doc) []netip.Prefix {
	texts := arm.Texts(subnet, "properties", "addressPrefixes")
	if one := arm.Text(subnet, "properties", "addressPrefix"); one != "" && !slices.Contains(texts, one) {
		texts = append(texts, one)
	}
	return parsePrefixes(texts)
}

func parsePrefixes(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		if p, err := netip.ParsePrefix(t); err == nil {
			out = append(out, p.Masked())
		}
	}
	return out
}

// isReserved reports whether Azure keeps the address: the first four and the last.
// Source: Azure Virtual Network FAQ, restrictions on addresses within subnets.
func isReserved(p netip.Prefix, ip netip.Addr) bool {
	at := p.Addr()
	for range 4 {
		if at == ip {
			return true
		}
		at = at.Next()
	}
	return ip.Is4() && !p.Contains(ip.Next())
}

// assignPrivateIP sets the private address of an ip configuration: the requested one, its
// previous one, or the lowest free one. props are those of a frontend, of an interface,
// of a private link service or of a service gateway's route target.
func assignPrivateIP(w *arm.Write, what string, props, old arm.Doc, taken map[string]bool) *arm.Error {
	version := cmp.Or(arm.Text(props, "privateIPAddressVersion"), ipv4)
	subnetID := arm.Text(props, "subnet", "id")
	subnet, _ := w.State.Part(subnetID)
	if subnet == nil {
		return unknownReference(subnetID, what)
	}
	at := slices.IndexFunc(subnetPrefixes(subnet), func(p netip.Prefix) bool { return p.Addr().Is4() == (version == ipv4) })
	if at < 0 {
		return arm.Badf("IPConfigurationAddressVersionNotInSubnet", "IP configuration %s is %s, and subnet %s has no %s range.", what, version, subnetID, version)
	}
	prefix := subnetPrefixes(subnet)[at]
	if err := checkFields(what, props, choiceField("privateIPAllocationMethod", "Dynamic", "Dynamic", "Static")); err != nil {
		return err
	}
	own := func(user string) bool {
		return user == "" || arm.Key(user) == w.ID.Key() || arm.Within(user, w.ID.String())
	}
	if arm.Text(props, "privateIPAllocationMethod") == "Static" {
		return assignStaticIP(w, what, props, prefix, taken, own)
	}
	delete(props, "privateIPAddress")
	if had := arm.Text(old, "privateIPAddress"); had != "" && arm.Key(arm.Text(old, "subnet", "id")) == arm.Key(subnetID) {
		if ip, err := netip.ParseAddr(had); err == nil && prefix.Contains(ip) && !taken[had] {
			props["privateIPAddress"], taken[had] = had, true
			return nil
		}
	}
	used := w.State.Addresses(subnetID)
	for ip := prefix.Addr(); prefix.Contains(ip); ip = ip.Next() {
		text := ip.String()
		if taken[text] || used[text] != "" || isReserved(prefix, ip) {
			continue
		}
		props["privateIPAddress"], taken[text] = text, true
		return nil
	}
	return arm.Badf("SubnetIsFull", "Subnet %s with address prefix %s does not have enough capacity for IP configuration %s.", subnetID, prefix, what)
}

func assignStaticIP(w *arm.Write, what string, props arm.Doc, prefix netip.Prefix, taken map[string]bool, own func(string) bool) *arm.Error {
	text := arm.Text(props, "privateIPAddress")
	ip, err := netip.ParseAddr(text)
	switch {
	case text == "":
		return arm.Badf("PrivateIPAddressNotProvided", "Private static IP address is not provided for IP configuration %s.", what)
	case err != nil:
		return arm.Badf("InvalidIPAddress", "The address '%s' of IP configuration %s is invalid.", text, what)
	case !prefix.Contains(ip):
		return arm.Badf("PrivateIPAddressNotInSubnet", "Private static IP address %s does not belong to the range of subnet prefix %s.", text, prefix)
	case isReserved(prefix, ip):
		return arm.Badf("PrivateIPAddressInReservedRange", "Private static IP address %s falls within reserved IP range of subnet prefix %s.", text, prefix)
	}
	text = ip.String()
	if user := w.State.AddressUser(arm.Text(props, "subnet", "id"), text); !own(user) || taken[text] {
		return arm.Badf("PrivateIPAddressIsAllocated", "IP configuration %s is using the private IP address %s which is already allocated to resource %s.", what, text, user)
	}
	props["privateIPAddress"], taken[text] = text, true
	return nil
}

// familyOf is the IP version of a prefix, an address or a range in text form; ""
// for words such as Internet.
func familyOf(text string) string {
	if p, err := netip.ParsePrefix(text); err == nil {
		return ipVersion(p.Addr())
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return ipVersion(a)
	}
	if from, _, ok := strings.Cut(text, "-"); ok {
		if a, err := netip.ParseAddr(from); err == nil {
			return ipVersion(a)
		}
	}
	return ""
}

func ipVersion(a netip.Addr) string {
	if a.Is4() {
		return ipv4
	}
	return ipv6
}

package compute

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// holder is a resource that has an address.
type holder struct {
	*entry
	collection string
}

// holders gives who has an external address in the project, or an internal one
// in the network: addresses, forwarding rules and instances.
func (c *call) holders(ip, network string) []holder {
	var out []holder
	internal := network != ""
	c.st.each("addresses", func(e *entry) bool {
		same := sameAddress(e.doc.Str("address"), ip) && (e.doc.Str("addressType") == "INTERNAL") == internal
		if same && (!internal || c.networkOf(e.doc.Str("subnetwork")) == network) {
			out = append(out, holder{e, "addresses"})
		}
		return true
	})
	c.st.each("forwardingRules", func(e *entry) bool {
		same := sameAddress(e.doc.Str("IPAddress"), ip) && (e.doc.Str("loadBalancingScheme") == "INTERNAL") == internal
		if same && (!internal || e.doc.Str("network") == network) {
			out = append(out, holder{e, "forwardingRules"})
		}
		return true
	})
	c.st.each("instances", func(e *entry) bool {
		for _, n := range e.doc.Objects("networkInterfaces") {
			if internal && n.Str("networkIP") == ip && n.Str("network") == network {
				out = append(out, holder{e, "instances"})
			}
			for _, a := range n.Objects("accessConfigs") {
				if !internal && a.Str("natIP") == ip {
					out = append(out, holder{e, "instances"})
				}
			}
		}
		return true
	})
	return out
}

// of picks the holders of one collection.
func of(list []holder, collection string) []*entry {
	var out []*entry
	for _, h := range list {
		if h.collection == collection {
			out = append(out, h.entry)
		}
	}
	return out
}

// sameAddress compares addresses, of which IPv6 ones may come as a range and in
// several spellings.
func sameAddress(a, b string) bool {
	if a == "" || b == "" || a == b || !strings.Contains(a+b, ":") {
		return a != "" && a == b
	}
	x, okX := parseAddress(a)
	y, okY := parseAddress(b)
	return okX && okY && x == y
}

// parseAddress reads an address, or the first of a range.
func parseAddress(text string) (netip.Addr, bool) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix.Addr(), true
	}
	addr, err := netip.ParseAddr(text)
	return addr, err == nil
}

func (c *call) networkOf(subnetURL string) string {
	ref, err := wire.ParseRef(subnetURL, c.project(), "subnetworks", "")
	if err != nil {
		return ""
	}
	if e := c.st.get(ref); e != nil {
		return e.doc.Str("network")
	}
	return ""
}

func inside(subnet *entry, addr netip.Addr) bool {
	prefix, err := netip.ParsePrefix(subnet.doc.Str("ipCidrRange"))
	return err == nil && prefix.Contains(addr)
}

// internalUser is who has an internal IPv4 address, empty if it is free.
func (c *call) internalUser(network, ip string) string {
	if list := c.holders(ip, network); len(list) > 0 {
		return list[0].ref.Path()
	}
	return ""
}

// takeExternal gives the next free external IPv4 address of a tier. An address
// that becomes free is not given again before all others were, so that one that
// was let go by mistake is seen to change.
func (c *call) takeExternal(tier string) (string, error) {
	block := byte(18)
	if tier == "STANDARD" {
		block = 19
	}
	for range 1 << 16 {
		c.api.bump[tier]++
		n := c.api.bump[tier]
		ip := netip.AddrFrom4([4]byte{198, block, byte(n >> 8), byte(n)}).String()
		if byte(n) != 0 && byte(n) != 255 && len(c.holders(ip, "")) == 0 {
			return ip, nil
		}
	}
	return "", wire.QuotaExceeded("IN_USE_ADDRESSES", 1<<16, "in region "+regionOf(c.scope()))
}

// takeInternal gives the next free address of a subnetwork, starting in the
// half of its range that begins at so many sixteenths.
func (c *call) takeInternal(subnet *entry, from int) (string, error) {
	prefix, err := netip.ParsePrefix(subnet.doc.Str("ipCidrRange"))
	if err != nil {
		return "", wire.Invalid("resource.subnetwork", subnet.ref.URL(), "The subnetwork has no IPv4 range.")
	}
	size := uint32(1) << (32 - prefix.Bits())
	base := prefix.Addr().As4()
	start := uint32(base[0])<<24 | uint32(base[1])<<16 | uint32(base[2])<<8 | uint32(base[3])
	key := fmt.Sprint(subnet.ref.URL(), from)
	for range size {
		c.api.bump[key]++
		offset := (size/16*uint32(from) + c.api.bump[key]) % size
		if offset < 2 || offset >= size-2 {
			continue
		}
		v := start + offset
		ip := netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String()
		if c.internalUser(subnet.doc.Str("network"), ip) == "" {
			return ip, nil
		}
	}
	return "", &wire.Error{
		Status: 403, Reason: "quotaExceeded", Code: "IP_SPACE_EXHAUSTED", Late: true,
		Message: fmt.Sprintf("IP space of '%s' is exhausted.", subnet.ref.Path()),
	}
}

// takeIPv6 gives the next /96 of a subnetwork for load balancers, spelled with
// all of its zeros as the API does.
func (c *call) takeIPv6(subnet *entry, scheme string) (string, error) {
	name := "externalIpv6Prefix"
	if scheme == "INTERNAL" {
		name = "internalIpv6Prefix"
	}
	prefix, err := netip.ParsePrefix(subnet.doc.Str(name))
	if err != nil || subnet.doc.Str("ipv6AccessType") != scheme {
		return "", wire.Invalid("resource.subnetwork", subnet.ref.URL(), "The subnetwork must have an IPv6 range of type %s.", scheme)
	}
	b := prefix.Addr().As16()
	c.api.bump[subnet.ref.URL()]++
	n := c.api.bump[subnet.ref.URL()]
	b[8], b[9], b[10], b[11] = 0x80, byte(n>>16), byte(n>>8), byte(n)
	return spell(netip.AddrFrom16(b)), nil
}

// spell writes an IPv6 address with every group.
func spell(addr netip.Addr) string {
	b := addr.As16()
	out := ""
	for i := 0; i < 16; i += 2 {
		if i > 0 {
			out += ":"
		}
		out += fmt.Sprintf("%x", uint16(b[i])<<8|uint16(b[i+1]))
	}
	return out
}

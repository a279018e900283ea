package compute

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// holder is a resource that has an address.
type holder struct {
	*entry
	collection string
}

// holders returns the holders of an external address, or of an internal one in the network:
// addresses, forwarding rules and instances. A read may request them for every item of a
// list, and therefore indexes everything once; nothing changes while it runs.
func (c *call) holders(ip, network string) []holder {
	key := addressKey(ip, network)
	if c.writes() {
		var out []holder
		v6 := strings.Contains(ip, ":")
		c.addressesInUse(func(other string, inNetwork func() string, h holder) {
			if (other == ip || (v6 && strings.Contains(other, ":"))) && addressKey(other, inNetwork()) == key {
				out = append(out, h)
			}
		})
		slices.SortFunc(out, byPath)
		return out
	}
	if c.held == nil {
		c.held = map[string][]holder{}
		c.addressesInUse(func(other string, inNetwork func() string, h holder) {
			key := addressKey(other, inNetwork())
			c.held[key] = append(c.held[key], h)
		})
		for _, list := range c.held {
			slices.SortFunc(list, byPath)
		}
	}
	return c.held[key]
}

func byPath(a, b holder) int { return strings.Compare(a.ref.Path(), b.ref.Path()) }

// addressesInUse visits every address with its network, which is empty for
// external ones and only found out when it is asked for.
func (c *call) addressesInUse(visit func(ip string, network func() string, h holder)) {
	outside := func() string { return "" }
	c.st.each("addresses", func(e *entry) bool {
		network := outside
		if e.doc.Text("addressType") == "INTERNAL" {
			network = func() string { return c.networkOf(e.doc.Text("subnetwork")) }
		}
		visit(e.doc.Text("address"), network, holder{e, "addresses"})
		return true
	})
	c.st.each("forwardingRules", func(e *entry) bool {
		network := outside
		if e.doc.Text("loadBalancingScheme") == "INTERNAL" {
			network = func() string { return e.doc.Text("network") }
		}
		visit(e.doc.Text("IPAddress"), network, holder{e, "forwardingRules"})
		return true
	})
	c.st.each("instances", func(e *entry) bool {
		for _, n := range e.doc.Objects("networkInterfaces") {
			visit(n.Text("networkIP"), func() string { return n.Text("network") }, holder{e, "instances"})
			for _, a := range n.Objects("accessConfigs") {
				visit(a.Text("natIP"), outside, holder{e, "instances"})
			}
		}
		return true
	})
}

// addressKey is the same for all spellings of an address, of which IPv6 ones may
// come as a range.
func addressKey(ip, network string) string {
	if strings.Contains(ip, ":") {
		if addr, ok := parseAddress(ip); ok {
			ip = addr.String()
		}
	}
	return network + " " + ip
}

// filterHolders returns the holders of one collection.
func filterHolders(list []holder, collection string) []*entry {
	var out []*entry
	for _, h := range list {
		if h.collection == collection {
			out = append(out, h.entry)
		}
	}
	return out
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
	if e := c.follow(subnetURL, "subnetworks"); e != nil {
		return e.doc.Text("network")
	}
	return ""
}

func subnetContains(subnet *entry, addr netip.Addr) bool {
	prefix, err := netip.ParsePrefix(subnet.doc.Text("ipCidrRange"))
	return err == nil && prefix.Contains(addr)
}

// internalUser returns the user of an internal IPv4 address, empty if it is free.
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
	prefix, err := netip.ParsePrefix(subnet.doc.Text("ipCidrRange"))
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
		if c.internalUser(subnet.doc.Text("network"), ip) == "" {
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
	prefix, err := netip.ParsePrefix(subnet.doc.Text(name))
	if err != nil || subnet.doc.Text("ipv6AccessType") != scheme {
		return "", wire.Invalid("resource.subnetwork", subnet.ref.URL(), "The subnetwork must have an IPv6 range of type %s.", scheme)
	}
	return c.nextRange(subnet, prefix, 0x80), nil
}

// nextRange gives the next /96 of a prefix of a resource.
func (c *call) nextRange(of *entry, prefix netip.Prefix, first byte) string {
	b := prefix.Addr().As16()
	c.api.bump[of.ref.URL()]++
	n := c.api.bump[of.ref.URL()]
	b[8], b[9], b[10], b[11] = first, byte(n>>16), byte(n>>8), byte(n)
	return spellIPv6(netip.AddrFrom16(b))
}

// takeDelegated gives a new range of a public delegated prefix. What has one is in no subnetwork.
func (c *call) takeDelegated(doc wire.Object, from *entry) (string, error) {
	if doc.Has("subnetwork") {
		return "", wire.Invalid("resource.subnetwork", doc.Text("subnetwork"), "The subnetwork cannot be set together with an IP collection.")
	}
	prefix, err := netip.ParsePrefix(from.doc.Text("ipCidrRange"))
	if err != nil {
		return "", wire.Invalid("resource.ipCollection", from.ref.URL(), "The public delegated prefix has no IPv6 range.")
	}
	return c.nextRange(from, prefix, 0), nil
}

// spellIPv6 writes an IPv6 address with every group.
func spellIPv6(addr netip.Addr) string {
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

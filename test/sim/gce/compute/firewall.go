package compute

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim/gce/wire"
)

// Limits of one firewall rule. Source: Virtual Private Cloud quotas page; the one
// on ports is a comment in kubernetes/ingress-gce:pkg/utils/ports.go.
const (
	maxFirewallPorts  = 100
	maxFirewallRanges = 5000
	maxFirewallTags   = 70
)

func firewallCollection() *collection {
	entries := wire.Field{Type: wire.Nested, List: true, Fields: wire.Schema{"IPProtocol": {}, "ports": {List: true}}}
	return &collection{
		name: "firewalls", param: "firewall", at: []string{"global"},
		verbs: map[string][]string{"global": {"insert", "update", "patch", "delete"}},
		schema: withCommonFields(wire.Schema{
			"network": {}, "priority": {Type: wire.Int}, "direction": {Values: []string{"INGRESS", "EGRESS"}}, "allowed": entries, "denied": entries,
			"sourceRanges": {List: true}, "destinationRanges": {List: true}, "sourceTags": {List: true}, "targetTags": {List: true},
			"sourceServiceAccounts": {List: true}, "targetServiceAccounts": {List: true}, "disabled": {Type: wire.Truth},
			"logConfig": {Type: wire.Nested, Fields: wire.Schema{"enable": {Type: wire.Truth}, "metadata": {Values: []string{"EXCLUDE_ALL_METADATA", "INCLUDE_ALL_METADATA"}}}},
		}),
		finish: (*call).finishFirewall,
		quota:  func(wire.Object) string { return "FIREWALLS" },
	}
}

func (c *call) finishFirewall(old *entry, doc wire.Object) error {
	if old != nil {
		doc.Default("network", old.doc.Text("network"))
	}
	network, err := c.network(doc.Text("network"), "resource.network")
	if err != nil {
		return err
	}
	doc["network"] = network.ref.URL()
	if err := checkImmutable(old, doc, "network", "direction"); err != nil {
		return err
	}
	doc.Default("direction", "INGRESS")
	doc.Default("priority", float64(1000))
	doc.Default("disabled", false)
	doc.Default("logConfig", wire.Object{"enable": false})
	if err := checkRange("resource.priority", doc.Num("priority"), 0, 65535); err != nil {
		return err
	}
	if (len(doc.Objects("allowed")) == 0) == (len(doc.Objects("denied")) == 0) {
		return wire.Usage("Exactly one of 'allowed' and 'denied' must be specified for a firewall rule.")
	}
	for _, name := range []string{"allowed", "denied"} {
		for i, e := range doc.Objects(name) {
			if err := finishEntry(fmt.Sprintf("resource.%s[%d]", name, i), e); err != nil {
				return err
			}
		}
	}
	for _, name := range []string{"sourceTags", "targetTags"} {
		tags := doc.Texts(name)
		if len(tags) > maxFirewallTags {
			return wire.Invalid("resource."+name, len(tags), "At most %d tags are allowed.", maxFirewallTags)
		}
		for i, tag := range tags {
			if err := wire.CheckName(fmt.Sprintf("resource.%s[%d]", name, i), tag); err != nil {
				return err
			}
		}
	}
	return finishPeers(doc)
}

// finishEntry checks one protocol with its ports. Names come back in lower case.
func finishEntry(at string, e wire.Object) error {
	protocol := strings.ToLower(e.Text("IPProtocol"))
	number, err := strconv.Atoi(protocol)
	switch {
	case protocol == "":
		return wire.Required(at + ".IPProtocol")
	case !slices.Contains([]string{"all", "tcp", "udp", "icmp", "esp", "ah", "ipip", "sctp"}, protocol) && (err != nil || number < 0 || number > 255):
		return wire.Invalid(at+".IPProtocol", e.Text("IPProtocol"), "Must be a known protocol name or a number.")
	}
	e["IPProtocol"] = protocol
	ports := e.Texts("ports")
	if len(ports) > 0 && !slices.Contains([]string{"tcp", "udp", "sctp", "6", "17", "132"}, protocol) {
		return wire.Invalid(at+".ports", strings.Join(ports, ","), "Ports may only be specified on rules whose protocol is one of [TCP, UDP, SCTP].")
	}
	if len(ports) > maxFirewallPorts {
		return wire.Invalid(at+".ports", len(ports), "At most %d ports or ranges are allowed.", maxFirewallPorts)
	}
	for i, p := range ports {
		if _, _, ok := portRange(p); !ok {
			return wire.Invalid(fmt.Sprintf("%s.ports[%d]", at, i), p, "Must be a port or a range of ports between 0 and 65535.")
		}
	}
	return nil
}

// portRange reads "80" or "80-90".
func portRange(text string) (low, high int, ok bool) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	low, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0, false
	}
	high, err = strconv.Atoi(last)
	return low, high, err == nil && low >= 0 && low <= high && high <= 65535
}

// finishPeers checks the source and the destination of the traffic. One rule is for one
// family of addresses. Source: firewall rules page of the VPC documentation.
func finishPeers(doc wire.Object) error {
	if doc.Text("direction") == "EGRESS" {
		for _, name := range []string{"sourceRanges", "sourceTags", "sourceServiceAccounts"} {
			if len(doc.Texts(name)) > 0 {
				return wire.Usage("A rule with direction EGRESS cannot have %s.", name)
			}
		}
		doc.Default("destinationRanges", []any{"0.0.0.0/0"})
	}
	v4, v6 := 0, 0
	for _, name := range []string{"sourceRanges", "destinationRanges"} {
		list := doc.Texts(name)
		if len(list) > maxFirewallRanges {
			return wire.Invalid("resource."+name, len(list), "At most %d ranges are allowed.", maxFirewallRanges)
		}
		for i, text := range list {
			prefix, ok := anyPrefix(text)
			if !ok {
				return wire.Invalid(fmt.Sprintf("resource.%s[%d]", name, i), text, "Must be a valid IPV4 or IPV6 address range.")
			}
			if prefix.Addr().Is4() {
				v4++
			} else {
				v6++
			}
		}
	}
	if v4 > 0 && v6 > 0 {
		return wire.Usage("A firewall rule cannot have both IPv4 and IPv6 ranges.")
	}
	if doc.Text("direction") == "INGRESS" && len(doc.Texts("sourceRanges"))+len(doc.Texts("sourceTags"))+len(doc.Texts("sourceServiceAccounts")) == 0 {
		doc["sourceRanges"] = []any{"0.0.0.0/0"}
	}
	if len(doc.Texts("sourceTags"))+len(doc.Texts("targetTags")) > 0 && len(doc.Texts("sourceServiceAccounts"))+len(doc.Texts("targetServiceAccounts")) > 0 {
		return wire.Usage("Tags and service accounts cannot be used in the same firewall rule.")
	}
	return nil
}

// anyPrefix reads a range without host bits, or a single address.
func anyPrefix(text string) (netip.Prefix, bool) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix, err == nil && prefix.Masked() == prefix
}

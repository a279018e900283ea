package annotations

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	netutils "k8s.io/utils/net"
)

// Family is an IP family.
type Family string

// The families.
const (
	AnyFamily Family = "IP"
	IPv4      Family = "IPv4"
	IPv6      Family = "IPv6"
)

func (f Family) holds(a netip.Addr) bool {
	switch f {
	case IPv4:
		return a.Is4()
	case IPv6:
		return a.Is6()
	}
	return true
}

// IP accepts one address of the family, without a zone.
func IP(family Family) Type[netip.Addr] {
	legal := "an " + string(family) + " address"
	return Custom("ip", legal, func(raw string) (netip.Addr, error) {
		address, err := netip.ParseAddr(raw)
		if err != nil || address.Zone() != "" || !family.holds(address) {
			return netip.Addr{}, fmt.Errorf("is not %s", legal)
		}
		return address, nil
	})
}

// CIDR accepts one block of the family and clears its host bits, as Kubernetes
// does with load balancer source ranges.
func CIDR(family Family) Type[netip.Prefix] {
	return Custom("cidr", cidrLegal(family), func(raw string) (netip.Prefix, error) {
		block, err := parseCIDR(family, raw)
		return block.Masked(), err
	})
}

// CIDRStrict is CIDR that refuses host bits.
func CIDRStrict(family Family) Type[netip.Prefix] {
	legal := cidrLegal(family) + " without host bits"
	return Custom("cidr", legal, func(raw string) (netip.Prefix, error) {
		block, err := parseCIDR(family, raw)
		if err == nil && block != block.Masked() {
			return netip.Prefix{}, fmt.Errorf("has host bits, %s is meant", block.Masked())
		}
		return block, err
	})
}

func cidrLegal(family Family) string {
	if family == AnyFamily {
		return "a CIDR such as 10.0.0.0/8"
	}
	return "an " + string(family) + " CIDR"
}

// parseCIDR also takes leading zeros, because Kubernetes does so to stay
// compatible with itself (source: k8s.io/utils/net ParseCIDRSloppy).
func parseCIDR(family Family, raw string) (netip.Prefix, error) {
	bad := fmt.Errorf("is not %s", cidrLegal(family))
	_, block, err := netutils.ParseCIDRSloppy(raw)
	if err != nil {
		return netip.Prefix{}, bad
	}
	address := raw[:strings.LastIndexByte(raw, '/')]
	parsed, ok := netip.AddrFromSlice(netutils.ParseIPSloppy(address))
	if !ok {
		return netip.Prefix{}, bad
	}
	ones, _ := block.Mask.Size()
	if block.IP.To4() != nil {
		parsed = parsed.Unmap()
	}
	if !family.holds(parsed) {
		return netip.Prefix{}, bad
	}
	return netip.PrefixFrom(parsed, ones), nil
}

// CIDRs is a comma separated list of blocks without duplicates.
func CIDRs(family Family) Type[[]netip.Prefix] {
	return ListWith(ListOptions{Unique: true}, CIDR(family))
}

// ID accepts a resource id: one of the prefixes and then letters, digits or
// hyphens, for instance sg-0a1b2c.
func ID(prefixes ...string) Type[string] {
	var shapes []string
	for _, prefix := range prefixes {
		shapes = append(shapes, prefix+"...")
	}
	legal := "an id " + oneOf(shapes)
	return Custom("id", legal, func(raw string) (string, error) {
		fits := func(prefix string) bool {
			rest, ok := strings.CutPrefix(raw, prefix)
			return ok && rest != "" && !strings.ContainsFunc(rest, notIDRune)
		}
		if !slices.ContainsFunc(prefixes, fits) {
			return "", fmt.Errorf("is not %s", legal)
		}
		return raw, nil
	})
}

func notIDRune(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '-'
}

// ARN accepts an Amazon resource name of one of the services, or of any if none
// is given. Only the shape is checked: arn:partition:service:region:account:rest.
func ARN(services ...string) Type[string] {
	legal := "an ARN"
	if len(services) > 0 {
		legal += " of service " + oneOf(services)
	}
	return Custom("arn", legal, func(raw string) (string, error) {
		parts := strings.SplitN(raw, ":", 6)
		if len(parts) != 6 || parts[0] != "arn" || parts[5] == "" || strings.ContainsAny(raw, " \t\n") {
			return "", errors.New("is not an ARN")
		}
		if len(services) > 0 && !slices.Contains(services, parts[2]) {
			return "", fmt.Errorf("is an ARN of service %q", parts[2])
		}
		return raw, nil
	})
}

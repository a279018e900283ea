package ec2

import (
	"net/netip"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// canonicalCIDR returns a CIDR block without host bits and in the usual spelling.
// EC2 accepts 100.68.0.18/18 and stores 100.68.0.0/18. ok is false for any text
// that is not a block of the family; a bare address is none.
// Source: EC2 API reference, IpRange and CreateSubnet.
func canonicalCIDR(text string, v6 bool) (netip.Prefix, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil || p.Addr().Is6() != v6 {
		return netip.Prefix{}, false
	}
	return p.Masked(), true
}

// ruleCIDR canonicalises the block of a security group rule.
func ruleCIDR(text string, v6 bool) (string, error) {
	p, ok := canonicalCIDR(text, v6)
	if !ok {
		return "", query.Errorf("InvalidParameterValue", "CIDR block %s is malformed", text)
	}
	return p.String(), nil
}

// EC2 keeps the first four addresses of a block and the last one. Source: Amazon VPC user guide, subnet CIDR blocks.
const (
	reservedLow  = 4
	reservedHigh = 1
)

func blockSize(p netip.Prefix) int {
	bits := p.Addr().BitLen() - p.Bits()
	if bits > 30 {
		bits = 30
	}
	return 1 << bits
}

// free counts the IPv4 addresses of a subnet that nothing uses.
func (s *state) free(sub Subnet) int {
	p, ok := canonicalCIDR(sub.CIDR, false)
	if !ok {
		return 0
	}
	return blockSize(p) - reservedLow - reservedHigh - len(s.usedIPs(sub.ID))
}

func (s *state) usedIPs(subnet string) map[string]bool {
	used := map[string]bool{}
	for _, i := range s.interfaces {
		if i.Subnet != subnet {
			continue
		}
		for _, ip := range i.IPs {
			used[ip] = true
		}
	}
	return used
}

// addresses hands out the lowest free addresses of a subnet.
type addresses struct {
	block netip.Prefix
	next  netip.Addr
	used  map[string]bool
	left  int
}

func (s *state) allocator(sub Subnet) *addresses {
	p, _ := canonicalCIDR(sub.CIDR, false)
	at := p.Addr()
	for range reservedLow {
		at = at.Next()
	}
	return &addresses{block: p, next: at, used: s.usedIPs(sub.ID), left: s.free(sub)}
}

// take hands out an address, if one is left.
func (a *addresses) take() (string, bool) {
	for a.left > 0 && a.block.Contains(a.next) {
		ip := a.next.String()
		a.next = a.next.Next()
		if !a.used[ip] {
			a.used[ip] = true
			a.left--
			return ip, true
		}
	}
	return "", false
}

// claim takes one given address, if it is free.
func (a *addresses) claim(ip string) bool {
	addr, err := netip.ParseAddr(ip)
	if err != nil || !a.block.Contains(addr) || a.used[ip] {
		return false
	}
	a.used[ip] = true
	a.left--
	return true
}

package model

import "slices"

// refuseForeign refuses additional addresses that another Service has: they would
// let this Service's clients in there on its ports, past the other one's source
// ranges, and nodes would take packets for that one as meant for this one. Services
// that mean to share an address say so with the public IP, where a port is one's.
func (b *builder) refuseForeign() {
	for _, a := range additionalKey.Get(b.in.Values) {
		address := a.Unmap().String()
		if b.foreign(address) {
			b.report(additionalKey.Refusal(b.in.Values, "names "+address+", which is the address of another Service", "addresses of load balancers in front of the cluster"))
		}
	}
}

// foreign reports whether other Services have the address and this one does not.
func (b *builder) foreign(address string) bool {
	others := false
	for _, ip := range b.facts.PublicIPs {
		if ip.Address != address || !ip.Managed() {
			continue
		}
		if slices.Contains(ip.Services, ServiceKey(b.in.Owner)) {
			return false
		}
		others = true
	}
	for _, lb := range b.facts.Balancers {
		for _, f := range lb.Frontends {
			if f.Address != address {
				continue
			}
			if ownedBy(b.base, f.Name) || slices.ContainsFunc(f.Users, func(rule string) bool { return ownedBy(b.base, rule) }) {
				return false
			}
			others = others || len(f.Users) > 0
		}
	}
	return others
}

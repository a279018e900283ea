package model

import (
	"fmt"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

const groupsLegal = "ids of existing security groups"

// RefusedTo says that AWS has refused a name to a Service.
func RefusedTo(o stack.Owner, name string) string { return o.UID + " " + name }

// demand refuses those of the names that AWS does not have.
func (b *builder) demand(names []string, from annotations.Origin, what, legal string) {
	for _, name := range names {
		refused := b.facts.Absent[RefusedTo(b.in.Owner, name)]
		if refused || b.facts.Absent[name] {
			p := refuseValue(from, fmt.Sprintf("names %q, which is %s", name, what), legal)
			p[0].Taken = refused
			b.report(p...)
		}
	}
}

// demandGroups refuses security group ids of the load balancer that do not exist.
func (b *builder) demandGroups(ids []string, from annotations.Origin) {
	b.demand(ids, from, "no security group of AWS, or may not be seen", groupsLegal)
}

// demandUnlisted refuses what AWS has refused lately, of everything that no list shows.
func (b *builder) demandUnlisted() {
	const (
		noCertificate, certificates = "no certificate that AWS has in the region, or none that a load balancer can have", "ARNs of certificates of ACM that are issued, in the region of the load balancer, or of IAM"
		noPolicy, policies          = "no security policy of AWS", "the name of a predefined security policy"
	)
	for _, k := range []struct {
		key         *annotations.Key[[]string]
		what, legal string
	}{
		{certsKey, noCertificate, certificates},
		{prefixListsKey, "no prefix list of AWS, or may not be seen", "ids of prefix lists of the region"},
		{eipKey, "no Elastic IP address of AWS", "allocation ids of Elastic IP addresses of the region"},
	} {
		names, from, _ := k.key.Lookup(b.in.Values)
		b.demand(names, from, k.what, k.legal)
	}
	name, from, _ := certKey.Lookup(b.in.Values)
	b.demand([]string{name}, from, noCertificate, certificates)
	name, from, _ = sslPolicyKey.Lookup(b.in.Values)
	b.demand([]string{name}, from, noPolicy, policies)
}

package aws

import (
	"cmp"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// controllerRules are for what only load balancers of kind LBC have.
func controllerRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindSharedGroup: {
			// The name is what it is found by, and one group is everybody's.
			Ignore: []string{"Name", "VPC", "Description", "Tags"},
			Clash:  diff.Refused,
		},
		KindListenerAttr: {
			Within: diff.Within{Inherent: true}, Default: defaultListenerAttributes, Ignore: []string{"Type"},
			Subset: []string{"Values"},
		},
		// AWS takes one certificate a call. Source: API reference, AddListenerCertificates.
		KindCertificates: {Within: diff.Within{Inherent: true}, Default: noCertificates, Sets: map[string]diff.Set{"ARNs": {Chunk: 1}}},
		KindCapacity:     {Within: diff.Within{Inherent: true}, Default: noCapacity},
	}
}

// controllerEdges are the orders of kind LBC that no reference says.
func controllerEdges() []diff.Edge {
	return []diff.Edge{
		{First: diff.Match{Action: plan.Create, Kind: KindNodeRule}, Then: diff.Match{Action: plan.Update, Kind: KindNetwork, Part: "groups"},
			Reason: "nodes must let the new group in before the load balancer sends from it"},
		{First: diff.Match{Action: plan.Update, Kind: KindNetwork, Part: "groups"}, Then: diff.Match{Action: plan.Delete, Kind: KindNodeRule},
			Reason: "nodes must let the old group in until the load balancer has left it"},
		{First: diff.Match{Action: plan.Update, Kind: KindNetwork, Part: "address-type"}, Then: diff.Match{Action: plan.Update, Kind: KindNetwork, Part: "subnets"},
			Reason: "IPv6 addresses and prefixes go to a load balancer of both families"},
	}
}

// defaultCodes are the HTTP codes that count as healthy where nobody says anything.
// Source: API reference, Matcher.
const defaultCodes = "200-399"

// sameCodes compares the codes where somebody chose some; found, none are the usual ones.
func sameCodes(want, have any) bool {
	w, _ := want.(string)
	h, _ := have.(string)
	return w == "" || w == cmp.Or(h, defaultCodes)
}

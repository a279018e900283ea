package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack"
)

// attrProtection refuses the deletion of a load balancer while it is "true".
const attrProtection = "deletion_protection.enabled"

// beforeDelete returns the attributes that the load balancer must have before AWS deletes it:
// deletion protection is switched off where the Service says so. Protection that the Service
// does not mention stays, since the user or another program may have switched it on.
func beforeDelete(_ identity, svc *corev1.Service, have *stack.Stack) []stack.Resource {
	if svc == nil || chooseKind(svc).Kind != LBC {
		return nil
	}
	// Other values are not judged: a Service in deletion must not depend on them.
	bag, _ := Annotations().Parse(LBC, annotations.SourceOf(svc))
	if attributesKey.Get(bag)[attrProtection] != "false" {
		return nil
	}
	var out []stack.Resource
	for r, found := range stack.Each[Attributes](have, KindNetworkAttr) {
		lb, _ := have.Get(r.In)
		if found.Values[attrProtection] == "true" && lb.Proof != stack.None && isAlone(svc, lb) {
			r.Spec = Attributes{Values: Tags{attrProtection: "false"}}
			out = append(out, r)
		}
	}
	return out
}

// isAlone reports whether no other Service has a part of a load balancer.
func isAlone(svc *corev1.Service, lb stack.Resource) bool {
	spec, _ := lb.Spec.(Network)
	return lb.Ownership != stack.External && !slices.ContainsFunc(spec.Members, func(m GroupMember) bool { return m.Service != svc.Namespace+"/"+svc.Name })
}

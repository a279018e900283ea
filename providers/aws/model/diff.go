package model

import (
	"reflect"
	"slices"
	"time"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// targetsPerCall is how many targets one call takes.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/targetgroupbinding/targets_manager.go.
const targetsPerCall = 200

// Rules says how resources of every kind are compared and written.
func Rules() diff.Rules {
	kinds := map[stack.Kind]diff.Rule{
		KindGroup: {
			Fields: diff.Fields{
				// AWS cannot change these; the name is what the group was found by.
				Immutable: []string{"Name", "VPC"},
				Ignore:    []string{"Description"},
				Equal:     map[string]diff.Equal{"Tags": sameMarkedTags},
				Subset:    []string{"Tags"},
				Parts:     map[string]string{"Tags": PartTags},
			},
			Clash: diff.Refused,
			Batch: tagBatch,
		},
		KindIngress: {
			Within: diff.Within{Inherent: true},
			Fields: diff.Fields{Sets: map[string]diff.Set{"Rules": {}}},
		},
		KindNodeRule: {
			Traffic: diff.Traffic{FollowsBackends: true}, // the groups of the nodes
			// The key is the content. A description is no part of a rule's identity.
			Fields:  diff.Fields{Ignore: []string{"Description", "Permission", "Group"}},
			Clash:   diff.Refused,
			Restore: true,
			Batch:   nodeRuleBatch,
		},
	}
	for kind, rule := range classicRules() {
		kinds[kind] = rule
	}
	for kind, rule := range networkRules() {
		kinds[kind] = rule
	}
	for kind, rule := range controllerRules() {
		kinds[kind] = rule
	}
	for kind, rule := range groupRules() {
		kinds[kind] = rule
	}
	return diff.Rules{Kinds: kinds, Edges: slices.Concat(orderEdges(), controllerEdges(), groupEdges()), Lock: lockGroup}
}

func classicRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindClassic: {
			Fields: diff.Fields{
				// The scheme can never change; Build keeps the one found, so a
				// difference would be a misreading and must not replace anything.
				Ignore: []string{"Name", "Scheme"},
				Sticky: []string{"DNSName"},
				Equal:  map[string]diff.Equal{"Groups": sameRefs},
				Subset: []string{"Tags"},
				Parts:  map[string]string{"Subnets": "subnets", "Groups": "groups", "Tags": "tags"},
			},
			Clash:   diff.Returned,
			Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"Subnets": plan.Brief, "delete": plan.Interrupts, "replace": plan.Interrupts}},
		},
		KindClassicPort: {
			Within: diff.Within{Inline: true, Cascade: true},
			Fields: diff.Fields{
				Immutable: []string{"Protocol", "InstancePort", "InstanceProtocol"},
				Ignore:    []string{"Port", "Balancer"},
				Equal:     map[string]diff.Equal{"Protocol": diff.SameFold, "InstanceProtocol": diff.SameFold, "Certificate": diff.SameFold},
			},
			Replace: diff.DeleteFirst,
			Restore: true, // one with policies is not: it takes several calls
			Traffic: diff.Traffic{Impact: map[string]plan.Impact{"replace": plan.Brief, "delete": plan.Interrupts}, Idle: isTrial},
			Batch:   classicPortBatch,
		},
		// Policies of a name cannot be changed, and their content follows from the name.
		KindClassicPol: {Within: diff.Within{Cascade: true}, Fields: diff.Fields{Ignore: []string{"Type", "Attributes"}}},
		KindClassicSSL: {
			Within: diff.Within{Inherent: true, Default: defaultPolicies},
			Fields: diff.Fields{Ignore: []string{"Port"}, Equal: map[string]diff.Equal{"Policies": samePolicies}},
		},
		KindClassicBack: {
			Within: diff.Within{Inherent: true, Default: defaultPolicies},
			Fields: diff.Fields{Ignore: []string{"Port"}, Equal: map[string]diff.Equal{"Policies": samePolicies}},
		},
		KindClassicAttr: {
			Within: diff.Within{Inherent: true, Default: defaultClassicAttributes},
			Fields: diff.Fields{Equal: map[string]diff.Equal{
				"CrossZone": samePointed, "DrainingEnabled": samePointed, "DrainingTimeout": samePointed, "IdleTimeout": samePointed,
				"LogEnabled": samePointed, "LogBucket": samePointed, "LogPrefix": samePointed, "LogEmitInterval": samePointed,
			}},
		},
		// What AWS puts there at creation is not documented, so it is always written.
		KindClassicCheck: {Within: diff.Within{Inherent: true}, Fields: diff.Fields{Equal: map[string]diff.Equal{"Target": diff.SameFold}}},
		KindClassicInst:  {Traffic: diff.Traffic{FollowsBackends: true}, Within: diff.Within{Inherent: true}, Fields: diff.Fields{Sets: map[string]diff.Set{"Instances": {}}}},
	}
}

func networkRules() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindNetwork: {
			Fields: diff.Fields{
				// The scheme stays as created, and so do the addresses in a subnet; Build says
				// so to the user.
				Ignore: []string{"Name", "Scheme"},
				Sticky: []string{"DNSName", "AddressType", "SourceNAT", "PrivateLink"},
				Equal:  map[string]diff.Equal{"Groups": sameRefs, "Mappings": sameMappings},
				Subset: []string{"Tags"},
				Parts: map[string]string{"Mappings": "subnets", "SourceNAT": "subnets", "Groups": "groups", "PrivateLink": "groups", "Tags": PartTags,
					"AddressType": "address-type"},
			},
			Batch:   tagBatch,
			Clash:   diff.Returned,
			Failed:  diff.Report, // "could not be set up": it never serves
			Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"Mappings": plan.Brief, "delete": plan.Interrupts, "replace": plan.Interrupts}},
		},
		KindNetworkAttr: {Within: diff.Within{Inherent: true, Default: defaultNetworkAttributes}, Fields: diff.Fields{Subset: []string{"Values"}}},
		KindTargetGroup: {
			Fields: diff.Fields{
				// The name tells protocol and interval of the check it was made with, and stays.
				Immutable: []string{"Protocol", "Port", "TargetType", "Family", "VPC"},
				Ignore:    []string{"Name"},
				Equal:     map[string]diff.Equal{"CheckTimeout": samePointed, "Codes": sameCodes, "Tags": sameMarkedTags},
				Subset:    []string{"Tags"},
				Parts:     map[string]string{"Tags": PartTags},
			},
			Batch:    tagBatch,
			Replace:  diff.CreateFirst,
			Clash:    diff.Returned,
			Prepares: true, // it is of no use without a listener
			// Targets of the new group are checked again before they get connections.
			Traffic: diff.Traffic{Impact: map[string]plan.Impact{"replace": plan.Brief}},
			Linger:  &diff.Linger{After: groupLinger, Since: "the listener sends to the new target group", With: letsIn},
		},
		KindTargets: {
			Traffic: diff.Traffic{FollowsBackends: true},
			Within:  diff.Within{Inherent: true},
			Fields:  diff.Fields{Sets: map[string]diff.Set{"Targets": {Chunk: targetsPerCall}}},
		},
		KindTargetAttr: {Within: diff.Within{Inherent: true, Default: defaultTargetAttributes}, Fields: diff.Fields{Ignore: []string{"Type"}, Subset: []string{"Values"}}},
		KindListener: {
			Within: diff.Within{Cascade: true},
			Fields: diff.Fields{
				Ignore: []string{"Port"},
				Sticky: []string{"SSLPolicy", "ALPN"}, // AWS chose one; taking ours back does not take its away
				Equal:  map[string]diff.Equal{"Certificate": diff.SameFold, "Tags": sameMarkedTags},
				Subset: []string{"Tags"},
				Parts:  map[string]string{"Tags": PartTags},
			},
			Batch:   tagBatch,
			Clash:   diff.Refused,
			Restore: true, // one with attributes is not: they are written after it
			Traffic: diff.Traffic{Impact: map[string]plan.Impact{"Protocol": plan.Brief, "delete": plan.Interrupts}},
		},
	}
}

// orderEdges returns the orders that do not follow from references.
func orderEdges() []diff.Edge {
	step := func(a plan.Action, k stack.Kind, part string) diff.Match {
		return diff.Match{Action: a, Kind: k, Part: part}
	}
	out := []diff.Edge{
		{First: step(plan.Create, KindNodeRule, ""), Then: diff.Match{Action: plan.Delete, Kind: KindNodeRule, Where: shutsNoOpening},
			Reason: "traffic that is allowed before and after must be allowed in between"},
		{First: step(plan.Create, KindClassic, ""), Then: step(plan.Create, KindNodeRule, ""),
			Reason: "a rule is known as ours by the load balancer, so a crash in between must leave the load balancer"},
		{First: step(plan.Create, KindNetwork, ""), Then: step(plan.Create, KindNodeRule, ""),
			Reason: "a rule is known as ours by the load balancer, so a crash in between must leave the load balancer"},
		{First: step(plan.Create, KindNodeRule, ""), Then: step(plan.Update, KindClassic, "groups"),
			Reason: "nodes must let the new group in before the load balancer sends from it"},
		{First: step(plan.Update, KindClassic, "groups"), Then: step(plan.Delete, KindNodeRule, ""),
			Reason: "nodes must let the old group in until the load balancer has left it"},
		{First: step(plan.Create, KindNodeRule, ""), Then: diff.Match{Action: plan.Update, Kind: KindListener, Effect: diff.Reroutes},
			Reason: "nodes must admit the new targets before the listener is switched to them"},
		{First: step(plan.Create, KindNodeRule, ""), Then: diff.Match{Action: plan.Update, Kind: KindTargets, Part: "targets-", Where: movesPort}, Soft: true,
			Reason: "the old targets serve until the nodes admit the new ones"},
		{First: step(plan.Update, KindListener, ""), Then: step(plan.Delete, KindNodeRule, ""),
			Reason: "the listener uses the old node port until it is switched"},
		{First: diff.Match{Action: plan.Create, Kind: KindNodeRule, Where: opensNoClosing}, Then: step(plan.Delete, KindListener, ""), Soft: true,
			Reason: "a new port that the nodes do not admit must take no old one away"},
		{First: step(plan.Delete, KindListener, ""), Then: diff.Match{Action: plan.Delete, Kind: KindNodeRule, Where: shutsNoOpening},
			Reason: "clients of the old port are served until its listener is deleted"},
		{First: step(plan.Update, KindTargets, ""), Then: step(plan.Delete, KindNodeRule, ""),
			Reason: "nodes must admit the old targets until the target group has the new ones"},
		{First: step(plan.Update, KindIngress, "rules+"), Then: step(plan.Update, KindClassic, "groups"),
			Reason: "the new group must admit the clients before the load balancer has it"},
		{First: step(plan.Update, KindIngress, "rules+"), Then: step(plan.Update, KindNetwork, "groups"),
			Reason: "the new group must admit the clients before the load balancer has it"},
		{First: step(plan.Update, KindTargetGroup, ""), Then: step(plan.Delete, KindNodeRule, ""),
			Reason: "the old port is checked until the target group has the new one"},
		{First: step(plan.Update, KindTargets, "targets+"), Then: step(plan.Create, KindListener, ""), Same: true,
			Reason: "a listener must not send to an empty target group"},
		{First: step(plan.Update, KindTargets, "targets+"), Then: step(plan.Update, KindListener, ""), Same: true,
			Reason: "a listener must not be switched to an empty target group"},
		{First: step(plan.Delete, KindNetwork, ""), Then: step(plan.Delete, KindTargetGroup, ""),
			Reason: "the listeners go with the load balancer, and they hold the target group"},
		{First: step(plan.Create, KindClassicPol, ""), Then: step(plan.Delete, KindClassicPort, ""), Same: true,
			Reason: "a policy that AWS refuses must take no listener away"},
		{First: step(plan.Create, KindClassicPort, ""), Then: step(plan.Update, KindClassicBack, ""), Same: true,
			Reason: "an instance port has policies only while a listener uses it"},
		{First: step(plan.Create, KindClassicPort, ""), Then: step(plan.Update, KindClassicCheck, ""), Same: true,
			Reason: "the check may move to the instance port of a new listener"},
	}
	out = append(out, diff.Exchange(KindListener, diff.Match{Action: plan.Delete, Kind: KindNodeRule, Where: shutsOpening},
		diff.Match{Action: plan.Create, Kind: KindNodeRule, Where: opensClosing})...)
	out = append(out, deletionEdges(KindClassic, KindNetwork, KindSharedNetwork)...)
	return append(out, portEdges(KindListener, KindClassicPort)...)
}

// movesPort reports whether the node port of targets changes.
func movesPort(r stack.Resource) bool {
	targets, _ := r.Spec.(Targets)
	return targets.Moves
}

// deletionEdges order the deletion of load balancers and of the rules that admit them to the
// nodes. AWS can refuse to delete a load balancer, under deletion protection for one, and it
// serves until then: the rules are deleted after it.
func deletionEdges(kinds ...stack.Kind) (out []diff.Edge) {
	withEvidence := func(r stack.Resource) bool { return !needsBalancer(r) && !shutsOpening(r) }
	for _, kind := range kinds {
		balancer := diff.Match{Action: plan.Delete, Kind: kind}
		out = append(out,
			diff.Edge{First: balancer, Then: diff.Match{Action: plan.Delete, Kind: KindNodeRule, Where: withEvidence},
				Reason: "the load balancer serves until AWS has deleted it"},
			diff.Edge{First: diff.Match{Action: plan.Delete, Kind: KindNodeRule, Where: needsBalancer}, Then: balancer,
				Reason: "the load balancer is the only evidence that the rule is ours"},
			diff.Edge{First: diff.Match{Action: plan.Update, Kind: KindNetworkAttr}, Then: balancer,
				Reason: "AWS deletes no load balancer under deletion protection"},
		)
	}
	return out
}

// needsBalancer reports whether nothing but the load balancer shows that a rule of the nodes is
// the Service's. That holds for rules without a mark whose source is a security group that the
// user named: the official controller writes such rules for Classic Load Balancers, and deletes
// them first as well.
func needsBalancer(r stack.Resource) bool {
	rule, ok := r.Spec.(NodeRule)
	return ok && r.Proof == stack.Derived && rule.Source.To.Kind != KindGroup
}

// portEdges are the orders of what opens a port and of what lets its clients in.
func portEdges(kinds ...stack.Kind) (out []diff.Edge) {
	for _, kind := range kinds {
		opens, closes := diff.Match{Action: plan.Create, Kind: kind}, diff.Match{Action: plan.Delete, Kind: kind}
		rules := func(part string) diff.Match {
			return diff.Match{Action: plan.Update, Kind: KindIngress, Part: part}
		}
		out = append(out,
			diff.Edge{First: rules("rules+"), Then: opens, Reason: "clients of the new port are let in first"},
			diff.Edge{First: opens, Then: closes, Soft: true, Reason: "a listener that AWS refuses must take no other one away"},
			diff.Edge{First: opens, Then: diff.Match{Action: plan.Update, Kind: balancerKindOf(kind), Part: "groups"}, Soft: true,
				Reason: "a listener that AWS refuses must take no other one away"},
			diff.Edge{First: diff.Match{Action: plan.Update, Kind: balancerKindOf(kind), Part: "groups"}, Then: closes, Soft: true,
				Reason: "a new port that the groups do not admit must take no old one away"},
			diff.Edge{First: closes, Then: rules("rules-"), Soft: true, Reason: "clients of the old port are admitted until its listener is deleted"},
		)
	}
	return out
}

// balancerKindOf returns the kind of load balancer that listeners of a kind are part of.
func balancerKindOf(listener stack.Kind) stack.Kind {
	if listener == KindClassicPort {
		return KindClassic
	}
	return KindNetwork
}

// groupLinger is how long a target group stays after its listener has been switched to
// another: a Network Load Balancer keeps sending new flows to the old targets for more
// than a minute, and new targets get none for about two.
// Source: aws/containers-roadmap#469, #470.
const groupLinger = 2 * time.Minute

// letsIn reports whether a rule of the nodes lets in the traffic of an old target group
// alone: the clients of a node port that is still desired change at once.
func letsIn(old, other stack.Resource, want []stack.Resource) bool {
	group, isGroup := old.Spec.(TargetGroup)
	rule, isRule := other.Spec.(NodeRule)
	wanted := slices.ContainsFunc(want, func(r stack.Resource) bool {
		spec, is := r.Spec.(TargetGroup)
		return is && spec.Port == group.Port
	})
	return isGroup && !wanted && isRule && rule.FromPort <= group.Port && group.Port <= rule.ToPort
}

// nodeRuleBatch: one call grants and one revokes for all Services, per group.
func nodeRuleBatch(r stack.Resource, _ plan.Action, _ string) string {
	if rule, ok := r.Spec.(NodeRule); ok {
		return "sg/" + rule.Group
	}
	return ""
}

// classicPortBatch: listeners of one load balancer are made in one call and
// removed in one call.
func classicPortBatch(r stack.Resource, a plan.Action, _ string) string {
	port, ok := r.Spec.(ClassicPort)
	if !ok || port.Balancer == "" {
		return ""
	}
	sign := map[plan.Action]string{plan.Create: "+", plan.Delete: "-"}[a]
	if sign == "" {
		return ""
	}
	return "clb/" + port.Balancer + "/listeners" + sign
}

// sameRefs ignores the order, which AWS does not keep for groups.
func sameRefs(want, have any) bool {
	w, _ := want.([]stack.Ref)
	h, _ := have.([]stack.Ref)
	return slices.Equal(sortedRefs(w), sortedRefs(h))
}

func sortedRefs(in []stack.Ref) []stack.Ref {
	out := slices.Clone(in)
	slices.SortFunc(out, stack.Ref.Compare)
	return slices.Compact(out)
}

// samePolicies compares policies by name, since a policy of ours may be found before it
// is recognized as such. The order has no meaning.
func samePolicies(want, have any) bool {
	w, _ := want.([]stack.Ref)
	h, _ := have.([]stack.Ref)
	return slices.Equal(policyNames(w), policyNames(h))
}

func policyNames(refs []stack.Ref) []string {
	var out []string
	for _, r := range refs {
		name := r.ID
		if name == "" {
			name = r.To.Name
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sameMappings compares the subnets, and addresses where the user chose one.
func sameMappings(want, have any) bool {
	w, _ := want.([]Mapping)
	h, _ := have.([]Mapping)
	return slices.EqualFunc(w, h, func(x, y Mapping) bool {
		return x.Subnet == y.Subnet && (x.Allocation == "" || x.Allocation == y.Allocation) && (x.PrivateIP == "" || x.PrivateIP == y.PrivateIP) &&
			(x.IPv6 == "" || x.IPv6 == y.IPv6) && (x.SourceNAT == "" || x.SourceNAT == y.SourceNAT)
	})
}

// samePointed compares what pointers point to; a wanted nil means "leave it".
func samePointed(want, have any) bool {
	w, h := reflect.ValueOf(want), reflect.ValueOf(have)
	if !w.IsValid() || w.IsNil() {
		return true
	}
	return h.IsValid() && !h.IsNil() && w.Elem().Equal(h.Elem())
}

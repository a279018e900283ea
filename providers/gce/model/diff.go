package model

import (
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Rules says how resources of every kind are compared and written.
func Rules() diff.Rules {
	return diff.Rules{Kinds: ruleOfKinds(), Edges: slices.Concat(orderEdges(), sameAddressEdges(VersionIPv4), sameAddressEdges(VersionIPv6), admissionEdges(), retreatEdges(), closingEdges())}
}

// ruleOfKinds returns the rules without the orders between kinds.
func ruleOfKinds() map[stack.Kind]diff.Rule {
	return map[stack.Kind]diff.Rule{
		KindExternalRule: ruleRule(),
		KindInternalRule: ruleRule(),
		KindAddress: {
			Prepares: true,
			Fields: diff.Fields{
				// Names and descriptions are what addresses are found by.
				Immutable: []string{"Type", "IPVersion", "IP", "Tier", "Subnet", "IPCollection"},
				Ignore:    []string{"Name", "Description"},
				Sticky:    []string{"IP", "Tier", "Subnet", "IPCollection"}, // the cloud fills them in
				Equal:     map[string]diff.Equal{"IPCollection": samePath},
			},
			Replace: diff.DeleteFirst,
			Clash:   diff.Refused,
			Pending: diff.Settle, // what is not reserved yet may still be lost with its rule
		},
		KindPool: {
			Traffic: diff.Traffic{FollowsBackends: true, Impact: map[string]plan.Impact{"replace": plan.Brief, "delete": plan.Interrupts}},
			Fields: diff.Fields{
				Immutable: []string{"Affinity"},
				Ignore:    []string{"Name", "Description"},
				// A pool takes one check at most, so the old one has to be removed first; meanwhile all
				// instances count as healthy, and no client is cut off.
				Sets:  map[string]diff.Set{"Instances": {Chunk: PoolMembersPerCall}, "Checks": {RemoveFirst: true}},
				Equal: map[string]diff.Equal{"Affinity": sameAffinity},
			},
			Replace: diff.DeleteFirst,
			Restore: true,
			Clash:   diff.Refused,
		},
		KindBackend:       backendRule(),
		KindCheck:         checkRule(),
		KindRegionalCheck: checkRule(),
		KindHTTPCheck:     checkRule(),
		KindGroup: {
			Traffic: diff.Traffic{FollowsBackends: true},
			Fields:  diff.Fields{Ignore: []string{"Name", "Zone"}, Sets: map[string]diff.Set{"Instances": {Chunk: GroupMembersPerCall}}},
			Clash:   diff.Refused,
			Batch:   sharedBatch,
		},
		KindNEG: {
			Traffic: diff.Traffic{FollowsBackends: true},
			Fields: diff.Fields{
				// Where a group is cannot be changed and follows from its name.
				Ignore: []string{"Name", "Zone", "Description", "Network", "Subnet"},
				Sets:   map[string]diff.Set{"Endpoints": {Chunk: NegEndpointsPerCall}},
			},
			Clash: diff.Refused,
		},
		KindFirewall:      clientFirewallRule(),
		KindCheckFirewall: checkFirewallRule(),
		KindDeny:          firewallRule(),
	}
}

func ruleRule() diff.Rule {
	return diff.Rule{
		Fields: diff.Fields{
			Immutable: []string{"Scheme", "IPVersion", "IP", "Protocol", "Ports", "Target", "Backend", "Network", "Subnet", "Tier", "IPCollection"},
			// A description is that of the creation; the IP in it may be an older one.
			Ignore: []string{"Name", "Description", "Address", "Wish"},
			// Empty: not known, or as the cloud chooses.
			Sticky: []string{"IP", "Network", "Subnet", "Tier", "IPCollection"},
			Equal:  map[string]diff.Equal{"Ports": samePorts, "Protocol": diff.SameFold, "IPCollection": samePath},
		},
		Replace: diff.DeleteFirst, // both have one name
		Restore: true,
		Clash:   diff.Refused,
		Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"replace": plan.Brief, "delete": plan.Interrupts}},
	}
}

func backendRule() diff.Rule {
	return diff.Rule{
		Traffic: diff.Traffic{
			FollowsBackends: true, // its groups are those of the nodes' zones
			Impact:          map[string]plan.Impact{"replace": plan.Interrupts, "delete": plan.Interrupts, "Affinity": plan.Brief},
		},
		Fields: diff.Fields{
			Immutable: []string{"Scheme", "Network"},
			Ignore:    []string{"Name", "Balancing"}, // the mode follows from the groups
			Sticky:    []string{"Network"},
			Equal: map[string]diff.Equal{
				"Affinity": sameAffinity, "Locality": sameLocality, "ZoneAffinity": sameSpillover,
				"Tracking": sameManaged, "Log": sameManaged, "Draining": sameDraining,
			},
			// The protocol changes only while no rule refers to the backend service. The drain
			// timeout changes with it: UDP has none.
			Parts: map[string]string{"Protocol": "protocol", "Draining": "protocol"},
		},
		Replace: diff.DeleteFirst, // both have one name
		Restore: true,
		Clash:   diff.Refused,
		Batch:   sharedBatch,
	}
}

func checkRule() diff.Rule {
	return diff.Rule{Fields: diff.Fields{Ignore: []string{"Name"}}, Clash: diff.Refused, Batch: sharedBatch, Keeps: checkFirewalls}
}

func firewallRule() diff.Rule {
	return diff.Rule{
		Traffic: diff.Traffic{FollowsBackends: true}, // it is for the tags of the nodes
		Fields: diff.Fields{
			// The network cannot be changed and follows from the configuration.
			Ignore: []string{"Name", "Network"},
			Equal: map[string]diff.Equal{
				"Allowed": sameAllowed, "Denied": sameAllowed, "Destination": sameDestination, "Tags": sameTexts, "Sources": sameTexts,
			},
		},
		Clash: diff.Refused,
		Batch: sharedBatch,
	}
}

// clientFirewallRule writes clients, ports and address in a call of its own: it waits for the
// forwarding rule, and the tags of new nodes do not. Where that call is refused, the old
// forwarding rule is restored.
func clientFirewallRule() diff.Rule {
	r := firewallRule()
	r.Role = diff.Completes
	r.Parts = map[string]string{"Allowed": PartClients, "Sources": PartClients, "Destination": PartClients, "Description": PartClients}
	return r
}

// PartClients is the part of an update of a client firewall that writes clients, ports and address.
const PartClients = "clients"

// checkFirewallRule does not compare what the official controller writes once and
// never looks at again: the IP of the Service that made a shared one.
func checkFirewallRule() diff.Rule {
	r := firewallRule()
	r.Ignore = append(r.Ignore, "Description", "Destination")
	return r
}

// sharedBatch lets steps of all Services on one shared resource become one call.
func sharedBatch(r stack.Resource, _ plan.Action, _ string) string {
	if r.Ownership != stack.Shared {
		return ""
	}
	return r.Key.String()
}

// orderEdges returns the orders that do not follow from references.
func orderEdges() []diff.Edge {
	step := func(a plan.Action, k stack.Kind, part string) diff.Match {
		return diff.Match{Action: a, Kind: k, Part: part}
	}
	var out []diff.Edge
	add := func(first, then diff.Match, why string) {
		out = append(out, diff.Edge{First: first, Then: then, Reason: why})
	}
	for _, kind := range []stack.Kind{KindExternalRule, KindInternalRule} {
		add(step(plan.Create, KindAddress, ""), step(plan.Delete, kind, ""), "the IP is held before its rule is deleted")
		add(step(plan.Delete, kind, ""), step(plan.Update, KindBackend, "protocol"), "a backend service that a rule refers to keeps its protocol")
		add(step(plan.Update, KindBackend, "protocol"), step(plan.Create, kind, ""), "a rule has the protocol of its backend service")
		out = append(out, diff.Edge{First: step(plan.Create, KindCheckFirewall, ""), Then: step(plan.Delete, kind, ""), Soft: true,
			Reason: "nodes would be unhealthy behind the new rule"})
	}
	for _, a := range []plan.Action{plan.Create, plan.Update} {
		add(step(a, KindFirewall, ""), step(plan.Delete, KindFirewall, ""), "clients are admitted before the firewall that admitted them is deleted")
	}
	for _, a := range []plan.Action{plan.Create, plan.Update} {
		add(step(plan.Update, KindGroup, "instances-"), step(a, KindBackend, ""), "a machine in two groups with load balancers is refused, and with it the backend service")
	}
	for _, kind := range []stack.Kind{KindCheck, KindRegionalCheck, KindHTTPCheck} {
		add(step(plan.Delete, kind, ""), step(plan.Delete, KindCheckFirewall, ""), "nodes would be unhealthy while the check exists without its firewall")
	}
	for _, then := range []diff.Match{step(plan.Update, KindPool, "checks"), step(plan.Update, KindBackend, "")} {
		add(step(plan.Create, KindCheckFirewall, ""), then, "nodes must let the new check in before they are judged by it")
	}
	for _, a := range []plan.Action{plan.Create, plan.Update} {
		for _, kind := range []stack.Kind{KindFirewall, KindCheckFirewall} {
			add(step(a, kind, ""), step(plan.Create, KindDeny, ""), "what is allowed must be stronger before everything else is denied")
			add(step(plan.Delete, KindDeny, ""), step(a, kind, ""), "an allowing rule may have the denial's priority only once the denial is deleted")
		}
	}
	return out
}

// sameAddressEdges order the deletions and creations of rules of one IP family, which may have
// one address. A rule of the other family stays until the new one serves.
func sameAddressEdges(version string) []diff.Edge {
	of := func(a plan.Action, kind stack.Kind, names ...string) diff.Match {
		return diff.Match{Action: a, Kind: kind, Where: func(r stack.Resource) bool {
			rule, is := r.Spec.(Rule)
			return is && rule.IPVersion == version && (len(names) == 0 || slices.Contains(names, r.Key.Name))
		}}
	}
	whole, split, single := []string{ruleL3, ruleL3IPv6}, []string{ruleTCP, ruleUDP, ruleTCPIPv6, ruleUDPIPv6}, []string{ruleIPv4, ruleIPv6}
	const same = "two rules cannot have one IP and port"
	return []diff.Edge{
		{First: of(plan.Delete, KindInternalRule), Then: of(plan.Create, KindInternalRule), Reason: same},
		{First: of(plan.Delete, KindExternalRule, slices.Concat(whole, single)...), Then: of(plan.Create, KindExternalRule), Reason: same},
		{First: of(plan.Delete, KindExternalRule, split...), Then: of(plan.Create, KindExternalRule, single...), Reason: same},
		{First: of(plan.Create, KindExternalRule, whole...), Then: of(plan.Delete, KindExternalRule, split...),
			Reason: "a rule for all of IP may stand beside others, so no client is cut off"},
	}
}

// admissionEdges order every forwarding rule that is created before the firewall of its IP
// family admits anything new. The rule can be refused because another Service has
// its address and port, and then the firewall must not have opened them. A firewall that
// existed before the replacement of a rule admits the old ports until then. What only narrows
// does not wait.
func admissionEdges() []diff.Edge {
	const why = "a port of an address may be another Service's until the forwarding rule for it exists"
	rules := map[string][]string{
		keyLegacy: {ruleIPv4},
		keyV2:     {ruleIPv4, ruleTCP, ruleUDP, ruleL3},
		keyV2IPv6: {ruleIPv6, ruleTCPIPv6, ruleUDPIPv6, ruleL3IPv6},
	}
	var out []diff.Edge
	for _, firewall := range []string{keyLegacy, keyV2, keyV2IPv6} {
		for _, name := range rules[firewall] {
			for _, kind := range []stack.Kind{KindExternalRule, KindInternalRule} {
				first := diff.Match{Action: plan.Create, Kind: kind, Name: name}
				out = append(out,
					diff.Edge{First: first, Then: diff.Match{Action: plan.Create, Kind: KindFirewall, Name: firewall}, Reason: why},
					diff.Edge{First: first, Then: diff.Match{Action: plan.Update, Kind: KindFirewall, Name: firewall, Part: PartClients, Effect: diff.Widens}, Reason: why})
			}
		}
	}
	return out
}

// retreatEdges keep what an old rule sends to until the new rule exists: under one name the
// old rule is deleted first, and can come back only while its target, the check of that and
// their firewalls exist. In the run that deletes it the engine keeps these; in later ones the
// old rule does not refer to them any more.
func retreatEdges() []diff.Edge {
	var out []diff.Edge
	for _, rule := range []stack.Kind{KindExternalRule, KindInternalRule} {
		for _, old := range []stack.Kind{KindPool, KindBackend, KindCheck, KindRegionalCheck, KindHTTPCheck, KindCheckFirewall, KindFirewall, KindGroup, KindNEG} {
			out = append(out, diff.Edge{
				First: diff.Match{Action: plan.Create, Kind: rule}, Then: diff.Match{Action: plan.Delete, Kind: old}, Soft: true,
				Reason: "what the old rule needs exists until the new rule does",
			})
		}
	}
	return out
}

// closingEdges close an address before its rule is deleted and the IP may become that of another
// Service. A refused deletion of the firewall then leaves the load balancer as it was.
func closingEdges() []diff.Edge {
	var out []diff.Edge
	for _, rule := range []stack.Kind{KindExternalRule, KindInternalRule} {
		out = append(out, diff.Edge{
			First: diff.Match{Action: plan.Delete, Kind: KindFirewall}, Then: diff.Match{Action: plan.Delete, Kind: rule}, Soft: true,
			Reason: "an address is closed before it is released",
		})
	}
	return out
}

// samePath compares resources, whatever host their URLs have.
func samePath(want, have any) bool {
	w, _ := want.(string)
	h, _ := have.(string)
	return ProjectPathOf(w) == ProjectPathOf(h)
}

// samePorts: an existing range serves a list from the same first to the same last port
// as well, and replacing the rule would cut clients off.
// Source: kubernetes/ingress-gce:pkg/l4/forwardingrules/equal.go.
func samePorts(want, have any) bool {
	w, _ := want.(Ports)
	h, _ := have.(Ports)
	if w.All != h.All {
		return false
	}
	if len(w.List) > 0 && len(h.List) > 0 {
		return sameTexts(w.List, h.List)
	}
	if len(w.List) == 0 && len(h.List) > 0 {
		return false
	}
	return w.whole() == h.whole()
}

// whole is the range from the first to the last port.
func (p Ports) whole() string {
	if len(p.List) > 0 {
		return p.List[0] + "-" + p.List[len(p.List)-1]
	}
	return p.Range
}

// sameAffinity: nothing said means none.
// Source: kubernetes/cloud-provider-gcp:providers/gce/gce_loadbalancer_external.go.
func sameAffinity(want, have any) bool {
	h, _ := have.(string)
	return h == "" || want == have
}

// sameLocality: without a desired value the existing one stays, and the cloud's default
// has two names. Source: kubernetes/ingress-gce:pkg/l4/backends/backends.go.
func sameLocality(want, have any) bool {
	w, _ := want.(string)
	h, _ := have.(string)
	plain := func(s string) bool { return s == "" || s == localityMaglev || s == LocalityRendezvous }
	return w == "" || w == h || plain(w) && plain(h)
}

// sameSpillover: nothing said means disabled.
func sameSpillover(want, have any) bool {
	w, _ := want.(string)
	h, _ := have.(string)
	return w == "" || w == h || w == spillDisabled && h == ""
}

// sameDraining: users may change how long connections drain, but UDP, which has none,
// must not have any. Source: kubernetes/ingress-gce:pkg/l4/backends/backends.go.
func sameDraining(want, have any) bool {
	w, _ := want.(int64)
	h, _ := have.(int64)
	return w > 0 || h == 0
}

// sameManaged: with a desired nil the existing value stays.
func sameManaged(want, have any) bool {
	w := reflect.ValueOf(want)
	return !w.IsValid() || w.IsNil() || reflect.DeepEqual(want, have)
}

// sameTexts compares lists as sets.
func sameTexts(want, have any) bool {
	w, _ := want.([]string)
	h, _ := have.([]string)
	return slices.Equal(sortedSet(w), sortedSet(h))
}

// sameDestination compares references, and IPs with and without a length.
func sameDestination(want, have any) bool {
	w, _ := want.(stack.Ref)
	h, _ := have.(stack.Ref)
	return w == h || w.ID != "" && h.ID != "" && sameIPs(w.ID, h.ID)
}

// sameAllowed compares protocols and ports one by one: ranges and single ports
// that mean the same are the same.
func sameAllowed(want, have any) bool {
	w, _ := want.([]Allowed)
	h, _ := have.([]Allowed)
	return reflect.DeepEqual(expandAllowed(w), expandAllowed(h))
}

func expandAllowed(list []Allowed) map[string]bool {
	out := map[string]bool{}
	for _, a := range list {
		protocol := strings.ToLower(a.Protocol)
		if len(a.Ports) == 0 {
			out[protocol] = true
		}
		for _, p := range a.Ports {
			for _, one := range portsIn(p) {
				out[protocol+" "+one] = true
			}
		}
	}
	return out
}

package model

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
)

// Parts of updates that are calls of their own.
const (
	PartShape   = "shape"
	PartGroups  = "groups"
	PartVersion = "version"
	PartAdd     = "rules+" // of a group
	PartRemove  = "rules-"
)

// rulesAtOnce is how many rules of a group one call adds or removes.
// Source: Core Services API reference, AddSecurityRulesDetails.
const rulesAtOnce = 25

// Rules says how resources of every kind are compared and written.
func Rules() diff.Rules {
	all := map[stack.Kind]diff.Rule{
		KindRuleSet: {Within: diff.Within{Inline: true, Cascade: true}, Fields: diff.Fields{Equal: map[string]diff.Equal{"Items": sameItems}}},
		// A certificate is never updated: its name has a hash of its content.
		KindCertificate: CertificateCodec().Rule(diff.Rule{Within: diff.Within{Inline: true, Cascade: true}}),
		KindEntry: {
			Traffic: diff.Traffic{Role: diff.Admits},
			// Rules in a security list carry no mark; the load balancer is the only evidence of ownership.
			ProvenBy: []stack.Kind{KindBalancer, KindListener, KindNetBalancer, KindNetListener},
			Batch:    func(r stack.Resource, _ plan.Action, _ string) string { return batchOf(r) },
		},
		KindGroup:      GroupCodec().Rule(diff.Rule{Clash: diff.Doubled}),
		KindGroupRules: {Traffic: diff.Traffic{Role: diff.Admits}, Fields: diff.Fields{Sets: map[string]diff.Set{"Rules": {Chunk: rulesAtOnce}}}},
	}
	for _, p := range Products() {
		all[p.Balancer], all[p.Set], all[p.Listener] = balancerRule(), setRule(), listenerRule()
	}
	return diff.Rules{Kinds: all, Edges: orderEdges(), Lock: lockKeys}
}

// Same reports whether a resource is in its desired state.
func Same(want, found stack.Resource) bool {
	w, f := &stack.Stack{}, &stack.Stack{}
	w.Put(want)
	f.Put(found)
	return diff.Compare(w, f, Rules(), nil).Empty()
}

func balancerRule() diff.Rule {
	return diff.Rule{
		Fields: diff.Fields{
			// These fields are immutable. Build adopts their observed values and reports it to
			// the user.
			Ignore: []string{"Name", "Compartment", "Private", "Subnets", "Reserved", "Assigned", "Assigned6", "Freeform", "Defined", "Addresses", "Was", "Guards"},
			Sticky: []string{"Version"},
			Equal:  map[string]diff.Equal{"Shape": diff.SameFold},
			Parts: map[string]string{
				"Shape": PartShape, "Least": PartShape, "Most": PartShape, "Groups": PartGroups, "Own": PartGroups, "Version": PartVersion,
			},
		},
		Replace: diff.DeleteFirst,
		Clash:   diff.Doubled,
		Pending: diff.Settle,
		Failed:  diff.Remake,
		Traffic: diff.Traffic{Role: diff.EntryPoint, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "replace": plan.Interrupts, "Shape": plan.Brief}},
	}
}

func setRule() diff.Rule {
	return diff.Rule{
		Traffic: diff.Traffic{
			Role:            diff.Members,
			FollowsBackends: true,
			Impact:          map[string]plan.Impact{"delete": plan.Interrupts},
		},
		Within: diff.Within{Inline: true, Cascade: true},
		Fields: diff.Fields{
			Ignore: []string{"Name", "Rest", "Leaves", "Opens"},
			Sticky: []string{"CipherSuite", "TLSProtocols"},
			Equal:  map[string]diff.Equal{"Backends": sameBackends},
		},
	}
}

func listenerRule() diff.Rule {
	return diff.Rule{
		Traffic: diff.Traffic{Role: diff.Port, Impact: map[string]plan.Impact{"delete": plan.Interrupts, "Protocol": plan.Brief}},
		Within:  diff.Within{Inline: true, Cascade: true},
		Fields: diff.Fields{
			// The name of a listener is immutable.
			Ignore: []string{"Name", "Rest"},
			Sticky: []string{"CipherSuite", "TLSProtocols"},
		},
	}
}

// lockLists is the lock of all security lists. While one is written the rules that other
// Services have for the next one gather, and go into it together.
const lockLists = "security lists"

// lockKeys allows one change at a time in a load balancer, which refuses others
// meanwhile, and serializes writes of security lists.
func lockKeys(_ stack.Owner, r stack.Resource, found func(stack.Key) (stack.Resource, bool)) []string {
	if r.Key.Kind == KindEntry {
		return []string{lockLists}
	}
	if _, ok := ProductOf(r.Key.Kind); !ok {
		return nil
	}
	key := r.Key
	if r.In != (stack.Key{}) {
		key = r.In
	}
	if lb, ok := found(key); ok && lb.ID != "" {
		return []string{"load balancer " + lb.ID}
	}
	return nil
}

// batchEntries begins the batch keys of rules in security lists.
const batchEntries = "security list "

// batchOf is the batch key of a rule in a security list: all rules of a list are written
// in one call, for all Services.
func batchOf(r stack.Resource) string {
	spec, _ := r.Spec.(Entry)
	return batchEntries + spec.List
}

// ListOf is the security list of a batch key; false: the batch is none of rules.
func ListOf(batch string) (string, bool) { return strings.CutPrefix(batch, batchEntries) }

// Former is the name, in keys, of a load balancer in a compartment that the Service has
// left.
const Former = "former"

// orderEdges returns the orders that do not follow from references.
func orderEdges() []diff.Edge {
	step := func(a plan.Action, k stack.Kind) diff.Match { return diff.Match{Action: a, Kind: k} }
	out := []diff.Edge{
		{First: step(plan.Delete, KindGroupRules), Then: step(plan.Delete, KindGroup), Reason: "rules that name a group are in its way"},
	}
	for _, a := range []plan.Action{plan.Create, plan.Update} {
		out = append(out,
			diff.Edge{First: step(plan.Create, KindRuleSet), Then: step(a, KindListener), Reason: "a listener names its rule sets"},
			diff.Edge{First: step(a, KindListener), Then: step(plan.Delete, KindRuleSet), Reason: "a rule set that a listener names cannot be deleted"},
		)
	}
	for _, user := range []stack.Kind{KindSet, KindListener} {
		for _, a := range []plan.Action{plan.Create, plan.Update} {
			out = append(out,
				diff.Edge{First: step(plan.Create, KindCertificate), Then: step(a, user), Reason: "it names the certificate"},
				diff.Edge{First: step(a, user), Then: step(plan.Delete, KindCertificate), Reason: "a certificate that is named cannot be deleted"},
			)
		}
		out = append(out, diff.Edge{First: step(plan.Delete, user), Then: step(plan.Delete, KindCertificate), Reason: "a certificate that is named cannot be deleted"})
	}
	out = append(out, familyEdges()...)
	for _, p := range Products() {
		for _, rules := range []stack.Kind{KindEntry, KindGroupRules} {
			out = append(out, diff.Edge{
				First: diff.Match{Kind: rules, Effect: diff.Widens}, Then: diff.Match{Action: plan.Update, Kind: p.Set, Where: opensNodes}, Soft: true,
				Reason: "nodes admit traffic at a new port before the backend set sends to it",
			})
		}
		out = append(out,
			diff.Edge{
				First: step(plan.Delete, KindEntry), Then: diff.Match{Action: plan.Update, Kind: p.Set, Where: leavesPort},
				Reason: "the node port of the backend set is the evidence of ownership of the rule, so the rule is deleted first",
			},
			diff.Edge{First: step(plan.Delete, p.Balancer), Then: step(plan.Delete, KindGroup), Reason: "a group that something is in cannot be deleted"},
			diff.Edge{First: diff.Match{Action: plan.Update, Kind: p.Balancer, Part: PartGroups}, Then: step(plan.Delete, KindGroup), Reason: "a group that something is in cannot be deleted"},
		)
	}
	return out
}

// leavesPort reports whether an update of a backend set removes a port of nodes.
func leavesPort(r stack.Resource) bool {
	set, _ := r.Spec.(BackendSet)
	return len(set.Leaves) > 0
}

// opensNodes reports whether nodes must admit more before a backend set is updated.
func opensNodes(r stack.Resource) bool {
	set, _ := r.Spec.(BackendSet)
	return set.Opens
}

// familyEdges returns the orders between a change of the families of a network load balancer,
// and what is of the family that is added or removed. What is of the other family does not
// wait for it.
func familyEdges() []diff.Edge {
	var out []diff.Edge
	for _, f := range []string{V4, V6} {
		of := func(r stack.Resource) bool {
			switch spec := r.Spec.(type) {
			case BackendSet:
				return spec.Version == f
			case Listener:
				return spec.Version == f
			}
			return false
		}
		change := func(adds bool) diff.Match {
			return diff.Match{Action: plan.Update, Kind: KindNetBalancer, Part: PartVersion, Where: func(r stack.Resource) bool {
				spec, _ := r.Spec.(Balancer)
				before, after := hasVersion(spec.Was, f), hasVersion(spec.Version, f)
				return before != after && after == adds
			}}
		}
		out = append(out, diff.Edge{First: change(true), Then: diff.Match{Action: plan.Create, Kind: KindNetSet, Where: of}, Reason: "a backend set of a family needs an address of the family"})
		for _, user := range []stack.Kind{KindNetListener, KindNetSet} {
			out = append(out, diff.Edge{First: diff.Match{Action: plan.Delete, Kind: user, Where: of}, Then: change(false), Reason: "an address family that listeners and backend sets use cannot be removed"})
		}
	}
	return out
}

func hasVersion(version, one string) bool { return version == one || version == Both }

// sameBackends reports whether the addresses and ports are equal; the operator owns all
// other settings of a backend.
func sameBackends(want, have any) bool {
	plain := func(list any) []Backend {
		var out []Backend
		backends, _ := list.([]Backend)
		for _, b := range backends {
			out = append(out, Backend{Address: b.Address, Port: b.Port})
		}
		slices.SortFunc(out, func(a, b Backend) int {
			return cmp.Or(strings.Compare(a.Address, b.Address), cmp.Compare(a.Port, b.Port))
		})
		return out
	}
	return slices.Equal(plain(want), plain(have))
}

// sameItems: the API adds fields to rules that were not said.
func sameItems(want, have any) bool {
	read := func(v any) (out []map[string]any) {
		text, _ := v.(string)
		_ = json.Unmarshal([]byte(text), &out) // it was parsed from JSON
		return out
	}
	wanted, found := read(want), read(have)
	if len(wanted) != len(found) {
		return false
	}
	for i := range wanted {
		for k, v := range wanted[i] {
			if !reflect.DeepEqual(v, found[i][k]) {
				return false
			}
		}
	}
	return true
}

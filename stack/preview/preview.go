package preview

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// Port is what a plan does to the clients of one port.
type Port struct {
	Number   uint16
	Protocol string
	Family   traffic.Family
	// Kept lists the clients that are served before and after the plan.
	Kept []netip.Prefix
	// Opens lists the clients that are served only after the plan, Closes the ones that are
	// served only before it.
	Opens, Closes []netip.Prefix
	// Missing lists the clients that are not served after the plan although the Service
	// asks for it: steps are held.
	Missing []netip.Prefix
	// Moves reports that the kept clients must use another address after the plan.
	Moves bool
	// Lost is the step after which kept clients are not served, Restored the one after which
	// they are again; nil: they are served all the time, or never again within the plan.
	Lost, Restored *plan.StepID
	// Brief is a step that may interrupt new connections of kept clients for seconds. Lost is nil.
	Brief *plan.StepID
}

// Ports returns what a plan does to each port that is served before the plan, after it, or
// as desired, in order of number, protocol and family. Want may be nil.
func Ports(have, want *stack.Stack, p plan.Plan, flows traffic.Func) []Port {
	if flows == nil {
		return nil
	}
	var prefixes [][]traffic.Flow
	for _, s := range performSteps(have, p.Steps) {
		prefixes = append(prefixes, flows([]*stack.Stack{s}))
	}
	var desired []traffic.Flow
	if want != nil {
		desired = flows([]*stack.Stack{want})
	}
	return PortsOf(p, prefixes, desired)
}

// PortsOf returns the ports of [Ports] for given flows: before the plan and after each of its
// steps, and as desired.
func PortsOf(p plan.Plan, prefixes [][]traffic.Flow, desired []traffic.Flow) []Port {
	v := &view{plan: p, desired: traffic.Of(p.Owner, desired)}
	for _, flows := range prefixes {
		v.prefixes = append(v.prefixes, traffic.Of(p.Owner, flows))
	}
	var out []Port
	for _, key := range v.keys() {
		if port, ok := v.port(key); ok {
			out = append(out, port)
		}
	}
	return out
}

// view is the traffic of one owner at each prefix of a plan.
type view struct {
	plan     plan.Plan
	prefixes [][]traffic.Flow
	desired  []traffic.Flow
}

// portKey tells ports apart.
type portKey struct {
	number   uint16
	protocol string
	family   traffic.Family
}

func keyOf(f traffic.Flow) portKey { return portKey{f.Port, f.Protocol, f.Family} }

func (k portKey) compare(o portKey) int {
	return cmp.Or(cmp.Compare(k.number, o.number), strings.Compare(k.protocol, o.protocol), strings.Compare(string(k.family), string(o.family)))
}

// keys lists the ports before the plan, after it and as desired, in order.
func (v *view) keys() []portKey {
	var out []portKey
	for _, list := range [][]traffic.Flow{v.prefixes[0], v.prefixes[len(v.prefixes)-1], v.desired} {
		for _, f := range list {
			if f.Port != 0 && !slices.Contains(out, keyOf(f)) {
				out = append(out, keyOf(f))
			}
		}
	}
	slices.SortFunc(out, portKey.compare)
	return out
}

// port judges one port; false if no client is served at any time.
func (v *view) port(key portKey) (Port, bool) {
	answers := v.knowsBackends(key)
	first, last := v.prefixes[0], v.prefixes[len(v.prefixes)-1]
	before, after := clientsOf(first, key, "", answers), clientsOf(last, key, "", answers)
	out := Port{
		Number: key.number, Protocol: key.protocol, Family: key.family,
		Kept: traffic.Intersect(before, after), Opens: traffic.Subtract(after, before), Closes: traffic.Subtract(before, after),
		Missing: traffic.Subtract(clientsOf(v.desired, key, "", answers), after),
	}
	address := ""
	if same := sharedAddress(first, last, key, answers); same != "" {
		address = same
	} else {
		out.Moves = len(out.Kept) > 0
	}
	out.Lost, out.Restored = v.gap(key, address, out.Kept, answers)
	if out.Lost == nil && len(out.Kept) > 0 {
		v.marks(&out, key)
	}
	return out, len(before)+len(after)+len(out.Missing) > 0
}

// knowsBackends reports whether a flow of the port has backends at any time. Where none has,
// the cloud's function does not know them, or there are no nodes: what listens counts.
func (v *view) knowsBackends(key portKey) bool {
	answers := func(f traffic.Flow) bool { return keyOf(f) == key && len(f.To) > 0 }
	return slices.ContainsFunc(v.desired, answers) ||
		slices.ContainsFunc(v.prefixes, func(flows []traffic.Flow) bool { return slices.ContainsFunc(flows, answers) })
}

// clientsOf returns the clients that a port serves, at the address if one is given.
func clientsOf(flows []traffic.Flow, key portKey, address string, answers bool) []netip.Prefix {
	var out []netip.Prefix
	for _, f := range flows {
		if keyOf(f) == key && (address == "" || f.Address == address) && (!answers || len(f.To) > 0) && hasListener(f) {
			out = append(out, f.From...)
		}
	}
	return traffic.Union(out)
}

// hasListener reports whether something listens behind what admits clients: a flow through one
// resource alone is an opening that leads nowhere.
func hasListener(f traffic.Flow) bool { return len(f.Through) > 1 || len(f.To) > 0 }

// sharedAddress returns an address at which a port serves before and after; empty: there is none.
func sharedAddress(before, after []traffic.Flow, key portKey, answers bool) string {
	for _, f := range before {
		if keyOf(f) != key || len(clientsOf(before, key, f.Address, answers)) == 0 {
			continue
		}
		if len(clientsOf(after, key, f.Address, answers)) > 0 {
			return f.Address
		}
	}
	return ""
}

// gap returns the first step after which kept clients are not served, and the step that
// ends the last such gap.
func (v *view) gap(key portKey, address string, kept []netip.Prefix, answers bool) (lost, restored *plan.StepID) {
	if len(kept) == 0 {
		return nil, nil
	}
	for i, s := range v.plan.Steps {
		switch {
		case !traffic.Contains(clientsOf(v.prefixes[i+1], key, address, answers), kept):
			restored = nil
			if lost == nil {
				lost = &s.ID
			}
		case lost != nil && restored == nil:
			restored = &s.ID
		}
	}
	return lost, restored
}

// marks takes over what the rules of the cloud say of steps on the way of kept clients: some
// updates in place interrupt traffic although the flow is the same before and after them.
func (v *view) marks(out *Port, key portKey) {
	through := map[stack.Key]bool{}
	for _, flows := range v.prefixes {
		for _, f := range flows {
			if keyOf(f) == key && traffic.Contains(out.Kept, traffic.Intersect(f.From, out.Kept)) {
				for _, k := range f.Through {
					through[k] = true
				}
			}
		}
	}
	for _, s := range v.plan.Steps {
		if s.Impact == plan.NoImpact || s.ID.Action != plan.Update || !through[s.ID.Key] {
			continue
		}
		if s.Impact == plan.Interrupts {
			out.Lost, out.Restored, out.Brief = &s.ID, &s.ID, nil
			return
		}
		if out.Brief == nil {
			out.Brief = &s.ID
		}
	}
}

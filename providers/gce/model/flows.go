package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// computeFlows computes what the stacks of all owners let through. A forwarding rule passes the
// packets of its address, protocol and ports to the nodes of its target, unchanged; a node
// accepts what a firewall admits to the address, whichever Service the firewall belongs to.
// Health checks cut nothing off: where all nodes are unhealthy, all get packets.
// Source: Cloud Load Balancing documentation, external and internal passthrough Network
// Load Balancers.
func computeFlows(world []*stack.Stack) []traffic.Flow {
	v := newFlowView(world)
	var out []traffic.Flow
	for _, d := range v.doors {
		out = append(out, v.flowsOf(d)...)
	}
	return traffic.Merge(out)
}

// flowView is what matters for traffic of the stacks of all owners.
type flowView struct {
	listeners []listener
	doors     []door
	denials   []door
	byID      map[string]stack.Resource // what stacks refer to by identifier
}

// listener is a forwarding rule.
type listener struct {
	in      *stack.Stack
	key     stack.Key
	rule    Rule
	address string
	spans   []span
}

// door is one entry of a firewall: what it admits or denies at an address.
type door struct {
	owner    stack.Owner
	key      stack.Key
	address  string // empty: any
	family   traffic.Family
	protocol string // TCP, UDP; empty: all
	spans    []span
	from     []netip.Prefix
	priority int64
}

func newFlowView(world []*stack.Stack) *flowView {
	v := &flowView{byID: map[string]stack.Resource{}}
	for _, s := range world {
		for _, r := range s.Resources {
			if r.ID != "" {
				v.byID[r.ID] = r
			}
			switch spec := r.Spec.(type) {
			case Rule:
				v.listeners = append(v.listeners, listener{s, r.Key, spec, ruleAddress(r.Key, spec), spec.Ports.portSpans()})
			case Firewall:
				if r.Key.Kind != KindCheckFirewall {
					v.addDoors(s, r.Key, spec)
				}
			}
		}
	}
	return v
}

// ruleAddress is the IP of a rule, or stands for the one that it will have: rules that take
// theirs from one address have the same one.
func ruleAddress(key stack.Key, rule Rule) string {
	if ip := canonicalIP(rule.IP); ip != "" {
		return ip
	}
	if !rule.Address.IsZero() {
		return rule.Address.String()
	}
	return key.String()
}

func (v *flowView) addDoors(s *stack.Stack, key stack.Key, f Firewall) {
	for _, address := range f.addresses(s) {
		for _, family := range []traffic.Family{traffic.IPv4, traffic.IPv6} {
			d := door{owner: s.Owner, key: key, address: address, family: family, from: traffic.OfFamily(traffic.Ranges(f.Sources...), family), priority: f.Priority}
			if len(d.from) == 0 {
				continue
			}
			for _, a := range f.Allowed {
				d.protocol, d.spans = strings.ToUpper(a.Protocol), Ports{List: a.Ports}.portSpans()
				v.doors = append(v.doors, d)
			}
			if len(f.Denied) > 0 {
				d.protocol, d.spans = "", nil
				v.denials = append(v.denials, d)
			}
		}
	}
}

// addresses returns what the firewall is for; one empty text where it is for all addresses.
func (f Firewall) addresses(s *stack.Stack) []string {
	if f.Destination.IsZero() {
		return []string{""}
	}
	if f.Destination.ID == "" {
		rule, _ := stack.SpecOf[Rule](s, f.Destination.To)
		return []string{ruleAddress(f.Destination.To, rule)}
	}
	var out []string
	for _, text := range strings.Split(f.Destination.ID, ",") {
		out = append(out, cmp.Or(canonicalIP(text), text))
	}
	return out
}

// flowsOf returns a flow for each port of each address that the door opens. One that no rule
// serves is open and leads nowhere.
func (v *flowView) flowsOf(d door) []traffic.Flow {
	var out []traffic.Flow
	for _, address := range v.addressesOf(d) {
		from := v.undenied(d, address)
		for _, s := range d.spans {
			for port := s.from; port <= s.to && s.to-s.from < wholeSpan; port++ {
				f := traffic.Flow{
					Owner: d.owner, Address: address, Family: d.family, Port: uint16(port), Protocol: d.protocol,
					From: from, Through: []stack.Key{d.key},
				}
				if l, ok := v.listenerAt(address, d.family, d.protocol, port); ok {
					f.Owner, f.Through = l.in.Owner, []stack.Key{l.key, d.key}
					v.addBackends(&f, l)
				}
				out = append(out, f)
			}
		}
	}
	return out
}

// wholeSpan is from how many ports on an entry means all of a protocol, which no firewall for
// clients says.
const wholeSpan = 65535

// addressesOf returns the addresses that the door is for: those of all rules of the family
// where it names none.
func (v *flowView) addressesOf(d door) []string {
	if d.address != "" {
		return []string{d.address}
	}
	var out []string
	for _, l := range v.listeners {
		if l.familyOf() == d.family && !slices.Contains(out, l.address) {
			out = append(out, l.address)
		}
	}
	return out
}

func (l listener) familyOf() traffic.Family {
	if l.rule.IPVersion == VersionIPv6 {
		return traffic.IPv6
	}
	return traffic.IPv4
}

// undenied returns the clients that no stronger firewall denies. Of two with one priority the
// one that denies is stronger.
// Source: Virtual Private Cloud documentation, firewall rules, priority.
func (v *flowView) undenied(d door, address string) []netip.Prefix {
	from := d.from
	for _, no := range v.denials {
		if no.family == d.family && no.priority <= d.priority && (no.address == "" || no.address == address) {
			from = traffic.Subtract(from, no.from)
		}
	}
	return from
}

// listenerAt returns the rule that gets the packets: one for the protocol before one for all of IP.
func (v *flowView) listenerAt(address string, family traffic.Family, protocol string, port int) (listener, bool) {
	for _, wanted := range []string{protocol, protocolL3} {
		for _, l := range v.listeners {
			if l.address == address && l.familyOf() == family && strings.EqualFold(l.rule.Protocol, wanted) &&
				slices.ContainsFunc(l.spans, func(s span) bool { return s.from <= port && port <= s.to }) {
				return l, true
			}
		}
	}
	return listener{}, false
}

// addBackends adds the nodes behind the rule.
func (v *flowView) addBackends(f *traffic.Flow, l listener) {
	pool, pooled := v.resolve(l.in, l.rule.Target)
	if spec, ok := pool.Spec.(Pool); ok && pooled {
		f.Through = append(f.Through, pool.Key)
		for _, path := range spec.Instances {
			f.To = append(f.To, traffic.Backend{Name: LastOf(path), Port: f.Port})
		}
	}
	backend, _ := v.resolve(l.in, l.rule.Backend)
	spec, ok := backend.Spec.(Backend)
	if !ok || spec.Scheme != l.rule.Scheme {
		return
	}
	f.Through = append(f.Through, backend.Key)
	for _, ref := range spec.Groups {
		group, _ := v.resolve(l.in, ref)
		switch g := group.Spec.(type) {
		case Group:
			for _, name := range g.Instances {
				f.To = append(f.To, traffic.Backend{Name: name, Port: f.Port})
			}
		case NEG:
			for _, e := range g.Endpoints {
				f.To = append(f.To, traffic.Backend{Name: e.Instance, Port: f.Port})
			}
		default:
			f.To = append(f.To, traffic.Backend{Name: ref.String(), Port: f.Port}) // of another owner
			continue
		}
		f.Through = append(f.Through, group.Key)
	}
}

// resolve finds what a reference of a stack leads to, there or in any other.
func (v *flowView) resolve(in *stack.Stack, ref stack.Ref) (stack.Resource, bool) {
	if ref.ID != "" {
		r, ok := v.byID[ref.ID]
		return r, ok
	}
	return in.Get(ref.To)
}

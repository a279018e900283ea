package model

import (
	"hash/fnv"
	"net/netip"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// computeFlows computes what the stacks of all owners let through. A listener accepts the clients
// that the security groups of its load balancer admit, everyone if it has none; groups of
// the user's are taken to admit everyone, since their rules are in no stack. Targets get
// traffic by the weight of their target group, as far as the rules of the nodes admit it: a
// rule whose source is a group of the load balancer, or a range of clients.
//
// Health checks are left out: if all targets are unhealthy, a Network Load Balancer sends to all.
// Nodes whose rules the user keeps (DisableSecurityGroupIngress) look closed.
// Sources: User Guides for Network and for Classic Load Balancers; Amazon VPC, "Security group rules".
func computeFlows(world []*stack.Stack) []traffic.Flow {
	v := newFlowView(world)
	var out []traffic.Flow
	for _, s := range world {
		for _, r := range s.Of(KindClassicPort) {
			out = append(out, v.classicFlows(s, r)...)
		}
		for _, r := range s.Of(KindListener) {
			out = append(out, v.networkFlows(s, r)...)
		}
	}
	serving := map[traffic.ID]bool{}
	for _, f := range out {
		serving[f.ID()] = serving[f.ID()] || f.Serves()
	}
	for _, s := range world {
		for _, f := range v.doors(s) {
			if !serving[f.ID()] { // else the nodes decide on its clients, too
				out = append(out, f)
			}
		}
	}
	return traffic.Merge(out)
}

// flowView is what decides on traffic for the Services of all owners.
type flowView struct {
	nodes   []admission                  // in the groups of the nodes
	clients map[string][]admission       // of security groups, by what names them across owners
	byID    map[string]stack.Resource    // target groups by ARN
	targets map[string][]traffic.Backend // of target groups by ARN
}

// admission is one rule of a security group.
type admission struct {
	key stack.Key
	Permission
	source string // the group that it admits; empty: the range does
	from   []netip.Prefix
}

func newAdmission(key stack.Key, p Permission, source string) admission {
	return admission{key: key, Permission: p, source: source, from: clientsOf(p.CIDR)}
}

func newFlowView(world []*stack.Stack) *flowView {
	v := &flowView{clients: map[string][]admission{}, byID: map[string]stack.Resource{}, targets: map[string][]traffic.Backend{}}
	for _, s := range world {
		for _, r := range s.Resources {
			switch spec := r.Spec.(type) {
			case NodeRule:
				v.nodes = append(v.nodes, newAdmission(r.Key, spec.Permission, securityGroupName(s, spec.Source)))
			case Ingress:
				name := securityGroupName(s, stack.RefTo(r.In))
				for _, p := range spec.Rules {
					v.clients[name] = append(v.clients[name], newAdmission(r.Key, p, ""))
				}
			case FrontRule:
				name := securityGroupName(s, stack.RefTo(r.In))
				v.clients[name] = append(v.clients[name], newAdmission(r.Key, spec.Permission, ""))
			case TargetGroup:
				if r.ID != "" {
					v.byID[r.ID] = r
					v.targets[r.ID] = targetsIn(s, r.Key.Name)
				}
			}
		}
	}
	return v
}

// securityGroupName names a security group in the same way in the stacks of all owners; empty for no
// group.
func securityGroupName(s *stack.Stack, ref stack.Ref) string {
	if ref.To == (stack.Key{}) {
		return ref.ID
	}
	r, _ := s.Get(ref.To)
	switch {
	case r.ID != "":
		return r.ID
	case ref.To.Kind == KindGroup:
		return s.Owner.UID + " " + ref.To.String()
	}
	return ref.To.String()
}

// targetsIn are the targets of a target group of a stack, as backends.
func targetsIn(s *stack.Stack, group string) (out []traffic.Backend) {
	spec, _ := stack.SpecOf[Targets](s, stack.Key{Kind: KindTargets, Name: group})
	for _, t := range spec.Targets {
		out = append(out, traffic.Backend{Name: t.ID, Port: uint16(t.Port)})
	}
	return out
}

// classicFlows are those of a listener of a Classic Load Balancer, which sends from its own
// addresses.
func (v *flowView) classicFlows(s *stack.Stack, r stack.Resource) []traffic.Flow {
	lb, ok := s.Get(r.In)
	spec, _ := lb.Spec.(Classic)
	l, _ := r.Spec.(ClassicPort)
	if !ok || l.Trial {
		return nil
	}
	f := traffic.Flow{Owner: s.Owner, Address: addressOf(lb), Family: traffic.IPv4, Port: uint16(l.Port), Protocol: "TCP", Through: []stack.Key{lb.Key, r.Key}}
	f = v.admitClients(s, f, spec.Groups)
	members, _ := s.Get(stack.Key{Kind: KindClassicInst})
	instances, _ := members.Spec.(ClassicInstances)
	f.Through = append(f.Through, members.Key)
	for _, id := range instances.Instances {
		f.To = append(f.To, traffic.Backend{Name: id, Port: uint16(l.InstancePort)})
	}
	return v.admitBackends(s, f, spec.Groups, true)
}

// networkFlows are those of a listener of a Network Load Balancer, for each family and protocol.
func (v *flowView) networkFlows(s *stack.Stack, r stack.Resource) (out []traffic.Flow) {
	lb, ok := s.Get(r.In)
	spec, _ := lb.Spec.(Network)
	l, _ := r.Spec.(Listener)
	if !ok || r.Proof == stack.None && r.ID != "" { // another Service's, which has it in its own stack
		return nil
	}
	families := []traffic.Family{traffic.IPv4}
	if spec.AddressType == addressDual {
		families = append(families, traffic.IPv6)
	}
	for _, family := range families {
		for _, protocol := range packetsOf(l.Protocol) {
			f := traffic.Flow{Owner: s.Owner, Address: addressOf(lb), Family: family, Port: uint16(l.Port), Protocol: protocol, Through: []stack.Key{lb.Key, r.Key}}
			f = v.admitClients(s, f, spec.Groups)
			out = append(out, v.forward(s, f, l, spec.Groups)...)
		}
	}
	return out
}

// packetsOf are the protocols of packets that a listener accepts.
func packetsOf(protocol string) []string {
	switch protocol {
	case "UDP", protocolQUIC:
		return []string{"UDP"}
	case protocolBoth, protocolTCPQUIC:
		return []string{"TCP", "UDP"}
	}
	return []string{"TCP"}
}

// forward adds the targets of all groups with a share. Where targets see the addresses of
// clients, only clients that the nodes admit are served.
func (v *flowView) forward(s *stack.Stack, f traffic.Flow, l Listener, groups []stack.Ref) (out []traffic.Flow) {
	shares := l.Shares
	if len(shares) == 0 {
		shares = []Weighted{{Weight: DefaultWeight}}
	}
	for _, w := range shares {
		ref := stack.RefID(w.Group)
		if w.own() {
			ref = l.TargetGroup
		} else if !w.Of.IsZero() {
			ref = w.Of
		}
		if w.Weight == 0 {
			continue
		}
		g, group, name := f, v.byID[ref.ID], ref.To.Name
		if name != "" {
			group, _ = s.Get(ref.To)
			g.To = targetsIn(s, name)
		} else {
			g.To, name = v.targets[ref.ID], group.Key.Name
		}
		attributes, _ := s.Get(stack.Key{Kind: KindTargetAttr, Name: name})
		g.Through = append(slices.Clone(f.Through), group.Key, stack.Key{Kind: KindTargets, Name: name})
		out = append(out, v.admitBackends(s, g, groups, hidesClients(group, attributes, f.Protocol))...)
	}
	return out
}

// hidesClients reports whether targets see the load balancer's addresses instead of the clients'.
func hidesClients(group, attributes stack.Resource, protocol string) bool {
	spec, _ := group.Spec.(TargetGroup)
	if said, ok := attributes.Spec.(Attributes); ok && said.Values[attrPreserveIP] != "" {
		return said.Values[attrPreserveIP] == "false"
	}
	return protocol == "TCP" && spec.TargetType == targetIP
}

// admitClients fills in the clients that the security groups of a load balancer admit.
func (v *flowView) admitClients(s *stack.Stack, f traffic.Flow, groups []stack.Ref) traffic.Flow {
	if len(groups) == 0 {
		f.From = traffic.Everyone(f.Family)
	}
	protocol := strings.ToLower(f.Protocol)
	for _, ref := range groups {
		rules, known := v.clients[securityGroupName(s, ref)]
		if !known && ref.To == (stack.Key{}) {
			f.From = traffic.Union(f.From, traffic.Everyone(f.Family)) // a group of the user's
		}
		for _, r := range rules {
			if r.admits(protocol, f.Port) {
				f.From = traffic.Union(f.From, traffic.OfFamily(r.from, f.Family))
				f.Through = append(f.Through, r.key)
			}
		}
	}
	return f
}

// admitBackends returns a flow to the backends at which nodes admit clients of it.
func (v *flowView) admitBackends(s *stack.Stack, f traffic.Flow, groups []stack.Ref, hidden bool) []traffic.Flow {
	sources := make([]string, 0, len(groups))
	for _, ref := range groups {
		sources = append(sources, securityGroupName(s, ref))
	}
	var from [][]netip.Prefix
	out, protocol := f, strings.ToLower(f.Protocol)
	out.To, out.Through = nil, slices.Clone(f.Through)
	for _, b := range f.To {
		admitted := false
		for i := range v.nodes {
			r := &v.nodes[i]
			if !r.admits(protocol, b.Port) || r.source != "" && !slices.Contains(sources, r.source) {
				continue
			}
			clients := r.clientsOf(f, hidden)
			if len(clients) == 0 {
				continue
			}
			admitted = true
			if last := len(from) - 1; last < 0 || !slices.Equal(from[last], clients) {
				from = append(from, clients)
			}
			if !slices.Contains(out.Through, r.key) {
				out.Through = append(out.Through, r.key)
			}
		}
		if admitted {
			out.To = append(out.To, b)
		}
	}
	if len(from) > 0 {
		out.From = traffic.Union(from...)
		return []traffic.Flow{out}
	}
	if len(groups) > 0 {
		f.To = nil
		return []traffic.Flow{f} // the load balancer admits clients, even though no node does
	}
	return nil
}

// clientsOf returns the clients of a flow that a rule of nodes admits; hidden says that nodes see
// the load balancer's addresses in their place.
func (r *admission) clientsOf(f traffic.Flow, hidden bool) []netip.Prefix {
	if r.source == "" && !hidden {
		return traffic.Intersect(f.From, r.from)
	}
	return f.From
}

// admits reports whether a rule is about a port of a protocol in lower case.
func (p Permission) admits(protocol string, port uint16) bool {
	return p.Protocol == "-1" || p.Protocol == protocol && p.FromPort <= int32(port) && int32(port) <= p.ToPort
}

// doors are the ports that a load balancer's own security group opens, with or without a listener.
func (v *flowView) doors(s *stack.Stack) (out []traffic.Flow) {
	for _, kind := range []stack.Kind{KindClassic, KindNetwork} {
		for _, lb := range s.Of(kind) {
			for _, r := range s.Of(KindIngress) {
				spec, _ := r.Spec.(Ingress)
				for _, p := range spec.Rules {
					if p.Protocol != "tcp" && p.Protocol != "udp" || !slices.Contains(groupsIn(lb), stack.RefTo(r.In)) {
						continue
					}
					for _, family := range []traffic.Family{traffic.IPv4, traffic.IPv6} {
						out = append(out, traffic.Flow{
							Owner: s.Owner, Address: addressOf(lb), Family: family, Port: uint16(p.FromPort), Protocol: strings.ToUpper(p.Protocol),
							From: traffic.OfFamily(clientsOf(p.CIDR), family), Through: []stack.Key{lb.Key, r.Key},
						})
					}
				}
			}
		}
	}
	return out
}

func groupsIn(lb stack.Resource) []stack.Ref {
	switch spec := lb.Spec.(type) {
	case Classic:
		return spec.Groups
	case Network:
		return spec.Groups
	}
	return nil
}

// addressOf is the identifier of a load balancer, of which its address is made.
func addressOf(lb stack.Resource) string {
	if lb.ID != "" {
		return lb.ID
	}
	return lb.Key.String()
}

// clientsOf are the clients of a rule. The ranges of a prefix list are in no stack: an address
// of the network 0.0.0.0/8, which no client has, stands for it.
func clientsOf(source string) []netip.Prefix {
	if !strings.HasPrefix(source, "pl-") {
		return traffic.Ranges(source)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(source)) // never fails
	sum := h.Sum32()
	return []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{0, byte(sum >> 16), byte(sum >> 8), byte(sum)}), 32)}
}

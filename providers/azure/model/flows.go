package model

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
)

// computeFlows computes what the stacks of all owners let through. A rule passes packets to
// the members of its pool: with the address of the frontend while floating IP is on, else
// with that of the node. The security group filters them there: allow entries have lower
// priority numbers than deny entries, and without either the default rules admit the virtual
// network to private addresses. Probes cut nothing off: where all members are unhealthy, the
// flow is as it was. Load balancers of pods are not covered.
// Source: Azure documentation, network security groups, and Load Balancer floating IP.
func computeFlows(world []*stack.Stack) []traffic.Flow {
	v := newFlowView(world)
	var out []traffic.Flow
	for _, s := range world {
		for _, r := range s.Of(KindEntries) {
			if e, ok := r.Spec.(Entries); ok {
				out = append(out, v.flowsOf(s.Owner, r.Key, e)...)
			}
		}
	}
	for _, door := range v.doors() {
		sent := func(f traffic.Flow) bool {
			return f.Address == door.Address && f.Port == door.Port && f.Protocol == door.Protocol && len(f.From) > 0
		}
		if !slices.ContainsFunc(out, sent) { // else no packet has the address when it is filtered
			out = append(out, door)
		}
	}
	return traffic.Merge(out)
}

// flowView is what matters for traffic of the stacks of all owners.
type flowView struct {
	entries map[string][]stack.Resource // of the security group, by destination
	members map[stack.Key][]PoolAddress // by pool
	holders map[stack.Key][]stack.Key   // resources with members, by pool
	used    map[gate]bool
	owners  map[string]stack.Owner // by address of a frontend, else by destination of an entry
	atNodes []stack.Resource       // entries for private addresses without a frontend
}

// gate is what one entry of the security group admits to.
type gate struct {
	destination, protocol string
	port                  int32
}

func newFlowView(world []*stack.Stack) *flowView {
	v := &flowView{entries: map[string][]stack.Resource{}, members: map[stack.Key][]PoolAddress{}, holders: map[stack.Key][]stack.Key{}, used: map[gate]bool{}, owners: map[string]stack.Owner{}}
	seen, fronts := map[stack.Key]bool{}, map[string]stack.Owner{}
	for _, s := range world {
		for _, r := range s.Resources {
			switch spec := r.Spec.(type) {
			case Entries:
				for _, f := range spec.Frontends {
					fronts[f.Address] = s.Owner
				}
			case Access:
				if !seen[r.Key] {
					v.owners[spec.Destination] = s.Owner
					seen[r.Key] = true
					v.entries[spec.Destination] = append(v.entries[spec.Destination], r)
				}
			case Pool:
				v.join(r.Key, spec.Addresses...)
			case NICs:
				v.addHolder(spec.Pool.To, r.Key)
				for _, m := range spec.Members {
					v.join(spec.Pool.To, PoolAddress{Name: m.Node})
				}
			case ScaleSet:
				v.addHolder(spec.Pool.To, r.Key)
				for _, m := range spec.Instances {
					v.join(spec.Pool.To, PoolAddress{Name: m.Node})
				}
			}
		}
	}
	v.collectAtNodes(fronts)
	maps.Copy(v.owners, fronts)
	return v
}

// collectAtNodes collects the entries for private addresses that no frontend has.
func (v *flowView) collectAtNodes(fronts map[string]stack.Owner) {
	for address, list := range v.entries {
		_, front := fronts[address]
		if at, err := netip.ParseAddr(address); err == nil && at.IsPrivate() && !front {
			v.atNodes = append(v.atNodes, list...)
		}
	}
}

// addHolder notes a resource that holds members of a pool.
func (v *flowView) addHolder(pool, members stack.Key) {
	if !slices.Contains(v.holders[pool], members) {
		v.holders[pool] = append(v.holders[pool], members)
	}
}

// join adds members to a pool, each once.
func (v *flowView) join(pool stack.Key, members ...PoolAddress) {
	for _, m := range members {
		if !slices.Contains(v.members[pool], m) {
			v.members[pool] = append(v.members[pool], m)
		}
	}
}

// flowsOf returns the flows of the rules of one Service in a load balancer.
func (v *flowView) flowsOf(owner stack.Owner, key stack.Key, e Entries) []traffic.Flow {
	var out []traffic.Flow
	for _, r := range e.Rules {
		i := slices.IndexFunc(e.Frontends, func(f Frontend) bool { return strings.EqualFold(f.Name, r.Frontend) })
		if i < 0 {
			continue
		}
		front := e.Frontends[i]
		f := traffic.Flow{
			Owner: owner, Address: placeOf(key, front), Family: traffic.Family(front.Version), Port: uint16(r.FrontendPort), Protocol: flowProtocol(r),
			Through: append([]stack.Key{key, PoolKey(e.Balancer, r.Pool)}, v.holders[PoolKey(e.Balancer, r.Pool)]...),
		}
		if toNode(r) {
			out = append(out, v.toNodes(f, r, !front.PublicIP.IsZero())...)
			continue
		}
		for _, m := range v.members[PoolKey(e.Balancer, r.Pool)] {
			f.To = append(f.To, traffic.Backend{Name: m.Name, Port: uint16(r.BackendPort)})
		}
		from, through := v.admitted(front.Address, f.Family, r.Protocol, r.FrontendPort, front.PublicIP.IsZero())
		f.From, f.Through = from, append(f.Through, through...)
		out = append(out, f)
	}
	return out
}

// toNodes returns a flow for each set of clients that reach nodes, where the security group
// sees the address of the node. The clients of a private frontend keep their addresses. Pools
// of interfaces do not show the addresses of nodes; entries for nodes are for all of them.
func (v *flowView) toNodes(f traffic.Flow, r Rule, public bool) []traffic.Flow {
	var out []traffic.Flow
	pool := f.Through[1]
	for _, m := range v.members[pool] {
		one := f
		one.To = []traffic.Backend{{Name: m.Name, Port: uint16(r.BackendPort)}}
		from, through := v.admitted(m.IP, f.Family, r.Protocol, r.BackendPort, !public)
		one.From, one.Through = from, slices.Concat(f.Through, through)
		out = append(out, one)
	}
	return out
}

// placeOf is the address of a frontend, or stands for the one that it will have.
func placeOf(key stack.Key, f Frontend) string {
	switch {
	case f.Address != "":
		return f.Address
	case !f.PublicIP.IsZero():
		return f.PublicIP.String()
	}
	return key.String() + "/" + f.Version
}

// flowProtocol is the protocol of a rule. Rules for SCTP are for all protocols at one port,
// and those for every port have none.
func flowProtocol(r Rule) string {
	switch {
	case r.Protocol != protocolAll:
		return strings.ToUpper(r.Protocol)
	case r.FrontendPort != 0:
		return "SCTP"
	}
	return ""
}

// admitted returns the clients that may send to a port of an address, and the entries that
// admit them.
func (v *flowView) admitted(address string, family traffic.Family, protocol string, port int32, private bool) ([]netip.Prefix, []stack.Key) {
	var from []netip.Prefix
	var through []stack.Key
	denied := false
	list := v.entries[address]
	if address == "" {
		list = v.atNodes
	}
	for _, r := range list {
		a, _ := r.Spec.(Access)
		switch {
		case a.Deny:
			denied = true
		case a.admits(protocol, port):
			from, through = traffic.Union(from, a.clients(family)), append(through, r.Key)
			for _, p := range a.Ports {
				if n := portNumber(p); port == 0 || n == port {
					v.used[gate{a.Destination, a.Protocol, n}] = true
				}
			}
		}
	}
	if private && !denied {
		from = traffic.Union(from, networkOf(family))
	}
	return from, through
}

// networkOf stands for the addresses of the virtual network, its peers and what is connected
// to it, which Azure calls VirtualNetwork. The rest is Internet.
func networkOf(family traffic.Family) []netip.Prefix {
	if family == traffic.IPv6 {
		return traffic.Ranges("fc00::/7")
	}
	return traffic.Ranges("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
}

// clients returns the ranges of an entry. A service tag that names ranges of Azure stands for
// one reserved address.
func (a Access) clients(family traffic.Family) []netip.Prefix {
	var out []netip.Prefix
	for _, source := range a.Sources {
		p, err := netip.ParsePrefix(source)
		switch {
		case source == sourceInternet:
			out = append(out, traffic.Subtract(traffic.Everyone(family), networkOf(family))...)
		case source == sourceNetwork:
			out = append(out, networkOf(family)...)
		case err == nil:
			out = append(out, p)
		default:
			h := fnv.New32a()
			_, _ = h.Write([]byte(source)) // never fails
			n := h.Sum32() & 0xffffff
			text := fmt.Sprintf("240.%d.%d.%d/32", n>>16, n>>8&0xff, n&0xff)
			if family == traffic.IPv6 {
				text = fmt.Sprintf("100::%x:%x/128", n>>16, n&0xffff)
			}
			out = append(out, netip.MustParsePrefix(text))
		}
	}
	return traffic.OfFamily(traffic.Union(out), family)
}

// doors returns flows that lead nowhere, for entries of the security group without a rule.
// Entries for a private address without a frontend are for nodes, which have no flows of
// their own.
func (v *flowView) doors() []traffic.Flow {
	var out []traffic.Flow
	for address, list := range v.entries {
		if at, err := netip.ParseAddr(address); err != nil || at.IsPrivate() {
			continue
		}
		for _, r := range list {
			a, _ := r.Spec.(Access)
			for _, text := range a.Ports {
				n := portNumber(text)
				if v.used[gate{address, a.Protocol, n}] {
					continue
				}
				protocol := strings.ToUpper(a.Protocol)
				if protocol == "*" {
					protocol = "SCTP"
				}
				out = append(out, traffic.Flow{
					Owner: v.owners[address], Address: address, Family: traffic.Family(a.Family), Port: uint16(n), Protocol: protocol,
					From: a.clients(traffic.Family(a.Family)), Through: []stack.Key{r.Key},
				})
			}
		}
	}
	return out
}

// portNumber returns a port of a rule; 0 for all of them.
func portNumber(text string) int32 {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int32(n)
}

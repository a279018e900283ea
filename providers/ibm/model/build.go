package model

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// builder assembles the desired stack of one Service.
type builder struct {
	in       Input
	facts    *Facts
	have     *stack.Stack
	out      *stack.Stack
	problems annotations.Problems
}

// Build returns the desired stack of a Service. With a problem that is an error there is no
// stack, and the last good one stays.
func Build(in Input, facts *Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
	if facts == nil {
		facts = &Facts{}
	}
	b := &builder{in: in, facts: facts, have: have, out: &stack.Stack{Owner: in.Owner}}
	if beyond := providers.Exceeds(Capabilities(), Reach(in)); len(beyond) > 0 {
		return nil, beyond, nil
	}
	b.check()
	if !b.problems.Errors() {
		b.balancer()
	}
	if !b.problems.Errors() {
		b.ports()
	}
	if b.problems.Errors() {
		return nil, b.problems, nil
	}
	return b.out, b.problems, nil
}

// check judges what does not follow from one annotation.
func (b *builder) check() {
	can, _ := providers.CapabilityOf(Capabilities(), ALB)
	b.problems = append(b.problems, can.Judge(b.in.Service, b.in.Backends)...)
	ranges, source, err := nodeports.SourceRanges(b.in.Service)
	const effect = "cannot be applied: an application load balancer accepts all clients, and nodes see its addresses instead of the clients'"
	switch _, _, live := b.found(); {
	case err != nil:
		b.problems.Refuse(string(source), "", strings.TrimPrefix(err.Error(), string(source)+": "), "no ranges")
	case source == nodeports.RangesFromDefault || len(ranges) == 0:
	case live:
		b.problems.Warn(string(source), "", effect, "no ranges")
	default:
		b.problems.Refuse(string(source), "", effect, "no ranges")
	}
}

// found returns the existing load balancer of the Service.
func (b *builder) found() (Balancer, stack.Resource, bool) {
	r, ok := b.have.Get(balancerKey())
	spec, is := r.Spec.(Balancer)
	return spec, r, ok && is
}

// immutable is the message about a setting that a live load balancer cannot take over.
const immutable = "cannot change on a live load balancer; create a second Service with this value, move the clients to it, and delete this one"

// balancer adds the load balancer.
func (b *builder) balancer() {
	want := Balancer{Name: nameFor(b.in), Public: isPublic(b.in)}
	spec, there, live := b.found()
	if live && there.Proof == stack.None {
		b.problems.Refuse(nameKey.Name, spec.Name, "is the name of the load balancer "+there.ID+", which has pools that are not the Service's", "a name that no load balancer has")
		return
	}
	if live && spec.Family == FamilyNetwork {
		b.problems = append(b.problems, featuresKey.Refusal(b.in.Values, "asks for an application load balancer, and the load balancer "+there.ID+" of the Service is a network load balancer; "+
			"create a second Service, move the clients to it, and delete this one", "a new Service"))
		return
	}
	if live && want.Public != spec.Public {
		b.problems = append(b.problems, ipTypeKey.Refusal(b.in.Values, immutable, typeOf(spec.Public)))
		return
	}
	if live && want.Name != spec.Name {
		b.problems = append(b.problems, nameKey.Refusal(b.in.Values, immutable, spec.Name))
		return
	}
	want.Subnets = b.subnets(live)
	b.out.Put(stack.Resource{Key: balancerKey(), Spec: want})
}

func typeOf(isPublic bool) string {
	if isPublic {
		return public
	}
	return private
}

// subnets returns the ids of the subnets of the load balancer, sorted; none: a live one keeps
// what it has.
func (b *builder) subnets(live bool) []string {
	asked, _, given := subnetsKey.Lookup(b.in.Values)
	zone := zoneKey.Get(b.in.Values)
	if live && !given && zone == "" {
		return nil
	}
	var out []string
	if given {
		for _, text := range asked {
			if s, ok := b.subnetOf(text); ok {
				out = append(out, s.ID)
			}
		}
	} else {
		out = b.clusterSubnets(zone)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// subnetOf returns the subnet of the cluster's VPC that an annotation names.
func (b *builder) subnetOf(text string) (Subnet, bool) {
	var elsewhere bool
	for _, s := range b.facts.Subnets {
		if !s.IsNamed(text) {
			continue
		}
		if s.VPC == b.in.Config.VPC {
			return s, true
		}
		elsewhere = true
	}
	message := "is not the id, name or IPv4 range of a subnet"
	if elsewhere {
		message = "is a subnet of another VPC"
	}
	b.problems = append(b.problems, annotations.Problem{Key: subnetsKey.Name, Value: text, Message: message, Legal: "subnets of the VPC " + b.in.Config.VPC})
	return Subnet{}, false
}

// clusterSubnets returns the configured subnets, of one zone if it is not empty. Names are
// compared as a whole.
func (b *builder) clusterSubnets(zone string) []string {
	var out []string
	for _, s := range b.facts.Subnets {
		if s.VPC == b.in.Config.VPC && slices.Contains(b.in.Config.Subnets, s.Name) && (zone == "" || s.Zone == zone) {
			out = append(out, s.ID)
		}
	}
	switch {
	case len(out) > 0:
	case zone != "":
		b.problems = append(b.problems, zoneKey.Refusal(b.in.Values, "has no subnet of the cluster", "a zone of one of "+strings.Join(b.in.Config.Subnets, ", ")))
	default:
		b.problems.Refuse("g2VpcSubnetNames", strings.Join(b.in.Config.Subnets, ","), "of the cloud configuration names no subnet of the VPC "+b.in.Config.VPC, "names of its subnets")
	}
	return out
}

// ports adds a pool and a listener per port.
func (b *builder) ports() {
	backends := b.nodes()
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		pool := PoolKey(string(p.Protocol), p.Port)
		found, _ := b.have.Get(pool)
		existing, _ := found.Spec.(Pool)
		want := Pool{
			Name: poolName(string(p.Protocol), p.Port, p.NodePort), Protocol: strings.ToLower(string(p.Protocol)), Algorithm: "round_robin", Proxy: "disabled",
			Health: b.health(p.NodePort), Members: membersOf(backends, p.NodePort),
		}
		if sendsProxy(b.in) {
			want.Proxy = "v1"
		}
		if existing.Managed != "" {
			b.problems.Warn("spec.ports", p.String(), "has the pool "+existing.Name+", whose members are set by the instance group "+existing.Managed+"; they are left alone", "a pool without an instance group")
			want.Members, want.Managed = existing.Members, existing.Managed
		}
		b.out.Put(stack.Resource{Key: pool, In: balancerKey(), Spec: want})
		key := ListenerKey(p.Port)
		b.out.Put(stack.Resource{Key: key, In: balancerKey(), Slot: "port " + key.Name, Spec: Listener{
			Protocol: want.Protocol, Port: p.Port, Limit: connectionLimit, Idle: idleKey.Get(b.in.Values), Pool: stack.RefTo(pool),
		}})
	}
}

// connectionLimit is that of new listeners.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go.
const connectionLimit = 15000

// health returns the health check of a pool: that of the annotations, else that of
// kube-proxy for local endpoints, else the node port.
func (b *builder) health(nodePort int32) Health {
	v := b.in.Values
	h := Health{Type: checkTCP, Port: nodePort, Delay: healthDelayKey.Get(v), Timeout: healthTimeoutKey.Get(v), Retries: healthRetriesKey.Get(v)}
	protocol := healthProtocolKey.Get(v)
	local := b.in.Service.Spec.HealthCheckNodePort
	switch {
	case protocol != "":
		h.Type, h.Port = protocol, int32(healthPortKey.Or(v, int(nodePort)))
	case nodeports.LocalOnly(b.in.Service) && local != 0:
		h.Type, h.Port = checkHTTP, local
	}
	if h.Type != checkTCP {
		h.Path = healthPathKey.Get(v)
	}
	return h
}

// nodes returns the addresses of the nodes that are members.
func (b *builder) nodes() []string {
	chosen := chooseNodes(b.in.Backends.Nodes, selectsNodes(b.in), b.membersFound(), quotaOf(b.in))
	if len(chosen) > mostMembers {
		b.problems.Refuse("spec", "", fmt.Sprintf("has %d nodes, more than the %d members that a pool can have", len(chosen), mostMembers), "fewer nodes by "+quotaKey.Name+", "+zoneKey.Name+" or "+nodeSelectorKey.Name)
	}
	return chosen
}

// quotaOf returns how many nodes per zone may be members; 0: all. With local endpoints the
// health check alone decides.
func quotaOf(in Input) int {
	if nodeports.LocalOnly(in.Service) {
		return 0
	}
	return quotaKey.Get(in.Values)
}

// selectsNodes reports whether the Service selects nodes itself, so that edge nodes have no
// precedence.
func selectsNodes(in Input) bool {
	key, _ := selectorOf(in)
	return key != ""
}

// membersFound returns the addresses of the existing members.
func (b *builder) membersFound() []string {
	var out []string
	for _, r := range b.have.Of(KindPool) {
		spec, _ := r.Spec.(Pool)
		for _, m := range spec.Members {
			out = append(out, m.Address)
		}
	}
	return out
}

// chooseNodes returns the addresses of nodes: of those for edge traffic if there are any,
// unless all are asked for, and at most limit per zone if it is not 0, existing members first.
func chooseNodes(nodes nodeports.NodeSet, all bool, existing []string, limit int) []string {
	type candidate struct{ address, zone string }
	var plain, edges []candidate
	for n := range nodes.All() {
		address, ok := addressOf(n)
		if !ok {
			continue
		}
		plain = append(plain, candidate{address, zoneOf(n)})
		if n.Labels[labelDedicated] == edge {
			edges = append(edges, candidate{address, zoneOf(n)})
		}
	}
	if len(edges) > 0 && !all {
		plain = edges
	}
	isNew := func(c candidate) int {
		if slices.Contains(existing, c.address) {
			return 0
		}
		return 1
	}
	slices.SortFunc(plain, func(x, y candidate) int { return cmp.Or(isNew(x)-isNew(y), strings.Compare(x.address, y.address)) })
	var out []string
	per := map[string]int{}
	for _, c := range plain {
		if per[c.zone]++; limit == 0 || per[c.zone] <= limit {
			out = append(out, c.address)
		}
	}
	slices.Sort(out)
	return out
}

// addressOf returns the address by which a node is a member.
func addressOf(n nodeports.Node) (string, bool) {
	if a, err := netip.ParseAddr(n.Labels[labelInternalIP]); err == nil {
		return a.String(), true
	}
	a, ok := n.Address(corev1.IPv4Protocol)
	return a.String(), ok
}

func membersOf(addresses []string, port int32) []Member {
	var out []Member
	for _, a := range addresses {
		out = append(out, Member{Address: a, Port: port})
	}
	return out
}

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// controlled is the state of the build of a load balancer of kind LBC.
type controlled struct {
	*builder
	c      Controller // with its defaults
	target string     // what target groups have as targets
	shared bool       // other clusters register targets with them as well
	dual   bool       // clients come over IPv6 as well
	scheme string
	exists bool
	old    Network
	chosen []Subnet // of the load balancer, in the order of the addresses that the user lists
	groups []stack.Ref
	tags   map[string]string // on everything, besides those by which it is found

	ofGroup  string    // of Services on one load balancer, namespace/name; empty: it is the Service's own
	balancer stack.Key // of the load balancer
	leader   string    // the Service whose say it is what a load balancer is like that others made; empty: this one's
	adopts   bool      // the load balancer is adopted: its creator decides its settings
}

// controlled builds a Network Load Balancer as the AWS Load Balancer Controller does.
func (b *builder) controlled() {
	f := &controlled{builder: b, c: b.in.Config.Controller.completed(), target: targetTypeOf(b.in.Config, b.in.Service), shared: MultiKey.Get(b.in.Values)}
	f.membership()
	f.dual = addressTypeKey.Get(b.in.Values) == addressDual
	if f.follows() {
		f.dual = f.old.AddressType == addressDual
	}
	f.tags = Over(b.extraTags(), f.c.Tags)
	f.scheme = f.schemeOf()
	f.sourceRanges()
	f.backing()
	mappings := f.subnetMappings()
	f.securityGroups()
	if f.follows() {
		f.putBalancer(f.old)
		f.followLeader()
	} else {
		f.putBalancer(Network{
			Name: f.name(), Scheme: f.scheme, Mappings: mappings, Groups: f.groups, Tags: f.tagged(resourceBalancer),
			AddressType: addressTypeKey.Get(b.in.Values), SourceNAT: f.sourceNAT(), PrivateLink: f.privateLink(),
		})
		f.settings()
	}
	ports := f.ports()
	others := f.others(ports)
	f.listeners(ports, others)
	f.reportZones(mappings)
	f.frontEntries()
	f.nodeRules(slices.Concat(ports, others))
}

func (f *controlled) tagged(resource string) Tags {
	switch {
	case f.adopts:
		return Over(lbcTags(f.in.Cluster, f.in.Owner, resource, f.tags), Tags{tagAdopted: f.ofGroup})
	case f.ofGroup == "":
		return lbcTags(f.in.Cluster, f.in.Owner, resource, f.tags)
	case resource == resourceBalancer || resource == resourceGroup:
		return groupTags(f.in.Cluster, f.ofGroup, f.tags)
	}
	return Over(lbcTags(f.in.Cluster, f.in.Owner, resource, f.tags), Tags{TagGroup: f.ofGroup, TagCreated: f.created()})
}

func (f *controlled) name() string {
	if f.ofGroup != "" {
		return groupName(f.in.Cluster, f.ofGroup)
	}
	if name, from, said := nameKey.Lookup(f.in.Values); said {
		if f.exists && f.old.Name != "" && f.old.Name != name {
			f.report(notApplied(from, "is not applied: the load balancer is named "+f.old.Name+", and AWS cannot rename it; write that name, or delete the Service and create it again", "")...)
		}
		return name
	}
	return lbcName(f.in.Cluster, f.in.Owner, f.scheme)
}

// schemeSaid is the scheme that the Service asks for, if it says anything.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_load_balancer.go (buildLoadBalancerScheme).
func schemeSaid(bag *annotations.Bag) (string, annotations.Origin, bool) {
	if scheme, from, said := schemeKey.Lookup(bag); said {
		return scheme, from, true
	}
	internal, from, said := internalKey.Lookup(bag)
	if internal {
		return SchemeInternal, from, said
	}
	return schemePublic, from, said
}

// schemeOf is the scheme that the load balancer has, as AWS cannot change it, else the
// one that the Service asks for, else that of the configuration.
func (f *controlled) schemeOf() string {
	wanted, from, said := schemeSaid(f.in.Values)
	switch {
	case f.follows():
	case f.old.Scheme == "" && said:
		return wanted
	case f.old.Scheme == "":
		return f.c.Scheme
	case said && wanted != f.old.Scheme:
		f.report(otherScheme(from, wanted, f.old.Scheme)...)
	}
	return f.old.Scheme
}

// sourceRanges are the clients that may connect, of both families where the load
// balancer has both. Prefix lists replace the default of all clients.
func (f *controlled) sourceRanges() {
	prefixes, source, err := nodeports.SourceRanges(f.in.Service)
	if err != nil {
		f.ranges = f.clientRanges() // which tells what is wrong
		return
	}
	families := []corev1.IPFamily{corev1.IPv4Protocol}
	if f.dual {
		families = append(families, corev1.IPv6Protocol)
	}
	if _, both := f.in.Service.Annotations[rangesKey.Name]; both && source == nodeports.RangesFromSpec {
		f.report(annotations.ProblemOf(rangesKey.Name, "", "has no effect, because spec.loadBalancerSourceRanges is set", "", annotations.Warning))
	}
	if _, _, lists := prefixListsKey.Lookup(f.in.Values); lists && source == nodeports.RangesFromDefault {
		return
	}
	if others := nodeports.OfFamily(prefixes, corev1.IPv6Protocol); len(others) > 0 && !f.dual {
		f.report(annotations.ProblemOf(string(source), joinPrefixes(others), "has ranges of IPv6, but this load balancer has IPv4 addresses only", "IPv4 CIDRs, or "+addressTypeKey.Name+`: "dualstack"`, annotations.Error))
	}
	f.ranges = sortedTexts(nodeports.RangesFor(prefixes, source, families))
}

// backing finds the instances and the groups that let the load balancer in. With pods
// as targets any node may run one.
func (f *controlled) backing() {
	if f.target == targetInstance {
		f.backends()
		return
	}
	if !f.in.Config.DisableNodeRules {
		ids, _ := nodeInstances(f.in, f.facts)
		var doubts annotations.Problems
		f.builder.groups, doubts = groupsOf(ids, f.facts)
		f.report(doubts...)
		f.podGroups()
	}
}

// settings are what hangs on the load balancer itself.
func (f *controlled) settings() {
	if values := f.attributesSaid(); len(values) > 0 {
		f.put(KindNetworkAttr, f.balancer.Name, f.balancer, Attributes{Values: values})
	}
	for _, p := range listParts() {
		if p.want != nil {
			p.want(f)
		}
	}
}

// attributesSaid are the attributes of the load balancer that the Service asks for.
func (f *controlled) attributesSaid() Tags {
	v, values := f.in.Values, Tags{}
	for key, value := range attributesKey.Get(v) {
		values[key] = value
	}
	if on, _, said := crossZoneKey.Lookup(v); said {
		values[attrCrossZone] = fmt.Sprint(on)
	}
	if on, _, said := logsKey.Lookup(v); said {
		values[attrLogs] = fmt.Sprint(on)
		bucket, _, hasBucket := logsBucketKey.Lookup(v)
		prefix, _, hasPrefix := logsPrefixKey.Lookup(v)
		if on && hasBucket {
			values[attrLogsBucket] = bucket
		}
		if on && hasPrefix {
			values[attrLogsPrefix] = prefix
		}
	}
	return values
}

// ports are the ports that get a listener. Of two protocols on one port UDP is served
// only together with TCP.
func (f *controlled) ports() []lbcPort {
	together := tcpUDPKey.Or(f.in.Values, f.c.TCPUDP)
	var out []lbcPort
	tcpFirst := slices.SortedStableFunc(slices.Values(f.in.Backends.Ports), func(a, b nodeports.ServicePort) int { return cmp.Compare(a.Protocol, b.Protocol) })
	for _, p := range tcpFirst {
		i := slices.IndexFunc(out, func(o lbcPort) bool { return o.Port == p.Port })
		switch {
		case i < 0:
			out = append(out, lbcPort{ServicePort: p, listener: string(p.Protocol), group: string(p.Protocol)})
		case together:
			out[i].listener, out[i].group = protocolBoth, protocolBoth
		default:
			f.report(annotations.ProblemOf("spec.ports", p.String(), "gets no traffic: a load balancer has one listener on a port", "another port, or "+tcpUDPKey.Name+`: "true"`, annotations.Warning))
		}
	}
	f.encrypt(out)
	f.quic(out)
	for i := range out {
		out[i].of = f.ofGroup
	}
	return out
}

// encrypt has TCP ports end TLS that the certificates are for.
func (f *controlled) encrypt(ports []lbcPort) {
	certs := certsKey.Get(f.in.Values)
	for i, p := range ports {
		if len(certs) == 0 || p.listener != string(corev1.ProtocolTCP) || !tlsPortsKey.Get(f.in.Values).Has(corev1.ServicePort{Name: p.Name, Port: p.Port}) {
			continue
		}
		ports[i].listener, ports[i].certs = ProtocolTLS, certs
		if backendKey.Get(f.in.Values) == "ssl" {
			ports[i].group = ProtocolTLS
		}
	}
}

// Protocols of listeners and target groups that no port of a Service has.
const (
	ProtocolTLS  = "TLS"
	protocolBoth = "TCP_UDP"
)

// lbcPort is a port with a listener.
type lbcPort struct {
	nodeports.ServicePort
	listener, group string   // protocols
	certs           []string // the default one first
	of              string   // the group of the Service
	other           *behind  // the Service that the port is of; nil: it is the Service's own
}

// key names the listener and everything that belongs to it: TLS, TCP_UDP and TCP_QUIC
// are states of the TCP listener, and QUIC is one of the UDP listener.
func (p lbcPort) key() string {
	if p.other != nil {
		return PartOf(p.of, otherKey(p.other.service.Name, p.Port))
	}
	if p.listener == string(corev1.ProtocolUDP) || p.listener == protocolQUIC {
		return PartOf(p.of, PortKey(corev1.ProtocolUDP, p.Port))
	}
	return PartOf(p.of, PortKey(corev1.ProtocolTCP, p.Port))
}

// datagrams reports whether the targets receive UDP.
func (p lbcPort) datagrams() bool {
	return strings.HasSuffix(p.group, string(corev1.ProtocolUDP)) || p.speaksQUIC()
}

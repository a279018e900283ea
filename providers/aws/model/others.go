package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
)

// An action may give a share of a listener's traffic to another Service of the namespace. Its
// pods, or its node ports, are then the targets of a group that belongs to the Service with the
// action, and is as its annotations say; of the other one only ports and endpoints count.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_target_group.go
// (buildTargetGroupTuples).

// behind is a Service with what stands behind it.
type behind struct {
	service  *corev1.Service
	backends nodeports.Backends
}

// OtherMark begins the key name of a target group for another Service; its name and port follow.
const OtherMark = "service/"

func otherKey(service string, port int32) string { return OtherMark + service + "/" + Decimal(port) }

// IsOther reports whether the key name of a target group is that of one for another
// Service.
func IsOther(name string) bool { return strings.Contains("/"+name, "/"+OtherMark) }

// otherNamed is the Service that the key name of a target group names; empty: it is not for
// another one.
func otherNamed(name string) string {
	_, rest, _ := strings.Cut("/"+name, "/"+OtherMark)
	service, _, _ := strings.Cut(rest, "/")
	return service
}

// behind is the Service that a port is of.
func (f *controlled) behind(p lbcPort) behind {
	if p.other != nil {
		return *p.other
	}
	return behind{f.in.Service, f.in.Backends}
}

// ownerOf is what the names of a port's target group are made of: of another Service its name,
// and the UIDs of both.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/model_build_target_group.go (buildTargetGroupName).
func (f *controlled) ownerOf(p lbcPort) stack.Owner {
	o := f.in.Owner
	if p.other != nil {
		o.Name, o.UID = p.other.service.Name, o.UID+string(p.other.service.UID)
	}
	return o
}

// actionReferences lists the Services that the actions of a Service name.
func actionReferences(in input) []providers.Reference {
	var out []providers.Reference
	for _, use := range actionsKey.All(in.Values) {
		if use.Value.ForwardConfig == nil {
			continue
		}
		for _, t := range use.Value.ForwardConfig.TargetGroups {
			if ref := otherRef(in, t.ServiceName); t.ServiceName != "" && !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}

func otherRef(in input, name string) providers.Reference {
	return providers.Reference{Kind: providers.Service, Namespace: in.Owner.Namespace, Name: name}
}

// endpointsOf are the endpoints of a Service and of the Services that it names, for
// facts that are needed of every pod.
func endpointsOf(in input) []nodeports.PortEndpoints {
	out := slices.Clone(in.Backends.Endpoints.ByPort)
	for _, ref := range actionReferences(in) {
		out = append(out, in.Objects[ref].Backends().Endpoints.ByPort...)
	}
	return out
}

// others are the ports of other Services that get a share of the traffic of some ports, each
// once: listeners that send to one of them have its target group together.
func (f *controlled) others(ports []lbcPort) []lbcPort {
	var out []lbcPort
	for _, p := range ports {
		action, from, said := actionsKey.LookupPortProtocol(f.in.Values, p.Port, p.listener)
		if !said || action.ForwardConfig == nil {
			continue
		}
		var named []string
		for _, t := range action.ForwardConfig.TargetGroups {
			o, ok := f.otherOf(p, t, from)
			if t.ServiceName == "" || !ok {
				continue
			}
			if slices.Contains(named, o.key()) {
				f.report(refuseValue(from, fmt.Sprintf("names port %d of the Service %q twice, by number and by name", o.Port, t.ServiceName), "each port once")...)
			}
			named = append(named, o.key())
			i := slices.IndexFunc(out, func(known lbcPort) bool { return known.key() == o.key() })
			if i < 0 {
				out = append(out, o)
			} else if !p.takes(out[i].group) {
				f.report(refuseValue(from, fmt.Sprintf("names port %d of the Service %q, for which another listener has made a target group of %s already, to which a listener of %s cannot send", o.Port, t.ServiceName, out[i].group, p.listener),
					"another port of that Service, or decrypt, which makes it TCP")...)
			}
		}
	}
	return out
}

// takes reports whether the listener of a port can send to a target group of a protocol.
// Source: AWS, User Guide for Network Load Balancers, "Listener configuration".
func (p lbcPort) takes(group string) bool {
	switch p.listener {
	case ProtocolTLS:
		return group == ProtocolTLS || group == string(corev1.ProtocolTCP)
	case string(corev1.ProtocolTCP), string(corev1.ProtocolUDP):
		return group == p.listener || group == protocolBoth
	}
	return group == p.listener
}

// otherOf returns the port of another Service that a share of a port's traffic is for;
// false where none exists, which it reports.
func (f *controlled) otherOf(p lbcPort, t targetTuple, from annotations.Origin) (lbcPort, bool) {
	if t.ServiceName == "" {
		return lbcPort{}, false
	}
	object := f.in.Objects[otherRef(f.in, t.ServiceName)]
	o := lbcPort{listener: p.listener, group: p.listener, of: p.of, other: &behind{object.Service, object.Backends()}}
	if p.listener == ProtocolTLS && t.Decrypt != nil && *t.Decrypt {
		o.group = string(corev1.ProtocolTCP)
	}
	var there bool
	if object.Service != nil {
		o.ServicePort, there = t.ServicePort.among(o.other.backends.Ports, p.rawProtocols())
	} else {
		o.other.service = &corev1.Service{}
	}
	if why, legal := f.unfit(p, o, t, object, there); why != "" {
		f.report(refuseValue(from, fmt.Sprintf("names the Service %q, %s", t.ServiceName, why), legal)...)
		return o, false
	}
	return o, true
}

// unfit says why a listener cannot send to a port of another Service, and what it could send
// to; empty: it can. Without a port there is none as the action says it.
func (f *controlled) unfit(p, o lbcPort, t targetTuple, object providers.Object, port bool) (why, legal string) {
	spec := o.other.service.Spec
	switch {
	case t.ServiceName == f.in.Owner.Name:
		return "which is the Service itself: baseServiceWeight is the share of that", "another Service of its namespace"
	case object.Service == nil:
		return "which " + object.Why, "a Service of the namespace " + f.in.Owner.Namespace
	case spec.Type == corev1.ServiceTypeExternalName:
		return "which is of the type ExternalName, behind which there are no targets", "a Service of another type"
	case !port:
		return fmt.Sprintf("which has no port %s that speaks %s", t.ServicePort, strings.ToUpper(strings.Join(p.rawProtocols(), " or "))), portsText(o.other.backends.Ports)
	case f.target == targetInstance && o.NodePort == 0:
		return fmt.Sprintf("whose port %s has no node port, and this load balancer sends to node ports", t.ServicePort), "a Service of the type NodePort or LoadBalancer, or " + targetTypeKey.Name + `: "ip"`
	case slices.Contains(spec.IPFamilies, corev1.IPv6Protocol) && !f.dual:
		return "which has IPv6 addresses, and this load balancer has IPv4 addresses only", "a Service of IPv4, or " + addressTypeKey.Name + `: "dualstack"`
	case p.speaksQUIC():
		return "and a listener that speaks QUIC sends to the Service's own pods alone in this version", "the ARN of a target group, as targetGroupARN"
	}
	return "", ""
}

// portsText lists ports as an action can name them.
func portsText(ports []nodeports.ServicePort) string {
	var out []string
	for _, p := range ports {
		text := Decimal(p.Port)
		if p.Name != "" {
			text += " or " + strconv.Quote(p.Name)
		}
		out = append(out, text+" ("+string(p.Protocol)+")")
	}
	return strings.Join(out, ", ")
}

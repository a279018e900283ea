package nodeports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ServicePort is one port of a Service.
type ServicePort struct {
	Name        string // empty only if it is the Service's one port
	Protocol    corev1.Protocol
	Port        int32              // 1 to 65535: where the load balancer listens
	NodePort    int32              // 0: none, nodes do not answer for this port
	TargetPort  intstr.IntOrString // a number, or a name that each pod resolves for itself
	AppProtocol string             // empty: not set
}

// String returns the port as users write it: name, or number, with the protocol.
func (p ServicePort) String() string {
	text := strconv.Itoa(int(p.Port)) + "/" + string(p.Protocol)
	if p.Name == "" {
		return text
	}
	return p.Name + " (" + text + ")"
}

// Ports returns the ports in the order of the Service, which is part of its
// meaning: controllers probe the first one, and derive names from it. Defaults
// are those of the API server.
func Ports(svc *corev1.Service) []ServicePort {
	out := make([]ServicePort, 0, len(svc.Spec.Ports))
	for _, p := range svc.Spec.Ports {
		sp := ServicePort{Name: p.Name, Protocol: p.Protocol, Port: p.Port, NodePort: p.NodePort, TargetPort: p.TargetPort}
		if sp.Protocol == "" {
			sp.Protocol = corev1.ProtocolTCP
		}
		if sp.TargetPort == (intstr.IntOrString{}) {
			sp.TargetPort = intstr.FromInt32(p.Port)
		}
		if p.AppProtocol != nil {
			sp.AppProtocol = *p.AppProtocol
		}
		out = append(out, sp)
	}
	return out
}

// PortsOf returns those of a Service's ports that have a number: one, or one for each protocol.
func PortsOf(all []corev1.ServicePort, number int32) []ServicePort {
	ports := Ports(&corev1.Service{Spec: corev1.ServiceSpec{Ports: all}})
	return slices.DeleteFunc(ports, func(p ServicePort) bool { return p.Port != number })
}

// NodePortMissing lists the ports without a node port, with the cause. Kinds of load
// balancers that forward to nodes cannot serve these. The zero value: none is missing.
type NodePortMissing struct {
	Ports    []ServicePort // in the order of the Service
	Disabled bool          // the Service forbids their allocation
}

// MissingNodePorts returns the ports without a node port. Switching the allocation
// off keeps existing node ports, and users can set single node ports, so the ports
// decide, not the switch.
func MissingNodePorts(svc *corev1.Service) NodePortMissing {
	var m NodePortMissing
	for _, p := range Ports(svc) {
		if p.NodePort == 0 {
			m.Ports = append(m.Ports, p)
		}
	}
	if len(m.Ports) > 0 {
		m.Disabled = svc.Spec.AllocateLoadBalancerNodePorts != nil && !*svc.Spec.AllocateLoadBalancerNodePorts
	}
	return m
}

// Any reports whether a node port is missing.
func (m NodePortMissing) Any() bool { return len(m.Ports) > 0 }

// Message describes it in a sentence for an event or a condition; empty if nothing
// is missing.
func (m NodePortMissing) Message() string {
	if !m.Any() {
		return ""
	}
	names := make([]string, 0, len(m.Ports))
	for _, p := range m.Ports {
		names = append(names, p.String())
	}
	noun := "port"
	if len(names) > 1 {
		noun = "ports"
	}
	lead := fmt.Sprintf("%s %s: no node port, and this kind of load balancer sends to node ports", noun, strings.Join(names, ", "))
	if m.Disabled {
		return lead + "; spec.allocateLoadBalancerNodePorts is false: set it to true, or give the ports a nodePort"
	}
	return lead + "; none has been allocated yet"
}

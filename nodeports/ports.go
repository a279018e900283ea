package nodeports

import (
	"fmt"
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
	AppProtocol string             // empty: not said
}

// String is how users write the port: name, or number, with the protocol.
func (p ServicePort) String() string {
	text := strconv.Itoa(int(p.Port)) + "/" + string(p.Protocol)
	if p.Name == "" {
		return text
	}
	return p.Name + " (" + text + ")"
}

// Ports lists the ports in the order of the Service, which is part of its
// meaning: controllers probe the first one, and name things after it. Defaults
// are filled in as the API server would.
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

// NodePortMissing tells which ports have no node port, and why. Kinds of load
// balancers that send to nodes can not serve these; kinds that reach pods do
// not care. The zero value: none is missing.
type NodePortMissing struct {
	Ports    []ServicePort // in the order of the Service
	Disabled bool          // the Service forbids their allocation
}

// MissingNodePorts looks for ports without a node port. Switching the
// allocation off takes no existing node port away, and single ports may have
// been given one by hand, so only the ports tell, never the switch alone.
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

// Any tells whether a node port is missing.
func (m NodePortMissing) Any() bool { return len(m.Ports) > 0 }

// Message says it in a sentence for an event or a condition; empty if nothing
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

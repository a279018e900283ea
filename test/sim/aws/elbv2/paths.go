package elbv2

import (
	"cmp"
	"slices"
)

// Path is one target behind one port of a load balancer.
type Path struct {
	Balancer string // ARN, which is also the owner of its interfaces
	Groups   []string
	Dual     bool   // it has addresses of IPv6, too
	Protocol string // TCP or UDP
	Port     int
	// Target is the id of an instance, or an address.
	Target     string
	TargetPort int
	IPv6       bool // the target has an address of IPv6
	// Preserves reports whether the target sees the addresses of clients.
	Preserves bool
}

// Paths lists the registered targets of all listeners, by load balancer, port and target.
// Groups with weight 0 get no traffic. The health of targets is left out.
// Sources: User Guide for Network Load Balancers, "Listeners" and "Client IP preservation".
func (a *API) Paths() []Path {
	var out []Path
	a.Locked(func() {
		for _, l := range a.State.Listeners {
			lb := a.State.LoadBalancers[l.LoadBalancer]
			if lb == nil {
				continue
			}
			for _, protocol := range packetsOf(l.Protocol) {
				p := Path{Balancer: lb.ARN, Groups: lb.Groups, Dual: lb.IPType == dualstack, Protocol: protocol, Port: l.Port}
				out = append(out, a.State.behind(l, p)...)
			}
		}
	})
	slices.SortFunc(out, func(x, y Path) int {
		return cmp.Or(cmp.Compare(x.Balancer, y.Balancer), cmp.Compare(x.Port, y.Port), cmp.Compare(x.Protocol, y.Protocol), cmp.Compare(x.Target, y.Target), cmp.Compare(x.TargetPort, y.TargetPort))
	})
	return out
}

// behind completes a path for every target of a listener.
func (s *state) behind(l *listener, p Path) []Path {
	var out []Path
	for _, act := range l.Actions {
		for _, share := range act.ForwardConfig.TargetGroups {
			group := s.TargetGroups[share.TargetGroupArn]
			if group == nil || share.Weight != nil && *share.Weight == 0 {
				continue
			}
			for _, t := range group.Targets {
				if t.Draining.IsZero() {
					p.Target, p.TargetPort, p.IPv6 = t.ID, t.Port, group.IPType == "ipv6"
					p.Preserves = p.Protocol == "UDP" || group.Attributes["preserve_client_ip.enabled"] == "true"
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// packetsOf returns the protocols of packets that a listener accepts.
func packetsOf(protocol string) []string {
	switch protocol {
	case "UDP", "QUIC":
		return []string{"UDP"}
	case "TCP_UDP", "TCP_QUIC":
		return []string{"TCP", "UDP"}
	}
	return []string{"TCP"}
}

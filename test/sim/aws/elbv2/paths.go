package elbv2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/network"
)

// Paths lists the registered targets of all listeners, by load balancer, port and target.
// Groups with weight 0 get no traffic. The health of targets is left out.
// Sources: User Guide for Network Load Balancers, "Listeners" and "Client IP preservation".
func (a *API) Paths() []network.Path {
	var out []network.Path
	a.Locked(func() {
		for _, l := range a.State.Listeners {
			lb := a.State.LoadBalancers[l.LoadBalancer]
			if lb == nil {
				continue
			}
			for _, protocol := range packetsOf(l.Protocol) {
				p := network.Path{Balancer: lb.ARN, Owner: lb.ARN, Groups: lb.Groups, Dual: lb.IPType == dualstack, Protocol: protocol, Port: l.Port}
				out = append(out, a.State.behind(l, p)...)
			}
		}
	})
	slices.SortFunc(out, network.ComparePaths)
	return out
}

// behind completes a path for every target of a listener.
func (s *state) behind(l *listener, p network.Path) []network.Path {
	var out []network.Path
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

package model

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// ports adds a pool and a listener per port.
func (b *builder) ports() {
	backends := b.nodes()
	for _, p := range b.in.Backends.Ports {
		if b.in.Ended() {
			return
		}
		pool := PoolKey(string(p.Protocol), p.Port)
		existing, _ := stack.SpecOf[Pool](b.have, pool)
		front := rangeOf(b.in, p.Port)
		want := Pool{
			Name: poolName(string(p.Protocol), front, p.NodePort), Protocol: strings.ToLower(string(p.Protocol)), Algorithm: "round_robin", Proxy: "disabled",
			Health: b.health(p), Members: membersOf(b.in.Kind, backends, p.NodePort),
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
			Protocol: want.Protocol, Port: front.First, Last: front.Last, Limit: limitOf(b.in.Kind), Idle: idleKey.Get(b.in.Values), Pool: stack.RefTo(pool),
		}})
	}
}

// connectionLimit is that of new listeners of application load balancers.
// Source: IBM-Cloud/cloud-provider-ibm:pkg/vpcctl/vpc_config.go.
const connectionLimit = 15000

// limitOf returns the connection limit of new listeners; 0: the kind has none.
func limitOf(kind string) int {
	if kind == ALB {
		return connectionLimit
	}
	return 0
}

// health returns the health check of a pool: that of the annotations, else that of
// kube-proxy for local endpoints, else the node port. UDP ports have no check of their own:
// another port is checked by TCP.
func (b *builder) health(p nodeports.ServicePort) Health {
	v := b.in.Values
	h := Health{Type: checkTCP, Port: p.NodePort, Delay: healthDelayKey.Get(v), Timeout: healthTimeoutKey.Get(v), Retries: healthRetriesKey.Get(v)}
	isUDP := p.Protocol == corev1.ProtocolUDP
	if isUDP {
		h.Port = int32(healthUDPKey.Get(v))
	}
	protocol := healthProtocolKey.Get(v)
	local := b.in.Service.Spec.HealthCheckNodePort
	switch {
	case protocol != "":
		h.Type, h.Port = protocol, int32(healthPortKey.Or(v, int(h.Port)))
	case nodeports.LocalOnly(b.in.Service) && local != 0:
		h.Type, h.Port = checkHTTP, local
	}
	if isUDP && h.Port == 0 {
		b.problems.Refuse(healthUDPKey.Name, "", "is not set, and the UDP port "+p.String()+" needs a TCP node port to be checked", "a TCP node port, or externalTrafficPolicy Local")
	}
	if h.Type != checkTCP {
		h.Path = healthPathKey.Get(v)
	}
	return h
}

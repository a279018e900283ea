package model

import (
	"encoding/json"
	"slices"

	"github.com/berth-lb/berth/providers/kit/codec"
	"github.com/berth-lb/berth/stack"
)

// BalancerCodec declares load balancers. A creation brings listeners along, see the wire.
// Source: Octavia API reference, "Load Balancers".
func BalancerCodec() codec.Kind[Balancer] {
	return codec.New("loadbalancer", "lbaas/loadbalancers",
		codec.Of("name", func(b *Balancer) *string { return &b.Name }).InPlace(),
		codec.Of("description", func(b *Balancer) *string { return &b.Description }).InPlace(),
		codec.Of("tags", func(b *Balancer) *[]string { return &b.Tags }).InPlace(),
		codec.Of("provider", func(b *Balancer) *string { return &b.Provider }),
		codec.Of("flavor_id", func(b *Balancer) *string { return &b.Flavor }),
		codec.Of("availability_zone", func(b *Balancer) *string { return &b.Zone }),
		codec.Of("vip_network_id", func(b *Balancer) *string { return &b.Network }),
		codec.Of("vip_subnet_id", func(b *Balancer) *string { return &b.Subnet }),
		codec.Of("vip_port_id", func(b *Balancer) *string { return &b.Port }),
		codec.Of("vip_address", func(b *Balancer) *string { return &b.Address }),
	).Aside("Status", "Stuck", "Lost").Tidied(func(b *Balancer) { slices.Sort(b.Tags) })
}

// ListenerCodec declares listeners. Nothing refers to names, and each change of one makes
// the load balancer busy: a name alone is not updated.
// Source: Octavia API reference, "Listeners".
func ListenerCodec() codec.Kind[Listener] {
	hasRanges := func(l Listener) bool { return l.Ranges != nil }
	hasTimeouts := func(l Listener) bool { return l.Timeouts.Known }
	timeout := func(name string, get func(*Timeouts) *int) codec.Field[Listener] {
		return codec.Of(name, func(l *Listener) *int { return get(&l.Timeouts) }).InPlace().Always().When(hasTimeouts)
	}
	return codec.New("listener", "lbaas/listeners",
		codec.Of("name", func(l *Listener) *string { return &l.Name }).WithUpdates(),
		codec.Of("tags", func(l *Listener) *[]string { return &l.Tags }).InPlace(),
		codec.Of("protocol", func(l *Listener) *string { return &l.Protocol }).Immutable(),
		codec.Of("protocol_port", func(l *Listener) *int32 { return &l.Port }).Immutable(),
		codec.Ref("default_pool_id", func(l *Listener) *stack.Ref { return &l.Pool }).InPlace(),
		codec.Of("connection_limit", func(l *Listener) *int { return &l.Limit }).InPlace().Always(),
		codec.Of("insert_headers", func(l *Listener) *map[string]string { return &l.Headers }).InPlace(),
		codec.Of("default_tls_container_ref", func(l *Listener) *string { return &l.TLS }).InPlace(),
		codec.Of("allowed_cidrs", func(l *Listener) *[]string { return &l.Ranges }).InPlace().When(hasRanges),
		timeout("timeout_client_data", func(t *Timeouts) *int { return &t.ClientData }),
		timeout("timeout_member_connect", func(t *Timeouts) *int { return &t.MemberConnect }),
		timeout("timeout_member_data", func(t *Timeouts) *int { return &t.MemberData }),
		timeout("timeout_tcp_inspect", func(t *Timeouts) *int { return &t.Inspect }),
	).Aside("Claim").Tidied(func(l *Listener) {
		slices.Sort(l.Tags)
		if slices.Sort(l.Ranges); len(l.Ranges) == 0 {
			l.Ranges = nil
		}
	})
}

// PoolCodec declares pools. Source: Octavia API reference, "Pools".
func PoolCodec() codec.Kind[Pool] {
	const byAddress = "SOURCE_IP"
	type persistence struct {
		Type string `json:"type"`
	}
	return codec.New("pool", "lbaas/pools",
		codec.Of("name", func(p *Pool) *string { return &p.Name }),
		codec.Of("protocol", func(p *Pool) *string { return &p.Protocol }).Immutable(),
		codec.Of("lb_algorithm", func(p *Pool) *string { return &p.Algorithm }).InPlace(),
		codec.As("session_persistence", func(p *Pool) *bool { return &p.Sticky },
			func(sticky bool) (any, bool) { return persistence{byAddress}, sticky },
			func(sticky *bool, text json.RawMessage) error {
				var p persistence
				err := json.Unmarshal(text, &p)
				*sticky = p.Type == byAddress
				return err
			}).InPlace().Null(),
	).Aside("Claim")
}

// MemberCodec declares members. Source: Octavia API reference, "Members".
func MemberCodec() codec.Kind[Member] {
	return codec.New("member", "members",
		codec.Of("name", func(m *Member) *string { return &m.Name }).InPlace(),
		codec.Of("address", func(m *Member) *string { return &m.Address }).Immutable(),
		codec.Of("protocol_port", func(m *Member) *int32 { return &m.Port }).Immutable(),
		codec.Of("subnet_id", func(m *Member) *string { return &m.Subnet }).Immutable(),
		// In a list that replaces all members, an omitted field keeps its value.
		codec.Of("monitor_port", func(m *Member) *int32 { return &m.Check }).InPlace().Null(),
	)
}

// MonitorCodec declares health monitors. Source: Octavia API reference, "Health Monitor".
func MonitorCodec() codec.Kind[Monitor] {
	return codec.New("healthmonitor", "lbaas/healthmonitors",
		codec.Of("name", func(m *Monitor) *string { return &m.Name }),
		codec.Of("type", func(m *Monitor) *string { return &m.Type }).Immutable(),
		codec.Of("delay", func(m *Monitor) *int { return &m.Delay }).InPlace(),
		codec.Of("timeout", func(m *Monitor) *int { return &m.Timeout }).InPlace(),
		codec.Of("max_retries", func(m *Monitor) *int { return &m.Retries }).InPlace(),
		codec.Of("max_retries_down", func(m *Monitor) *int { return &m.RetriesDown }).InPlace(),
		codec.Of("url_path", func(m *Monitor) *string { return &m.Path }).Immutable(),
		codec.Of("http_method", func(m *Monitor) *string { return &m.Method }).Immutable(),
		codec.Of("expected_codes", func(m *Monitor) *string { return &m.Codes }).Immutable(),
	).Tidied(func(m *Monitor) {
		if m.Type != "HTTP" { // the API shows its defaults for other types as well
			m.Path, m.Method, m.Codes = "", "", ""
		}
	})
}

// FloatingIPCodec declares floating IPs. The port and the subnet are added by the wire.
// Source: Networking API reference, "Floating IPs".
func FloatingIPCodec() codec.Kind[FloatingIP] {
	return codec.New("floatingip", "floatingips",
		codec.Of("floating_network_id", func(f *FloatingIP) *string { return &f.Network }),
		codec.Of("floating_ip_address", func(f *FloatingIP) *string { return &f.Address }).Immutable(),
		codec.Of("description", func(f *FloatingIP) *string { return &f.Description }),
	).Aside("Subnets", "Keep", "Balancer")
}

// GroupCodec declares security groups. Source: Networking API reference, "Security groups".
func GroupCodec() codec.Kind[Group] {
	return codec.New("security_group", "security-groups",
		codec.Of("name", func(g *Group) *string { return &g.Name }),
		codec.Of("description", func(g *Group) *string { return &g.Description }),
	)
}

// GroupRuleCodec declares rules of security groups. A rule with the group of another one as
// its remote is only observed.
// Source: Networking API reference, "Security group rules".
func GroupRuleCodec() codec.Kind[GroupRule] {
	return codec.New("security_group_rule", "security-group-rules",
		codec.Of("direction", func(r *GroupRule) *string { return &r.Direction }),
		codec.Of("ethertype", func(r *GroupRule) *string { return &r.Family }),
		codec.Of("protocol", func(r *GroupRule) *string { return &r.Protocol }),
		codec.Of("port_range_min", func(r *GroupRule) *int32 { return &r.Port }),
		codec.Of("port_range_max", func(r *GroupRule) *int32 { return &r.Last }),
		codec.Of("remote_ip_prefix", func(r *GroupRule) *string { return &r.Remote }),
		codec.Observed("remote_group_id", func(r *GroupRule, text json.RawMessage) error {
			var id string
			if err := json.Unmarshal(text, &id); err != nil || id == "" {
				return err
			}
			r.Remote = "group " + id
			return nil
		}, "Remote"),
	)
}

// ListenerTree returns the listeners among the parts that a creation of a load balancer
// brings, each with its pool, and with the members and the health monitor of that.
func ListenerTree(parts []stack.Resource) []codec.Object {
	var out []codec.Object
	for _, r := range parts {
		listener, ok := r.Spec.(Listener)
		if !ok {
			continue
		}
		body := ListenerCodec().Create(listener, nil)
		if pool, ok := PartOf[Pool](parts, listener.Pool.To); ok {
			body["default_pool"] = poolTree(pool, listener.Pool.To.Name, parts)
		}
		out = append(out, body)
	}
	return out
}

func poolTree(pool Pool, name string, parts []stack.Resource) codec.Object {
	tree := PoolCodec().Create(pool, nil)
	var members []codec.Object
	inside, _ := PartOf[Members](parts, stack.Key{Kind: KindMembers, Name: name})
	for _, m := range inside.Members {
		members = append(members, MemberCodec().Create(m, nil))
	}
	if len(members) > 0 {
		tree["members"] = members
	}
	if check, ok := PartOf[Monitor](parts, stack.Key{Kind: KindMonitor, Name: name}); ok {
		tree["healthmonitor"] = MonitorCodec().Create(check, nil)
	}
	return tree
}

// PartOf returns the content of the part with a key.
func PartOf[T any](parts []stack.Resource, key stack.Key) (spec T, ok bool) {
	for _, r := range parts {
		if r.Key == key {
			spec, ok = r.Spec.(T)
			return spec, ok
		}
	}
	return spec, false
}

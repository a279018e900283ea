package elbv2

import "slices"

const (
	crossZoneKey  = "load_balancing.cross_zone.enabled"
	denyKey       = "ipv6.deny_all_igw_traffic"
	secondaryKey  = "secondary_ips.auto_assigned.per_subnet"
	unhealthyKey  = "target_health_state.unhealthy."
	stickinessKey = "stickiness.type"
)

// settings are the attributes of a network load balancer.
// Source: API reference, LoadBalancerAttribute.
func (lb *loadBalancer) settings() []setting {
	return []setting{
		{"deletion_protection.enabled", "false", boolean},
		{"access_logs.s3.enabled", "false", boolean},
		{"access_logs.s3.bucket", "", anything},
		{"access_logs.s3.prefix", "", anything},
		{denyKey, flag(lb.Scheme == internal && lb.IPType != ipv4), boolean},
		{"zonal_shift.config.enabled", "false", boolean},
		{crossZoneKey, "false", boolean},
		{"dns_record.client_routing_policy", "any_availability_zone",
			words("any_availability_zone", "availability_zone_affinity", "partial_availability_zone_affinity")},
		{secondaryKey, "0", between(0, 7)},
	}
}

// settings are the attributes of a target group by protocol and target type.
// Source: API reference, TargetGroupAttribute.
func (tg *targetGroup) settings() []setting {
	udp := datagrams(tg.Protocol)
	return slices.Concat([]setting{
		{"deregistration_delay.timeout_seconds", "300", between(0, 3600)},
		// New groups of UDP protocols end connections with the deregistration delay.
		{"deregistration_delay.connection_termination.enabled", flag(udp), boolean},
		{"preserve_client_ip.enabled", flag(udp || tg.TargetType != targetIP), boolean},
		{"proxy_protocol_v2.enabled", "false", boolean},
		{"stickiness.enabled", "false", boolean},
		{stickinessKey, "source_ip", anything},
		{unhealthyKey + "connection_termination.enabled", flag(!udp), boolean},
		{unhealthyKey + "draining_interval_seconds", "0", between(0, 360000)},
		{crossZoneKey, "use_load_balancer_configuration", words("true", "false", "use_load_balancer_configuration")},
	}, healthSettings())
}

func flag(b bool) string { return choose(b, "true", "false") }

func healthSettings() []setting {
	return []setting{
		{"target_group_health.dns_failover.minimum_healthy_targets.count", "1", offOr(1, 1<<30)},
		{"target_group_health.dns_failover.minimum_healthy_targets.percentage", "off", offOr(1, 100)},
		{"target_group_health.unhealthy_state_routing.minimum_healthy_targets.count", "1", between(1, 1<<30)},
		{"target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage", "off", offOr(1, 100)},
	}
}

func (l *listener) defaultAttributes() map[string]string { return defaults(l.settings()) }

// settings are the attributes of a listener by its protocol.
// Source: API reference, ListenerAttribute.
func (l *listener) settings() []setting {
	if l.Protocol == "TCP" || l.Protocol == "TCP_UDP" {
		return []setting{{"tcp.idle_timeout.seconds", "350", between(60, 6000)}}
	}
	return nil
}

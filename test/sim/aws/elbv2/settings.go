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
		{"deletion_protection.enabled", "false", checkBool},
		{"access_logs.s3.enabled", "false", checkBool},
		{"access_logs.s3.bucket", "", acceptAny},
		{"access_logs.s3.prefix", "", acceptAny},
		{denyKey, formatBool(lb.Scheme == internal && lb.IPType != ipv4), checkBool},
		{"zonal_shift.config.enabled", "false", checkBool},
		{crossZoneKey, "false", checkBool},
		{"dns_record.client_routing_policy", "any_availability_zone",
			checkWord("any_availability_zone", "availability_zone_affinity", "partial_availability_zone_affinity")},
		{secondaryKey, "0", checkRange(0, 7)},
	}
}

// settings are the attributes of a target group by protocol and target type.
// Source: API reference, TargetGroupAttribute.
func (tg *targetGroup) settings() []setting {
	udp := carriesUDP(tg.Protocol)
	return slices.Concat([]setting{
		{"deregistration_delay.timeout_seconds", "300", checkRange(0, 3600)},
		// New groups of UDP protocols end connections with the deregistration delay.
		{"deregistration_delay.connection_termination.enabled", formatBool(udp), checkBool},
		{"preserve_client_ip.enabled", formatBool(udp || tg.TargetType != targetIP), checkBool},
		{"proxy_protocol_v2.enabled", "false", checkBool},
		{"stickiness.enabled", "false", checkBool},
		{stickinessKey, "source_ip", acceptAny},
		{unhealthyKey + "connection_termination.enabled", formatBool(!udp), checkBool},
		{unhealthyKey + "draining_interval_seconds", "0", checkRange(0, 360000)},
		{crossZoneKey, "use_load_balancer_configuration", checkWord("true", "false", "use_load_balancer_configuration")},
	}, healthSettings())
}

func formatBool(b bool) string { return selectText(b, "true", "false") }

func healthSettings() []setting {
	return []setting{
		{"target_group_health.dns_failover.minimum_healthy_targets.count", "1", offOr(1, 1<<30)},
		{"target_group_health.dns_failover.minimum_healthy_targets.percentage", "off", offOr(1, 100)},
		{"target_group_health.unhealthy_state_routing.minimum_healthy_targets.count", "1", checkRange(1, 1<<30)},
		{"target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage", "off", offOr(1, 100)},
	}
}

func (l *listener) defaultAttributes() map[string]string { return defaultValues(l.settings()) }

// settings are the attributes of a listener by its protocol.
// Source: API reference, ListenerAttribute.
func (l *listener) settings() []setting {
	if l.Protocol == "TCP" || l.Protocol == "TCP_UDP" {
		return []setting{{"tcp.idle_timeout.seconds", "350", checkRange(60, 6000)}}
	}
	return nil
}

package elbv2

import "slices"

const (
	crossZoneKey  = "load_balancing.cross_zone.enabled"
	denyKey       = "ipv6.deny_all_igw_traffic"
	secondaryKey  = "secondary_ips.auto_assigned.per_subnet"
	unhealthyKey  = "target_health_state.unhealthy."
	stickinessKey = "stickiness.type"
)

func (lb *loadBalancer) defaultAttributes() map[string]string { return defaults(lb.settings()) }

// settings are the attributes of a load balancer by its type.
// Source: API reference, LoadBalancerAttribute.
func (lb *loadBalancer) settings() []setting {
	protection := setting{"deletion_protection.enabled", "false", boolean}
	if lb.Type == typeGateway {
		return []setting{protection, {crossZoneKey, "false", boolean}}
	}
	deny := "false"
	if lb.Scheme == internal && lb.IPType != ipv4 {
		deny = "true"
	}
	common := slices.Concat([]setting{protection}, logSettings("access_logs"),
		[]setting{{denyKey, deny, boolean}, {"zonal_shift.config.enabled", "false", boolean}})
	if lb.Type == typeNetwork {
		return append(common, networkSettings()...)
	}
	return append(common, applicationSettings()...)
}

func logSettings(prefix string) []setting {
	return []setting{
		{prefix + ".s3.enabled", "false", boolean},
		{prefix + ".s3.bucket", "", anything},
		{prefix + ".s3.prefix", "", anything},
	}
}

func networkSettings() []setting {
	return []setting{
		{crossZoneKey, "false", boolean},
		{"dns_record.client_routing_policy", "any_availability_zone",
			words("any_availability_zone", "availability_zone_affinity", "partial_availability_zone_affinity")},
		{secondaryKey, "0", between(0, 7)},
	}
}

func applicationSettings() []setting {
	return slices.Concat([]setting{
		// Cross-zone balancing of an application load balancer cannot be switched off.
		{crossZoneKey, "true", words("true")},
		{"idle_timeout.timeout_seconds", "60", between(1, 4000)},
		{"client_keep_alive.seconds", "3600", between(60, 604800)},
		{"routing.http2.enabled", "true", boolean},
		{"routing.http.drop_invalid_header_fields.enabled", "false", boolean},
		{"routing.http.desync_mitigation_mode", "defensive", words("monitor", "defensive", "strictest")},
		{"routing.http.preserve_host_header.enabled", "false", boolean},
		{"routing.http.x_amzn_tls_version_and_cipher_suite.enabled", "false", boolean},
		{"routing.http.xff_client_port.enabled", "false", boolean},
		{"routing.http.xff_header_processing.mode", "append", words("append", "preserve", "remove")},
		{"waf.fail_open.enabled", "false", boolean},
	}, logSettings("connection_logs"), logSettings("health_check_logs"))
}

func allLoadBalancerSettings() []setting {
	lb := loadBalancer{Type: typeNetwork}
	return slices.Concat(lb.settings(), applicationSettings())
}

func (tg *targetGroup) defaultAttributes() map[string]string { return defaults(tg.settings()) }

// settings are the attributes of a target group by protocol and target type.
// Source: API reference, TargetGroupAttribute.
func (tg *targetGroup) settings() []setting {
	switch {
	case tg.TargetType == targetLambda:
		return append(healthSettings(), setting{"lambda.multi_value_headers.enabled", "false", boolean})
	case tg.Protocol == "GENEVE":
		return gatewayGroupSettings()
	case isWeb(tg.Protocol):
		return slices.Concat(delaySettings(), webGroupSettings(), healthSettings())
	}
	udp := datagrams(tg.Protocol)
	preserve := udp || tg.TargetType != targetIP
	return slices.Concat(delaySettings(), []setting{
		// New groups of UDP protocols end connections with the deregistration delay.
		{"deregistration_delay.connection_termination.enabled", flag(udp), boolean},
		{"preserve_client_ip.enabled", flag(preserve), boolean},
		{"proxy_protocol_v2.enabled", "false", boolean},
		{"stickiness.enabled", "false", boolean},
		{"stickiness.type", "source_ip", anything},
		{unhealthyKey + "connection_termination.enabled", flag(!udp), boolean},
		{unhealthyKey + "draining_interval_seconds", "0", between(0, 360000)},
	}, healthSettings())
}

func flag(b bool) string { return choose(b, "true", "false") }

func delaySettings() []setting {
	return []setting{{"deregistration_delay.timeout_seconds", "300", between(0, 3600)}}
}

func healthSettings() []setting {
	return []setting{
		{crossZoneKey, "use_load_balancer_configuration", words("true", "false", "use_load_balancer_configuration")},
		{"target_group_health.dns_failover.minimum_healthy_targets.count", "1", offOr(1, 1<<30)},
		{"target_group_health.dns_failover.minimum_healthy_targets.percentage", "off", offOr(1, 100)},
		{"target_group_health.unhealthy_state_routing.minimum_healthy_targets.count", "1", between(1, 1<<30)},
		{"target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage", "off", offOr(1, 100)},
	}
}

func webGroupSettings() []setting {
	return []setting{
		{"stickiness.enabled", "false", boolean},
		{"stickiness.type", "lb_cookie", anything},
		{"stickiness.lb_cookie.duration_seconds", "86400", between(1, 604800)},
		{"stickiness.app_cookie.cookie_name", "", anything},
		{"stickiness.app_cookie.duration_seconds", "86400", between(1, 604800)},
		{"load_balancing.algorithm.type", "round_robin", words("round_robin", "least_outstanding_requests", "weighted_random")},
		{"load_balancing.algorithm.anomaly_mitigation", "off", words("on", "off")},
		{"slow_start.duration_seconds", "0", zeroOr(30, 900)},
	}
}

func gatewayGroupSettings() []setting {
	return append(delaySettings(),
		setting{"stickiness.enabled", "false", boolean},
		setting{"stickiness.type", "source_ip_dest_ip_proto", words("source_ip_dest_ip", "source_ip_dest_ip_proto")},
		setting{"target_failover.on_deregistration", "no_rebalance", words("rebalance", "no_rebalance")},
		setting{"target_failover.on_unhealthy", "no_rebalance", words("rebalance", "no_rebalance")},
	)
}

func allGroupSettings() []setting {
	tcp := targetGroup{Protocol: "TCP"}
	lambda := targetGroup{TargetType: targetLambda}
	return slices.Concat(tcp.settings(), webGroupSettings(), gatewayGroupSettings(), lambda.settings())
}

func (l *listener) defaultAttributes(lb *loadBalancer) map[string]string {
	out := defaults(l.settings(lb))
	for key, value := range out {
		// Header attributes have no value until one is set, except the server header.
		if value == "" {
			delete(out, key)
		}
	}
	return out
}

// settings are the attributes of a listener by its protocol.
// Source: API reference, ListenerAttribute.
func (l *listener) settings(lb *loadBalancer) []setting {
	switch {
	case lb.Type == typeApplication:
		return webListenerSettings(l.Protocol == "HTTPS")
	case lb.Type == typeGateway || l.Protocol == "TCP" || l.Protocol == "TCP_UDP":
		return []setting{{"tcp.idle_timeout.seconds", "350", between(60, 6000)}}
	}
	return nil
}

func webListenerSettings(tls bool) []setting {
	var out []setting
	if tls {
		for _, name := range []string{"mtls_clientcert_serial_number", "mtls_clientcert_issuer", "mtls_clientcert_subject",
			"mtls_clientcert_validity", "mtls_clientcert_leaf", "mtls_clientcert", "tls_version", "tls_cipher_suite"} {
			out = append(out, setting{"routing.http.request.x_amzn_" + name + ".header_name", "", anything})
		}
	}
	out = append(out, setting{"routing.http.response.server.enabled", "true", boolean})
	for _, name := range []string{"strict_transport_security", "access_control_allow_origin", "access_control_allow_methods",
		"access_control_allow_headers", "access_control_allow_credentials", "access_control_expose_headers",
		"access_control_max_age", "content_security_policy", "x_content_type_options", "x_frame_options"} {
		out = append(out, setting{"routing.http.response." + name + ".header_value", "", anything})
	}
	return out
}

func allListenerSettings() []setting {
	return append(webListenerSettings(true), setting{"tcp.idle_timeout.seconds", "350", anything})
}

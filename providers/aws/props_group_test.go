package aws_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/props"
)

const groupKey = "berth-lb.io/load-balancer-group"

// inGroup puts a case into a group.
func inGroup(c props.Case, group string) props.Case {
	c.Service = c.Service.DeepCopy()
	c.Service.Annotations[groupKey] = group
	return c
}

// groupCases are Services in groups, between such as have load balancers of their own.
func groupCases() []props.Case {
	return []props.Case{
		inGroup(controllerService("group", nil, nil), "front"),
		controllerService("own", nil, nil),
		inGroup(controllerService("group-everything", map[string]string{
			"aws-load-balancer-nlb-target-type": "ip", "aws-load-balancer-scheme": "internet-facing",
			"aws-load-balancer-ssl-cert": certificate + "," + certificates + "2", "aws-load-balancer-ssl-ports": "https",
			"aws-load-balancer-listener-attributes.TCP-80": "tcp.idle_timeout.seconds=400",
			"aws-load-balancer-attributes":                 "load_balancing.cross_zone.enabled=true",
			"load-balancer-source-ranges":                  "10.1.0.0/16,10.2.0.0/16", "aws-load-balancer-additional-resource-tags": "team=shop",
			"aws-load-balancer-enable-icmp-for-path-mtu-discovery": "on", "aws-load-balancer-minimum-load-balancer-capacity": "CapacityUnits=3000",
		}, nil), "back"),
		serviceCase("clb", nil, nil),
		inGroup(controllerService("group-udp", nil, func(s *corev1.ServiceSpec) { s.Ports[1].Protocol = corev1.ProtocolUDP }), "front"),
		serviceCase("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil),
	}
}

func TestPropertiesGroup(t *testing.T) {
	setCredentials(t)
	props.Run(t, freshController, groupCases())
}

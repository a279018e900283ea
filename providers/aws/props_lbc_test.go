package aws_test

import (
	"fmt"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-lb/berth/providers"
	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/test/props"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
)

// controllerConfig has Services of the AWS Load Balancer Controller served.
const controllerConfig = "\n[Berth]\nLoadBalancerController = true\n"

// podded is a subject with a pod of every Service on each of its nodes.
type podded struct{ subject }

func (p podded) Slices(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	var out []*discoveryv1.EndpointSlice
	for _, family := range svc.Spec.IPFamilies {
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Namespace: svc.Namespace, Name: svc.Name + "-" + string(family)},
			AddressType: discoveryv1.AddressType(family),
		}
		for i, node := range p.running.Cloud.Seed.Nodes {
			addr := netip.MustParseAddr(node.PrivateIP)
			for range 20 {
				addr = addr.Next() // of the same subnet
			}
			text := addr.String()
			if family == corev1.IPv6Protocol {
				text = fmt.Sprintf("%s1:%x", netip.MustParsePrefix(p.running.Cloud.Seed.IPv6CIDR).Addr(), i+1)
			}
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{text}, NodeName: new(node.Name), Zone: new(node.Zone)})
		}
		for _, port := range svc.Spec.Ports {
			slice.Ports = append(slice.Ports, discoveryv1.EndpointPort{Name: new(port.Name), Protocol: new(port.Protocol), Port: new(port.Port + 8000)})
		}
		out = append(out, slice)
	}
	return out
}

// Objects is another Service, beside the one of a case.
func (p podded) Objects() map[providers.Reference]providers.Object {
	beside := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "beside", UID: "uid-of-beside"}, Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeNodePort, IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
		Ports: []corev1.ServicePort{
			{Name: "http", Protocol: corev1.ProtocolTCP, Port: 8000, TargetPort: intstr.FromInt32(16000), NodePort: 31000},
			{Name: "admin", Protocol: corev1.ProtocolTCP, Port: 8001, TargetPort: intstr.FromString("admin"), NodePort: 31001},
		},
	}}
	ref := providers.Reference{Kind: providers.Service, Namespace: beside.Namespace, Name: beside.Name}
	return map[providers.Reference]providers.Object{ref: {Service: beside, Slices: p.Slices(beside)}}
}

func freshController(t testing.TB) props.Subject { return controllerWith("")(t) }

// controllerWith adds to the section of the cloud configuration.
func controllerWith(config string) props.New {
	return func(t testing.TB) props.Subject {
		return podded{subject{running: simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 6}}), config: controllerConfig + config, notes: berth.NewNotes(fake.NewClientset())}}
	}
}

// controllerService is of the class of the AWS Load Balancer Controller.
func controllerService(name string, annotations map[string]string, change func(*corev1.ServiceSpec)) props.Case {
	c := serviceCase(name, annotations, change)
	c.Service.Spec.LoadBalancerClass = new("service.k8s.aws/nlb")
	return c
}

func controllerCases() []props.Case {
	return []props.Case{
		controllerService("lbc-pods", map[string]string{"aws-load-balancer-nlb-target-type": "ip"}, nil),
		controllerService("lbc-everything", map[string]string{
			"aws-load-balancer-scheme": "internet-facing", "aws-load-balancer-name": "shop-web", "aws-load-balancer-target-node-labels": "",
			"aws-load-balancer-ssl-cert": certificate + "," + certificates + "2," + certificates + "3", "aws-load-balancer-ssl-ports": "https",
			"aws-load-balancer-alpn-policy": "HTTP2Preferred", "aws-load-balancer-backend-protocol": "ssl",
			"aws-load-balancer-listener-attributes.TCP-80": "tcp.idle_timeout.seconds=400",
			"aws-load-balancer-attributes":                 "load_balancing.cross_zone.enabled=true,dns_record.client_routing_policy=availability_zone_affinity",
			"aws-load-balancer-target-group-attributes":    "preserve_client_ip.enabled=false,deregistration_delay.timeout_seconds=30",
			"aws-load-balancer-proxy-protocol":             "*", "aws-load-balancer-healthcheck-protocol": "http", "aws-load-balancer-healthcheck-success-codes": "200",
			"aws-load-balancer-healthcheck-interval": "15", "aws-load-balancer-healthcheck-timeout": "5",
			"aws-load-balancer-additional-resource-tags": "team=shop", "load-balancer-source-ranges": "10.1.0.0/16",
			"aws-load-balancer-enable-icmp-for-path-mtu-discovery": "on", "aws-load-balancer-minimum-load-balancer-capacity": "CapacityUnits=3000",
			"aws-load-balancer-inbound-sg-rules-on-private-link-traffic": "off",
		}, nil),
		controllerService("lbc-dualstack-udp", map[string]string{
			"aws-load-balancer-nlb-target-type": "ip", "aws-load-balancer-ip-address-type": "dualstack", "aws-load-balancer-enable-prefix-for-ipv6-source-nat": "on",
		}, func(s *corev1.ServiceSpec) {
			s.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol}
			s.Ports[1].Protocol = corev1.ProtocolUDP
		}),
		controllerService("lbc-pods-after-ipv6", map[string]string{"aws-load-balancer-nlb-target-type": "ip"}, nil),
	}
}

// casesWithoutGroups returns cases of load balancers without security groups, which
// cannot become ones with groups.
func casesWithoutGroups() []props.Case {
	return []props.Case{
		controllerService("lbc-no-groups-local", map[string]string{"aws-load-balancer-disable-nlb-sg": "true", "aws-load-balancer-scheme": "internet-facing"}, props.Local),
		serviceCase("nlb-beside", map[string]string{"aws-load-balancer-type": "nlb"}, nil),
		controllerService("lbc-no-groups-pods", map[string]string{"aws-load-balancer-disable-nlb-sg": "true", "aws-load-balancer-scheme": "internet-facing", "aws-load-balancer-nlb-target-type": "ip"}, nil),
	}
}

func tcpUDP() props.Case {
	return controllerService("lbc-tcp-udp", map[string]string{"aws-load-balancer-enable-tcp-udp-listener": "true"}, func(s *corev1.ServiceSpec) {
		s.Ports[1] = corev1.ServicePort{Name: "udp", Protocol: corev1.ProtocolUDP, Port: s.Ports[0].Port, NodePort: 30081}
	})
}

// sharingCase shares the traffic of its ports with a Service beside it.
func sharingCase() props.Case {
	return controllerService("lbc-shares", map[string]string{
		"aws-load-balancer-nlb-target-type": "ip",
		"actions.TCP-80":                    forwardAction(`{"serviceName":"beside","servicePort":"http","weight":5}`, `{"serviceName":"beside","servicePort":8001,"weight":5}`),
		"actions.TCP-443":                   forwardAction(`{"serviceName":"beside","servicePort":8000}`),
	}, nil)
}

func TestPropertiesController(t *testing.T) {
	setCredentials(t)
	props.Run(t, freshController, append(controllerCases(), tcpUDP(), sharingCase()))
}

func TestPropertiesControllerGroupless(t *testing.T) {
	setCredentials(t)
	props.Run(t, freshController, casesWithoutGroups())
}

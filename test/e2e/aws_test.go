package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/sim"
)

var awsPlane cluster.Shared

// TestAWS runs what every cloud has to stand on AWS.
func TestAWS(t *testing.T) {
	t.Parallel()
	onAWS().scenarios(t)
}

func awsKey(key string) string { return "service.beta.kubernetes.io/aws-load-balancer-" + key }

// onAWS has load balancers that are made part by part, so that they can be interrupted
// often.
func onAWS() *place {
	everybody := []string{"0.0.0.0/0"}
	return &place{
		cloud: "aws", plane: &awsPlane, sim: []string{"--quota-factor=3"}, fronts: awsFronts, key: nameOf, spoil: spoilAWS,
		kinds: []kind{
			{name: classicKind, ports: oneByOne, check: func(nodePorts ...int32) string { return fmt.Sprint(nodePorts[0]) }, open: everybody,
				parts: map[string]int{"elb/LoadBalancers/": 1, "ec2/Groups/": 1}},
			{name: networkKind, asks: []change{useNetworkType}, ports: oneByOne, check: func(...int32) string { return "traffic-port" }, open: everybody,
				parts: map[string]int{"elbv2/LoadBalancers/": 1, "elbv2/TargetGroups/": 1, "elbv2/Listeners/": 1}},
		},
		answers: answers{
			throttled: sim.Fault{Status: 400, Code: "Throttling", Message: "Rate exceeded"},
			denied: sim.Fault{Operation: "CreateLoadBalancer", Status: 403, Code: "AccessDenied",
				Message: "User: arn:aws:sts::123456789012:assumed-role/nodes is not authorized to perform: elasticloadbalancing:CreateLoadBalancer"},
			quota: sim.Fault{Operation: "CreateLoadBalancer", Status: 400, Code: "TooManyLoadBalancers", Message: "Exceeded quota of account 123456789012"},
			down:  sim.Fault{Status: 503, Code: "ServiceUnavailable", Message: "Service is unavailable"},
		},
		cuts: []string{
			"CreateLoadBalancer", "CreateSecurityGroup", "CreateTargetGroup", "CreateListener",
			"RegisterTargets", "RegisterInstancesWithLoadBalancer", "AuthorizeSecurityGroupIngress",
		},
		crowd: 30, kills: []int{5, 35, 60},
		// States last as they do there.
		slow:     []string{"--throttle", "--provisioning-delay=3s", "--healthy-delay=2s", "--draining-delay=2s", "--release-delay=3s", "--group-release-delay=2s", "--new-group-delay=500ms"},
		slowly:   8,
		mistakes: awsMistakes(),
	}
}

// manyPorts are more than any load balancer has listeners. The API server draws their node
// ports.
func manyPorts(n int32) change {
	var pairs []int32
	for i := range n {
		pairs = append(pairs, 1000+i, 0)
	}
	return setPorts(pairs...)
}

func awsMistakes() []mistake {
	const rangesKey = "service.beta.kubernetes.io/load-balancer-source-ranges"
	one := []change{setPorts(80, 0)}
	affine := changeSpec(func(s *corev1.ServiceSpec) { s.SessionAffinity = corev1.ServiceAffinityClientIP })
	free := changeSpec(func(s *corev1.ServiceSpec) {
		s.SessionAffinity, s.SessionAffinityConfig = corev1.ServiceAffinityNone, nil
	})
	udp := changeSpec(func(s *corev1.ServiceSpec) { s.Ports = []corev1.ServicePort{newPort(corev1.ProtocolUDP, 53, 0)} })
	return []mistake{
		mistakeOf("enum", classicKind, awsKey("healthcheck-protocol"), "udp", `"TCP", "SSL", "HTTP" or "HTTPS"`),
		mistakeOf("range", classicKind, awsKey("connection-idle-timeout"), "9999", "1 to 4000"),
		mistakeOf("number", classicKind, awsKey("healthcheck-interval"), "soon", "seconds"),
		mistakeOf("bool", classicKind, awsKey("cross-zone-load-balancing-enabled"), "yes", "true or false"),
		mistakeOf("id", classicKind, awsKey("security-groups"), "web", "sg-..."),
		mistakeOf("no-subnet", classicKind, awsKey("subnets"), "subnet-00000000000000000", "subnets of the VPC"),
		mistakeOf("no-group", classicKind, awsKey("security-groups"), "sg-0123456789abcdef0", "existing security groups"),
		mistakeOf("no-extra-group", classicKind, awsKey("extra-security-groups"), "sg-0123456789abcdef0", "existing security groups"),
		mistakeOf("arn", classicKind, awsKey("ssl-cert"), "my-certificate", "one ARN of ACM or IAM"),
		mistakeOf("pairs", networkKind, awsKey("target-group-attributes"), "nonsense", "each =true or =false"),
		mistakeOf("net-enum", networkKind, awsKey("healthcheck-protocol"), "udp", `"TCP", "HTTP" or "HTTPS"`),
		mistakeOf("net-bool", networkKind, awsKey("access-log-enabled"), "maybe", "true or false"),
		mistakeOf("net-forbidden", networkKind, awsKey("extra-security-groups"), "sg-0123", "must not be set"),
		// A range that is none the API server itself refuses.
		mistakeOf("ipv6", classicKind, rangesKey, "2001:db8::/32", "IPv4 CIDRs"),
		{name: "listeners", kind: classicKind, field: true, bad: []change{manyPorts(101)}, fix: one, words: []string{"spec.ports", "101", "100 listeners"}},
		{name: "net-listeners", kind: networkKind, field: true, bad: []change{manyPorts(51)}, fix: one, words: []string{"spec.ports", "51", "50 listeners"}},
		{name: "protocol", kind: classicKind, field: true, bad: []change{udp}, fix: one, words: []string{"spec.ports", "53/UDP", "TCP"}},
		{name: "affinity", kind: classicKind, field: true, bad: []change{affine}, fix: []change{free}, words: []string{"spec.sessionAffinity", `"ClientIP"`, `"None"`}},
		{name: "several", kind: classicKind, bad: []change{setAnnotation("connection-idle-timeout", "0"), setAnnotation("proxy-protocol", "v2")},
			fix:   []change{setAnnotation("connection-idle-timeout", ""), setAnnotation("proxy-protocol", "")},
			words: []string{"connection-idle-timeout", `"0"`, "proxy-protocol", `"v2"`}},
	}
}

// awsFronts lists the load balancers of both kinds. Others may come and go while they are
// read.
func awsFronts(w *world) ([]front, error) {
	var all []balancer
	var err error
	for range 5 {
		if all, err = w.balancers(); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	machines, err := w.machineNames()
	if err != nil {
		return nil, err
	}
	rules, err := w.nodeRules(clientRule)
	if err != nil {
		return nil, err
	}
	var out []front
	for _, b := range all {
		out = append(out, b.front(machines, rules))
	}
	return out, nil
}

// machineNames are the names of Nodes by their instances.
func (w *world) machineNames() (map[string]string, error) {
	nodes, err := w.SeedNodes()
	out := map[string]string{}
	for _, n := range nodes {
		out[lastPart(n.Spec.ProviderID)] = n.Name
	}
	return out, err
}

// front is the load balancer as a client sees it, given the names of machines and the
// rules by address at them.
func (b balancer) front(machines map[string]string, nodeRules []string) front {
	f := front{Of: b.Name, Kind: b.Kind, Address: b.Host, Settings: b.Settings}
	for _, m := range b.Members {
		f.Members = append(f.Members, machines[m[strings.LastIndex(m, " ")+1:]])
	}
	rules := b.Ranges
	for _, l := range b.Listeners {
		from, to, _ := strings.Cut(l, ">")
		f.Ports = append(f.Ports, strings.Replace(from, ":", " ", 1))
		to, _, _ = strings.Cut(to[strings.Index(to, ":")+1:], " ")
		for _, r := range nodeRules {
			if b.Kind == networkKind && strings.HasPrefix(r, to+" ") {
				rules = append(rules, r)
			}
		}
	}
	for _, r := range rules {
		_, source, _ := strings.Cut(r, " ")
		f.Sources = append(f.Sources, source)
	}
	var checks []string
	for _, c := range b.Checks {
		checks = append(checks, c[strings.Index(c, ":")+1:])
	}
	for _, list := range []*[]string{&f.Ports, &f.Members, &f.Sources, &checks} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	f.Check = strings.Join(checks, ",")
	return f
}

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/smithy-go"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/harness"
)

// clients are the official SDK's.
type clients struct {
	elb   *elb.Client
	elbv2 *elbv2.Client
	ec2   *ec2.Client
}

func newClients(url string) clients {
	cfg := awssdk.Config{
		Region: "us-east-1", BaseEndpoint: awssdk.String(url),
		Credentials: credentials.NewStaticCredentialsProvider("simulated", "simulated", ""),
	}
	return clients{elb: elb.NewFromConfig(cfg), elbv2: elbv2.NewFromConfig(cfg), ec2: ec2.NewFromConfig(cfg)}
}

// Kinds of load balancers.
const (
	classicKind = "classic"
	networkKind = "network"
)

// balancer is what a client of the cloud sees of a load balancer of either kind.
type balancer struct {
	Kind      string
	Name      string
	Host      string
	Scheme    string
	Listeners []string // "TCP:80>TCP:1140", with the certificate's last part where there is one
	Members   []string // instances, by port and id where the kind has them by port: "80 i-1"
	Checks    []string // what health checks request on instances
	Settings  map[string]string
	Ranges    []string // ranges that may connect: "80 0.0.0.0/0"
}

// balancers lists the load balancers in the cloud, Classic ones first. The list and the
// details are separate calls, which are repeated when a load balancer is deleted between
// them.
func (w *world) balancers() ([]balancer, error) {
	var out []balancer
	var failed error
	err := harness.Eventually(w.t.Context(), limit, func(ctx context.Context) error {
		var networks []balancer
		if out, failed = w.classics(ctx); failed == nil {
			networks, failed = w.networks(ctx)
			out = append(out, networks...)
		}
		if wentMeanwhile(failed) {
			return failed
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	return out, err
}

// wentMeanwhile reports whether AWS does not have what a list named a moment before.
func wentMeanwhile(err error) bool {
	var refused smithy.APIError
	return errors.As(err, &refused) && strings.HasSuffix(refused.ErrorCode(), "NotFound")
}

func (w *world) classics(ctx context.Context) ([]balancer, error) {
	list, err := w.aws.elb.DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{})
	if err != nil {
		return nil, err
	}
	var out []balancer
	for _, lb := range list.LoadBalancerDescriptions {
		b := balancer{Kind: classicKind, Name: *lb.LoadBalancerName, Host: *lb.DNSName, Scheme: *lb.Scheme, Checks: []string{*lb.HealthCheck.Target}}
		for _, l := range lb.ListenerDescriptions {
			b.Listeners = append(b.Listeners, fmt.Sprintf("%s:%d>%s:%d%s", *l.Listener.Protocol, l.Listener.LoadBalancerPort,
				*l.Listener.InstanceProtocol, *l.Listener.InstancePort, certificateName(l.Listener.SSLCertificateId)))
		}
		for _, i := range lb.Instances {
			b.Members = append(b.Members, *i.InstanceId)
		}
		if b.Settings, err = w.classicSettings(ctx, lb); err != nil {
			return nil, err
		}
		if b.Ranges, err = w.ranges(ctx, lb.SecurityGroups); err != nil {
			return nil, err
		}
		slices.Sort(b.Listeners)
		slices.Sort(b.Members)
		out = append(out, b)
	}
	return out, nil
}

func (w *world) classicSettings(ctx context.Context, lb elbtypes.LoadBalancerDescription) (map[string]string, error) {
	got, err := w.aws.elb.DescribeLoadBalancerAttributes(ctx, &elb.DescribeLoadBalancerAttributesInput{LoadBalancerName: lb.LoadBalancerName})
	if err != nil {
		return nil, err
	}
	var proxied []string
	for _, s := range lb.BackendServerDescriptions {
		if len(s.PolicyNames) > 0 {
			proxied = append(proxied, fmt.Sprint(*s.InstancePort))
		}
	}
	slices.Sort(proxied)
	return map[string]string{
		"idle":  fmt.Sprint(*got.LoadBalancerAttributes.ConnectionSettings.IdleTimeout),
		"cross": fmt.Sprint(got.LoadBalancerAttributes.CrossZoneLoadBalancing.Enabled),
		"proxy": strings.Join(proxied, ","),
	}, nil
}

func (w *world) networks(ctx context.Context) ([]balancer, error) {
	list, err := w.aws.elbv2.DescribeLoadBalancers(ctx, &elbv2.DescribeLoadBalancersInput{})
	if err != nil {
		return nil, err
	}
	var out []balancer
	for _, lb := range list.LoadBalancers {
		b := balancer{Kind: networkKind, Name: *lb.LoadBalancerName, Host: *lb.DNSName, Scheme: string(lb.Scheme), Settings: map[string]string{}}
		got, err := w.aws.elbv2.DescribeLoadBalancerAttributes(ctx, &elbv2.DescribeLoadBalancerAttributesInput{LoadBalancerArn: lb.LoadBalancerArn})
		if err != nil {
			return nil, err
		}
		for _, a := range got.Attributes {
			if *a.Key == "load_balancing.cross_zone.enabled" {
				b.Settings["cross"] = *a.Value
			}
		}
		listeners, err := w.aws.elbv2.DescribeListeners(ctx, &elbv2.DescribeListenersInput{LoadBalancerArn: lb.LoadBalancerArn})
		if err != nil {
			return nil, err
		}
		for _, l := range listeners.Listeners {
			if err := w.listener(ctx, &b, l); err != nil {
				return nil, err
			}
		}
		for _, list := range [][]string{b.Listeners, b.Members, b.Checks} {
			slices.Sort(list)
		}
		out = append(out, b)
	}
	return out, nil
}

// listener adds a listener and the target group that it sends to.
func (w *world) listener(ctx context.Context, b *balancer, l elbv2types.Listener) error {
	var cert *string
	if len(l.Certificates) > 0 {
		cert = l.Certificates[0].CertificateArn
	}
	arn := l.DefaultActions[0].TargetGroupArn
	groups, err := w.aws.elbv2.DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{TargetGroupArns: []string{*arn}})
	if err != nil {
		return err
	}
	g := groups.TargetGroups[0]
	b.Listeners = append(b.Listeners, fmt.Sprintf("%s:%d>%s:%d%s", l.Protocol, *l.Port, g.Protocol, *g.Port, certificateName(cert)))
	check := fmt.Sprintf("%d %s:%s", *l.Port, g.HealthCheckProtocol, *g.HealthCheckPort)
	if g.HealthCheckPath != nil {
		check += *g.HealthCheckPath
	}
	b.Checks = append(b.Checks, check)
	attributes, err := w.aws.elbv2.DescribeTargetGroupAttributes(ctx, &elbv2.DescribeTargetGroupAttributesInput{TargetGroupArn: arn})
	if err != nil {
		return err
	}
	for _, a := range attributes.Attributes {
		if *a.Key == "proxy_protocol_v2.enabled" {
			b.Settings[fmt.Sprintf("proxy %d", *l.Port)] = *a.Value
		}
	}
	health, err := w.aws.elbv2.DescribeTargetHealth(ctx, &elbv2.DescribeTargetHealthInput{TargetGroupArn: arn})
	if err != nil {
		return err
	}
	for _, t := range health.TargetHealthDescriptions {
		if t.TargetHealth.State != elbv2types.TargetHealthStateEnumDraining {
			b.Members = append(b.Members, fmt.Sprintf("%d %s", *l.Port, *t.Target.Id))
		}
	}
	return nil
}

func certificateName(arn *string) string {
	if arn == nil || *arn == "" {
		return ""
	}
	return " " + (*arn)[strings.LastIndex(*arn, "/")+1:]
}

// ranges lists the ranges that security groups admit, without ICMP.
func (w *world) ranges(ctx context.Context, groups []string) ([]string, error) {
	list, err := w.aws.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: groups})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, g := range list.SecurityGroups {
		out = append(out, groupRules(g, "")...)
	}
	slices.Sort(out)
	return out, nil
}

// clientRule is in the descriptions of rules that let clients in.
const clientRule = "/client="

// groupRules returns the rules of a group by address whose descriptions contain a word.
func groupRules(g ec2types.SecurityGroup, word string) []string {
	var out []string
	for _, p := range g.IpPermissions {
		if p.IpProtocol == nil || *p.IpProtocol == "icmp" || p.FromPort == nil {
			continue
		}
		for _, r := range p.IpRanges {
			if strings.Contains(awssdk.ToString(r.Description), word) {
				out = append(out, fmt.Sprintf("%d %s", *p.FromPort, *r.CidrIp))
			}
		}
	}
	return out
}

// nodeRules are the rules by address in the group of the nodes whose descriptions have a
// word.
func (w *world) nodeRules(word string) ([]string, error) {
	list, err := w.aws.ec2.DescribeSecurityGroups(w.t.Context(), &ec2.DescribeSecurityGroupsInput{
		Filters: []ec2types.Filter{{Name: awssdk.String("group-name"), Values: []string{"berth-demo-nodes"}}},
	})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, g := range list.SecurityGroups {
		out = append(out, groupRules(g, word)...)
	}
	slices.Sort(out)
	return out, nil
}

// named lists the load balancers of a Service, of either kind.
func (w *world) named(name string) ([]balancer, error) {
	svc, err := w.Get(w.t.Context(), w.ns, name)
	if err != nil {
		return nil, err
	}
	all, err := w.balancers()
	return slices.DeleteFunc(all, func(b balancer) bool { return b.Name != nameOf(svc) }), err
}

// nameOf is what AWS's own controller calls the load balancer of a Service.
func nameOf(svc *corev1.Service) string {
	return ("a" + strings.ReplaceAll(string(svc.UID), "-", ""))[:32]
}

// balancer is the one load balancer of a Service.
func (w *world) balancer(name string) (balancer, error) {
	list, err := w.named(name)
	switch {
	case err != nil:
		return balancer{}, err
	case len(list) == 0:
		return balancer{}, errors.New(name + " has no load balancer")
	case len(list) > 1:
		return balancer{}, fmt.Errorf("%s has %d load balancers", name, len(list))
	}
	return list[0], nil
}

// Fields of a balancer, for becomes.
func listenersOf(b balancer) any { return b.Listeners }
func membersOf(b balancer) any   { return b.Members }
func checksOf(b balancer) any    { return b.Checks }
func rangesOf(b balancer) any    { return b.Ranges }

func settingOf(key string) func(balancer) any {
	return func(b balancer) any { return b.Settings[key] }
}

// becomes waits until the load balancer of a Service has something.
func (w *world) becomes(name string, field func(balancer) any, want any) {
	w.t.Helper()
	w.eventually(name, func() error {
		b, err := w.balancer(name)
		if err != nil {
			return err
		}
		return diffError("load balancer", want, field(b))
	})
}

// machines are the instances of the Nodes by their order in the seed.
func (w *world) machines() []string {
	w.t.Helper()
	nodes, err := w.SeedNodes()
	w.must(err)
	out := make([]string, 0, len(nodes))
	for _, n := range nodes {
		out = append(out, n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:])
	}
	return out
}

// onPort are members of a Network Load Balancer.
func onPort(port int32, instances ...string) []string {
	var out []string
	for _, i := range instances {
		out = append(out, fmt.Sprintf("%d %s", port, i))
	}
	slices.Sort(out)
	return out
}

func inOrder(instances ...string) []string {
	slices.Sort(instances)
	return instances
}

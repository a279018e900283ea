package elbv2_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	v2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
)

func TestSecurityGroupsOfNetworkLoadBalancers(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	none, with := r.nlb("none"), r.nlb("with", "sg-1")
	set := func(lb types.LoadBalancer, groups ...string) error {
		if groups == nil {
			groups = []string{} // Sent as a bare "SecurityGroups=".
		}
		_, err := r.SetSecurityGroups(t.Context(), &v2.SetSecurityGroupsInput{LoadBalancerArn: lb.LoadBalancerArn, SecurityGroups: groups})
		return err
	}
	expectCode(t, "none to some", "InvalidConfigurationRequest", set(none, "sg-1"))
	expectCode(t, "some to none", "InvalidConfigurationRequest", set(with))
	expectCode(t, "missing", "InvalidSecurityGroup", set(with, "sg-q"))
	expectCode(t, "six", "InvalidConfigurationRequest", set(with, "sg-1", "sg-2", "sg-3", "sg-4", "sg-5", "sg-6"))
	expectCode(t, "others", "", set(with, "sg-2", "sg-3"))
	if got := r.api.GroupUsers("sg-1"); got != nil {
		t.Errorf("sg-1 still used by %v", got)
	}
	if _, err := r.CreateLoadBalancer(t.Context(), &v2.CreateLoadBalancerInput{Name: aws.String("empty"), Type: types.LoadBalancerTypeEnumNetwork,
		Subnets: []string{"subnet-a"}, SecurityGroups: []string{}}); err != nil {
		t.Errorf("empty list of groups: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	r := newRig(t, elbv2.Options{})
	mapping := func(id string, change func(*types.SubnetMapping)) types.SubnetMapping {
		m := types.SubnetMapping{SubnetId: aws.String(id)}
		change(&m)
		return m
	}
	eip := func(id string) func(*types.SubnetMapping) {
		return func(m *types.SubnetMapping) { m.AllocationId = aws.String(id) }
	}
	create := func(name string, scheme types.LoadBalancerSchemeEnum, ms ...types.SubnetMapping) (*v2.CreateLoadBalancerOutput, error) {
		return r.CreateLoadBalancer(t.Context(), &v2.CreateLoadBalancerInput{Name: aws.String(name), Type: types.LoadBalancerTypeEnumNetwork, Scheme: scheme, SubnetMappings: ms})
	}
	out, err := create("a", "internet-facing", mapping("subnet-a", eip("eipalloc-1")))
	if err != nil {
		t.Fatal(err)
	}
	addr := out.LoadBalancers[0].AvailabilityZones[0].LoadBalancerAddresses[0]
	if aws.ToString(addr.IpAddress) != "203.0.113.1" || aws.ToString(addr.AllocationId) != "eipalloc-1" {
		t.Errorf("address %+v", addr)
	}
	if diff := cmp.Diff([]string{"load balancer a"}, r.api.AddressUsers("eipalloc-1")); diff != "" {
		t.Errorf("users of the address (-want +got)\n%s", diff)
	}
	_, err = create("b", "internet-facing", mapping("subnet-a", eip("eipalloc-1")))
	expectCode(t, "address of another", "ResourceInUse", err)
	_, err = create("b", "internet-facing", mapping("subnet-a", eip("eipalloc-3")))
	expectCode(t, "taken address", "ResourceInUse", err)
	_, err = create("b", "internet-facing", mapping("subnet-a", eip("eipalloc-9")))
	expectCode(t, "missing address", "AllocationIdNotFound", err)
	_, err = create("b", "internal", mapping("subnet-a", eip("eipalloc-2")))
	expectCode(t, "internal", "InvalidConfigurationRequest", err)
	private := func(ip string) func(*types.SubnetMapping) {
		return func(m *types.SubnetMapping) { m.PrivateIPv4Address = aws.String(ip) }
	}
	_, err = create("b", "internal", mapping("subnet-a", private("10.0.9.1")))
	expectCode(t, "outside the subnet", "InvalidConfigurationRequest", err)
	_, err = create("b", "internet-facing", mapping("subnet-a", private("10.0.0.9")))
	expectCode(t, "private on the internet", "InvalidConfigurationRequest", err)
	_, err = create("b", "internal", mapping("subnet-a", private("10.0.0.9")))
	expectCode(t, "private", "", err)
}

func TestTLSListener(t *testing.T) {
	r := newRig(t, elbv2.Options{Options: lbkit.Options{Certificates: []string{"arn:aws:acm:us-east-1:000000000000:certificate/1", "arn:aws:acm:us-east-1:000000000000:certificate/2"}}})
	one, two := "arn:aws:acm:us-east-1:000000000000:certificate/1", "arn:aws:acm:us-east-1:000000000000:certificate/2"
	lb, tg := r.nlb("web"), r.group("tg", types.ProtocolEnumTcp)
	in := &v2.CreateListenerInput{LoadBalancerArn: lb.LoadBalancerArn, Port: aws.Int32(443), Protocol: types.ProtocolEnumTls,
		DefaultActions: []types.Action{{Type: types.ActionTypeEnumForward, TargetGroupArn: tg.TargetGroupArn}}}
	_, err := r.CreateListener(t.Context(), in)
	expectCode(t, "no certificate", "ValidationError", err)
	in.Certificates = []types.Certificate{{CertificateArn: aws.String("arn:aws:acm:us-east-1:000000000000:certificate/9")}}
	_, err = r.CreateListener(t.Context(), in)
	expectCode(t, "unknown certificate", "CertificateNotFound", err)
	in.Certificates[0].CertificateArn = &one
	in.SslPolicy = aws.String("x")
	_, err = r.CreateListener(t.Context(), in)
	expectCode(t, "unknown policy", "SSLPolicyNotFound", err)
	in.SslPolicy = nil
	in.AlpnPolicy = []string{"x"}
	_, err = r.CreateListener(t.Context(), in)
	expectCode(t, "unknown ALPN", "ALPNPolicyNotFound", err)
	in.AlpnPolicy = []string{"None"}
	out, err := r.CreateListener(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	l := out.Listeners[0]
	if aws.ToString(l.SslPolicy) != "ELBSecurityPolicy-2016-08" {
		t.Errorf("policy %q", aws.ToString(l.SslPolicy))
	}
	for _, arn := range []string{one, two} {
		if _, err := r.AddListenerCertificates(t.Context(), &v2.AddListenerCertificatesInput{ListenerArn: l.ListenerArn, Certificates: []types.Certificate{{CertificateArn: aws.String(arn)}}}); err != nil {
			t.Fatal(err)
		}
	}
	certs, err := r.DescribeListenerCertificates(t.Context(), &v2.DescribeListenerCertificatesInput{ListenerArn: l.ListenerArn})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range certs.Certificates {
		got = append(got, (*c.CertificateArn)[len(*c.CertificateArn)-1:]+map[bool]string{true: " default"}[*c.IsDefault])
	}
	if diff := cmp.Diff([]string{"1 default", "1", "2"}, got); diff != "" {
		t.Errorf("certificates (-want +got)\n%s", diff)
	}
	mod, err := r.ModifyListener(t.Context(), &v2.ModifyListenerInput{ListenerArn: l.ListenerArn, Protocol: types.ProtocolEnumTcp})
	if err != nil {
		t.Fatal(err)
	}
	if m := mod.Listeners[0]; m.SslPolicy != nil || len(m.Certificates) != 0 || len(m.AlpnPolicy) != 0 {
		t.Errorf("TCP keeps TLS settings: %+v", m)
	}
}

package elbv2_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit/lbtest"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
)

const (
	newNLB  = "CreateLoadBalancer Type=network Name=x"
	subnetA = " Subnets.member.1=subnet-a"
	newTG   = "CreateTargetGroup Name=x VpcId=vpc-1"
	tcp     = " Protocol=TCP Port=80"
	forward = " DefaultActions.member.1.Type=forward DefaultActions.member.1.TargetGroupArn="
)

// setupCalls returns the calls that create a network load balancer (NLB), target groups
// of each protocol (TG-TCP, ...) and a listener (LIS on port 80); their names in
// capitals stand for the ARNs in the calls below.
func setupCalls() []string {
	return []string{
		"NLB CreateLoadBalancer Type=network Name=web Subnets.member.1=subnet-a Subnets.member.2=subnet-b SecurityGroups.member.1=sg-1",
		"TG-TCP CreateTargetGroup Name=tcp VpcId=vpc-1 Protocol=TCP Port=80",
		"TG-UDP CreateTargetGroup Name=udp VpcId=vpc-1 Protocol=UDP Port=80",
		"TG-BOTH CreateTargetGroup Name=both VpcId=vpc-1 Protocol=TCP_UDP Port=80",
		"TG-IP CreateTargetGroup Name=ip VpcId=vpc-1 Protocol=TCP Port=80 TargetType=ip",
		"TG-X CreateTargetGroup Name=x2 VpcId=vpc-2 Protocol=TCP Port=80",
		"LIS CreateListener LoadBalancerArn=NLB Protocol=TCP Port=80" + forward + "TG-TCP",
	}
}

var arnOf = map[string]*regexp.Regexp{
	"CreateLoadBalancer": regexp.MustCompile(`<LoadBalancerArn>([^<]+)`),
	"CreateTargetGroup":  regexp.MustCompile(`<TargetGroupArn>([^<]+)`),
	"CreateListener":     regexp.MustCompile(`<ListenerArn>([^<]+)`),
}

func TestCodes(t *testing.T) {
	for _, tc := range []struct{ name, call, want string }{
		{"create", newNLB + subnetA, ""},
		{"no name", "CreateLoadBalancer Type=network" + subnetA, "ValidationError"},
		{"underscore", "CreateLoadBalancer Type=network Name=a_b" + subnetA, "ValidationError"},
		{"hyphen last", "CreateLoadBalancer Type=network Name=a-" + subnetA, "ValidationError"},
		{"internal-", "CreateLoadBalancer Type=network Name=internal-a" + subnetA, "ValidationError"},
		{"33 characters", "CreateLoadBalancer Type=network Name=" + strings.Repeat("a", 33) + subnetA, "ValidationError"},
		{"strange type", "CreateLoadBalancer Type=classic Name=a" + subnetA, "ValidationError"},
		{"application load balancer", "CreateLoadBalancer Name=a" + subnetA, "OperationNotPermitted"},
		{"HTTP", "CreateListener LoadBalancerArn=NLB Protocol=HTTP Port=81" + forward + "TG-TCP", "ValidationError"},
		{"missing policy", "CreateListener LoadBalancerArn=NLB Protocol=TLS Port=81 Certificates.member.1.CertificateArn=arn:aws:acm:x:1:certificate/1 SslPolicy=x" + forward + "TG-TCP", "SSLPolicyNotFound"},
		{"missing certificate", "CreateListener LoadBalancerArn=NLB Protocol=TLS Port=81 Certificates.member.1.CertificateArn=arn:aws:acm:x:1:certificate/2" + forward + "TG-TCP", "CertificateNotFound"},
		{"TLS", "CreateListener LoadBalancerArn=NLB Protocol=TLS Port=81 Certificates.member.1.CertificateArn=arn:aws:acm:x:1:certificate/1 SslPolicy=ELBSecurityPolicy-TLS13-1-2-2021-06" + forward + "TG-TCP", ""},
		{"capacity", "ModifyCapacityReservation LoadBalancerArn=NLB MinimumLoadBalancerCapacity.CapacityUnits=100", ""},
		{"no capacity", "ModifyCapacityReservation LoadBalancerArn=NLB", "ValidationError"},
		{"strange scheme", newNLB + subnetA + " Scheme=x", "ValidationError"},
		{"no subnet", newNLB, "ValidationError"},
		{"missing subnet", newNLB + " Subnets.member.1=subnet-q", "SubnetNotFound"},
		{"full subnet", newNLB + " Subnets.member.1=subnet-full", "InvalidSubnet"},
		{"two subnets of a zone", newNLB + subnetA + " Subnets.member.2=subnet-a2", "InvalidConfigurationRequest"},
		{"two VPCs", newNLB + subnetA + " Subnets.member.2=subnet-x", "InvalidConfigurationRequest"},
		{"subnets and mappings", newNLB + subnetA + " SubnetMappings.member.1.SubnetId=subnet-b", "ValidationError"},
		{"dualstack", newNLB + subnetA + " IpAddressType=dualstack", ""},
		{"dualstack without IPv6", newNLB + " Subnets.member.1=subnet-4 IpAddressType=dualstack", "InvalidSubnet"},
		{"missing group", newNLB + subnetA + " SecurityGroups.member.1=sg-q", "InvalidSecurityGroup"},
		{"foreign group", newNLB + subnetA + " SecurityGroups.member.1=sg-x", "InvalidConfigurationRequest"},
		{"repeated tags", newNLB + subnetA + " Tags.member.1.Key=a Tags.member.2.Key=a", "DuplicateTagKeys"},
		{"reserved tag", newNLB + subnetA + " Tags.member.1.Key=aws:a", "ValidationError"},
		{"empty tag key", newNLB + subnetA + " Tags.member.1.Key=", "ValidationError"},
		{"names and ARNs", "DescribeLoadBalancers Names.member.1=web LoadBalancerArns.member.1=NLB", "ValidationError"},
		{"missing name", "DescribeLoadBalancers Names.member.1=q", "LoadBalancerNotFound"},
		{"no ARN", "DescribeLoadBalancers LoadBalancerArns.member.1=q", "ValidationError"},
		{"missing ARN", "DescribeLoadBalancers LoadBalancerArns.member.1=NLBx", "LoadBalancerNotFound"},
		{"page", "DescribeLoadBalancers PageSize=0", "ValidationError"},
		{"unknown attribute", "ModifyLoadBalancerAttributes LoadBalancerArn=NLB Attributes.member.1.Key=x Attributes.member.1.Value=y", "ValidationError"},
		{"attribute value", "ModifyLoadBalancerAttributes LoadBalancerArn=NLB Attributes.member.1.Key=deletion_protection.enabled Attributes.member.1.Value=yes", "ValidationError"},
		{"logs without a bucket", "ModifyLoadBalancerAttributes LoadBalancerArn=NLB Attributes.member.1.Key=access_logs.s3.enabled Attributes.member.1.Value=true", "InvalidConfigurationRequest"},
		{"no attributes", "ModifyLoadBalancerAttributes LoadBalancerArn=NLB Attributes=", "ValidationError"},
		{"group", newTG + tcp, ""},
		{"group without a port", newTG + " Protocol=TCP", "ValidationError"},
		{"group without a protocol", newTG + " Port=80", "ValidationError"},
		{"group without a VPC", "CreateTargetGroup Name=x" + tcp, "ValidationError"},
		{"group in a missing VPC", "CreateTargetGroup Name=x VpcId=vpc-9" + tcp, "ValidationError"},
		{"SCTP", newTG + " Port=80 Protocol=SCTP", "ValidationError"},
		{"interval", newTG + tcp + " HealthCheckIntervalSeconds=4", "ValidationError"},
		{"interval equal to the timeout, TCP", newTG + tcp + " HealthCheckIntervalSeconds=10 HealthCheckTimeoutSeconds=10", ""},
		{"timeout above the interval", newTG + tcp + " HealthCheckIntervalSeconds=10 HealthCheckTimeoutSeconds=11", "ValidationError"},
		{"short interval, default timeout", newTG + tcp + " HealthCheckIntervalSeconds=5", ""},
		{"threshold", newTG + tcp + " HealthyThresholdCount=11", "ValidationError"},
		{"UDP health", newTG + tcp + " HealthCheckProtocol=UDP", "ValidationError"},
		{"path of TCP health", newTG + tcp + " HealthCheckPath=/", "ValidationError"},
		{"empty path", newTG + tcp + " HealthCheckProtocol=HTTP HealthCheckPath=", "ValidationError"},
		{"matcher", newTG + tcp + " HealthCheckProtocol=HTTP Matcher.HttpCode=200-600", "ValidationError"},
		{"health off", newTG + tcp + " HealthCheckEnabled=false", "ValidationError"},
		{"unknown group attribute", "ModifyTargetGroupAttributes TargetGroupArn=TG-TCP Attributes.member.1.Key=x Attributes.member.1.Value=y", "ValidationError"},
		{"delay", "ModifyTargetGroupAttributes TargetGroupArn=TG-TCP Attributes.member.1.Key=deregistration_delay.timeout_seconds Attributes.member.1.Value=3601", "ValidationError"},
		{"client address of UDP", "ModifyTargetGroupAttributes TargetGroupArn=TG-UDP Attributes.member.1.Key=preserve_client_ip.enabled Attributes.member.1.Value=false", "InvalidConfigurationRequest"},
		{"proxy protocol", "ModifyTargetGroupAttributes TargetGroupArn=TG-TCP Attributes.member.1.Key=proxy_protocol_v2.enabled Attributes.member.1.Value=true", ""},
		{"missing group arn", "DescribeTargetGroups TargetGroupArns.member.1=TG-TCPx", "TargetGroupNotFound"},
		{"groups of a missing load balancer", "DescribeTargetGroups LoadBalancerArn=NLBx", "LoadBalancerNotFound"},
		{"register", "RegisterTargets TargetGroupArn=TG-TCP Targets.member.1.Id=i-0a1", ""},
		{"register a stopped instance", "RegisterTargets TargetGroupArn=TG-TCP Targets.member.1.Id=i-0d4", "InvalidTarget"},
		{"register a missing instance", "RegisterTargets TargetGroupArn=TG-TCP Targets.member.1.Id=i-0ff", "InvalidTarget"},
		{"register a foreign instance", "RegisterTargets TargetGroupArn=TG-TCP Targets.member.1.Id=i-0e5", "InvalidTarget"},
		{"register an address as instance", "RegisterTargets TargetGroupArn=TG-TCP Targets.member.1.Id=10.0.0.1", "ValidationError"},
		{"register an instance as address", "RegisterTargets TargetGroupArn=TG-IP Targets.member.1.Id=i-0a1", "ValidationError"},
		{"register an address", "RegisterTargets TargetGroupArn=TG-IP Targets.member.1.Id=10.0.0.1", ""},
		{"register outside the VPC", "RegisterTargets TargetGroupArn=TG-IP Targets.member.1.Id=10.9.0.1", "ValidationError"},
		{"register outside the VPC, any zone", "RegisterTargets TargetGroupArn=TG-IP Targets.member.1.Id=10.9.0.1 Targets.member.1.AvailabilityZone=all", ""},
		{"register a public address", "RegisterTargets TargetGroupArn=TG-IP Targets.member.1.Id=8.8.8.8", "InvalidTarget"},
		{"deregister what is not there", "DeregisterTargets TargetGroupArn=TG-TCP Targets.member.1.Id=i-0a1", ""},
		{"TCP to UDP", "CreateListener LoadBalancerArn=NLB Protocol=TCP Port=81" + forward + "TG-UDP", "IncompatibleProtocols"},
		{"TCP to TCP_UDP", "CreateListener LoadBalancerArn=NLB Protocol=TCP Port=81" + forward + "TG-BOTH", ""},
		{"TCP_UDP to TCP", "CreateListener LoadBalancerArn=NLB Protocol=TCP_UDP Port=81" + forward + "TG-TCP", "IncompatibleProtocols"},
		{"UDP on a used port", "CreateListener LoadBalancerArn=NLB Protocol=UDP Port=80" + forward + "TG-UDP", "DuplicateListener"},
		{"group of another VPC", "CreateListener LoadBalancerArn=NLB Protocol=TCP Port=81" + forward + "TG-X", "InvalidConfigurationRequest"},
		{"missing group in an action", "CreateListener LoadBalancerArn=NLB Protocol=TCP Port=81" + forward + "TG-TCPx", "TargetGroupNotFound"},
		{"redirect on an NLB", "CreateListener LoadBalancerArn=NLB Protocol=TCP Port=81 DefaultActions.member.1.Type=redirect", "InvalidLoadBalancerAction"},
		{"no actions", "CreateListener LoadBalancerArn=NLB Protocol=TCP Port=81", "ValidationError"},
		{"no port", "CreateListener LoadBalancerArn=NLB Protocol=TCP" + forward + "TG-TCP", "ValidationError"},
		{"policy on TCP", "CreateListener LoadBalancerArn=NLB Protocol=TCP Port=81 SslPolicy=ELBSecurityPolicy-2016-08" + forward + "TG-TCP", "InvalidConfigurationRequest"},
		{"move a listener", "ModifyListener ListenerArn=LIS Port=82", ""},
		{"listener to an incompatible protocol", "ModifyListener ListenerArn=LIS Protocol=UDP", "IncompatibleProtocols"},
		{"listeners of nothing", "DescribeListeners", "ValidationError"},
		{"missing listener", "DeleteListener ListenerArn=LISx", "ListenerNotFound"},
		{"idle timeout", "ModifyListenerAttributes ListenerArn=LIS Attributes.member.1.Key=tcp.idle_timeout.seconds Attributes.member.1.Value=59", "ValidationError"},
		{"tags of nothing", "DescribeTags ResourceArns.member.1=arn:aws:ec2:x", "ValidationError"},
		{"tags of a missing rule", "DescribeTags ResourceArns.member.1=arn:aws:elasticloadbalancing:x:1:listener-rule/net/a/b/c/d", "RuleNotFound"},
		{"tags of a missing group", "AddTags ResourceArns.member.1=TG-TCPx Tags.member.1.Key=a", "TargetGroupNotFound"},
		{"subnets", "SetSubnets LoadBalancerArn=NLB Subnets.member.1=subnet-a Subnets.member.2=subnet-c", ""},
		{"no subnets", "SetSubnets LoadBalancerArn=NLB", "ValidationError"},
		{"source NAT on ipv4", "SetSubnets LoadBalancerArn=NLB EnablePrefixForIpv6SourceNat=on Subnets.member.1=subnet-a", "InvalidConfigurationRequest"},
		{"address type", "SetIpAddressType LoadBalancerArn=NLB IpAddressType=dualstack", ""},
		{"strange address type", "SetIpAddressType LoadBalancerArn=NLB IpAddressType=ipv6", "ValidationError"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := elbv2.New(lbtest.NewWorld(), elbv2.Options{Options: lbkit.Options{Certificates: []string{"arn:aws:acm:x:1:certificate/1"}}, Limits: elbv2.Limits{NetworkLoadBalancers: 2}}).Service()
			var pairs []string
			arns := func(call string) string { return strings.NewReplacer(pairs...).Replace(call) }
			for _, line := range setupCalls() {
				name, call, _ := strings.Cut(line, " ")
				got, body := lbtest.Call(s, arns(call), start)
				if got != "" {
					t.Fatalf("setup %s: %s", name, body)
				}
				action, _, _ := strings.Cut(call, " ")
				pairs = append(pairs, "="+name, "="+arnOf[action].FindStringSubmatch(body)[1])
			}
			if got, body := lbtest.Call(s, arns(tc.call), start); got != tc.want {
				t.Errorf("want code %q, got %q: %s", tc.want, got, body)
			}
		})
	}
}

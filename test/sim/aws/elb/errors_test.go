package elb_test

import (
	"testing"

	"github.com/berth-lb/berth/test/sim/aws/elb"
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit/lbtest"
)

const (
	tcp80   = " Listeners.member.1.Protocol=TCP Listeners.member.1.LoadBalancerPort=80 Listeners.member.1.InstancePort=8080"
	tls443  = " Listeners.member.1.Protocol=SSL Listeners.member.1.LoadBalancerPort=443 Listeners.member.1.InstancePort=8443 Listeners.member.1.SSLCertificateId=arn:aws:acm:x:1:certificate/"
	subnetA = " Subnets.member.1=subnet-a"
	newLB   = "CreateLoadBalancer LoadBalancerName=x"
	web     = " LoadBalancerName=web"
)

// TestCodes runs single calls against one load balancer "web" (tcp 80 to 8080, subnet-a, sg-1).
func TestCodes(t *testing.T) {
	for _, tc := range []struct{ name, call, want string }{
		{"create", newLB + tcp80 + subnetA, ""},
		{"create nowhere", newLB + tcp80, "ValidationError"},
		{"create without listeners", newLB + subnetA, "ValidationError"},
		{"create with a bad name", "CreateLoadBalancer LoadBalancerName=a_b" + tcp80 + subnetA, "ValidationError"},
		{"create with a long name", "CreateLoadBalancer LoadBalancerName=a23456789012345678901234567890123" + tcp80 + subnetA, "ValidationError"},
		{"create without a name", "CreateLoadBalancer" + tcp80 + subnetA, "ValidationError"},
		{"create with a bad scheme", newLB + tcp80 + subnetA + " Scheme=x", "InvalidScheme"},
		{"create in a missing subnet", newLB + tcp80 + " Subnets.member.1=subnet-q", "SubnetNotFound"},
		{"create in a full subnet", newLB + tcp80 + " Subnets.member.1=subnet-full", "InvalidSubnet"},
		{"create twice in a zone", newLB + tcp80 + subnetA + " Subnets.member.2=subnet-a2", "InvalidConfigurationRequest"},
		{"create with a missing group", newLB + tcp80 + subnetA + " SecurityGroups.member.1=sg-q", "InvalidSecurityGroup"},
		{"create with a foreign group", newLB + tcp80 + subnetA + " SecurityGroups.member.1=sg-x", "InvalidConfigurationRequest"},
		{"create with repeated tags", newLB + tcp80 + subnetA + " Tags.member.1.Key=a Tags.member.2.Key=a", "DuplicateTagKeys"},
		{"create with a reserved tag", newLB + tcp80 + subnetA + " Tags.member.1.Key=aws:a", "ValidationError"},
		{"create again, equal", "CreateLoadBalancer LoadBalancerName=web" + tcp80 + subnetA + " SecurityGroups.member.1=sg-1", ""},
		{"create again, different", "CreateLoadBalancer LoadBalancerName=web" + tcp80 + subnetA + " SecurityGroups.member.1=sg-2", "DuplicateLoadBalancerName"},
		{"protocol", newLB + subnetA + " Listeners.member.1.Protocol=UDP Listeners.member.1.LoadBalancerPort=80 Listeners.member.1.InstancePort=8080", "UnsupportedProtocol"},
		{"port", newLB + subnetA + " Listeners.member.1.Protocol=TCP Listeners.member.1.LoadBalancerPort=80 Listeners.member.1.InstancePort=65536", "ValidationError"},
		{"layers", newLB + tcp80 + " Listeners.member.1.InstanceProtocol=HTTP" + subnetA, "ValidationError"},
		{"no certificate", newLB + subnetA + " Listeners.member.1.Protocol=SSL Listeners.member.1.LoadBalancerPort=80 Listeners.member.1.InstancePort=8080", "ValidationError"},
		{"bad certificate", newLB + subnetA + " Listeners.member.1.Protocol=SSL Listeners.member.1.LoadBalancerPort=80 Listeners.member.1.InstancePort=8080 Listeners.member.1.SSLCertificateId=x", "CertificateNotFound"},
		{"same listener", "CreateLoadBalancerListeners" + web + tcp80, ""},
		{"other listener on the port", "CreateLoadBalancerListeners" + web + " Listeners.member.1.Protocol=TCP Listeners.member.1.LoadBalancerPort=80 Listeners.member.1.InstancePort=81", "DuplicateListener"},
		{"delete a listener that is not there", "DeleteLoadBalancerListeners" + web + " LoadBalancerPorts.member.1=81", ""},
		{"describe a missing one", "DescribeLoadBalancers LoadBalancerNames.member.1=q", "LoadBalancerNotFound"},
		{"describe with a bad page", "DescribeLoadBalancers PageSize=401", "ValidationError"},
		{"describe with a bad marker", "DescribeLoadBalancers Marker=q", "ValidationError"},
		{"health target", "ConfigureHealthCheck" + web + " HealthCheck.Target=UDP:1 HealthCheck.Interval=10 HealthCheck.Timeout=5 HealthCheck.UnhealthyThreshold=2 HealthCheck.HealthyThreshold=2", "ValidationError"},
		{"health without a path", "ConfigureHealthCheck" + web + " HealthCheck.Target=HTTP:1 HealthCheck.Interval=10 HealthCheck.Timeout=5 HealthCheck.UnhealthyThreshold=2 HealthCheck.HealthyThreshold=2", "ValidationError"},
		{"health threshold", "ConfigureHealthCheck" + web + " HealthCheck.Target=HTTP:1/ HealthCheck.Interval=10 HealthCheck.Timeout=5 HealthCheck.UnhealthyThreshold=1 HealthCheck.HealthyThreshold=2", "ValidationError"},
		{"health timeout", "ConfigureHealthCheck" + web + " HealthCheck.Target=HTTP:1/ HealthCheck.Interval=10 HealthCheck.Timeout=10 HealthCheck.UnhealthyThreshold=2 HealthCheck.HealthyThreshold=2", "ValidationError"},
		{"health", "ConfigureHealthCheck" + web + " HealthCheck.Target=HTTP:1/ HealthCheck.Interval=10 HealthCheck.Timeout=5 HealthCheck.UnhealthyThreshold=2 HealthCheck.HealthyThreshold=2", ""},
		{"register a missing instance", "RegisterInstancesWithLoadBalancer" + web + " Instances.member.1.InstanceId=i-0a1 Instances.member.2.InstanceId=i-00000000", "InvalidInstance"},
		{"register a foreign instance", "RegisterInstancesWithLoadBalancer" + web + " Instances.member.1.InstanceId=i-0e5", "InvalidInstance"},
		{"deregister what is not registered", "DeregisterInstancesFromLoadBalancer" + web + " Instances.member.1.InstanceId=i-0a1", ""},
		{"deregister a missing instance", "DeregisterInstancesFromLoadBalancer" + web + " Instances.member.1.InstanceId=i-00000000", "InvalidInstance"},
		{"policy type", "CreateLoadBalancerPolicy" + web + " PolicyName=p PolicyTypeName=x", "PolicyTypeNotFound"},
		{"policy without its attribute", "CreateLoadBalancerPolicy" + web + " PolicyName=p PolicyTypeName=ProxyProtocolPolicyType", "InvalidConfigurationRequest"},
		{"policy with a strange attribute", "CreateLoadBalancerPolicy" + web + " PolicyName=p PolicyTypeName=ProxyProtocolPolicyType PolicyAttributes.member.1.AttributeName=x", "InvalidConfigurationRequest"},
		{"describe a missing policy", "DescribeLoadBalancerPolicies" + web + " PolicyNames.member.1=p", "PolicyNotFound"},
		{"describe predefined policies", "DescribeLoadBalancerPolicies PolicyNames.member.1=ELBSecurityPolicy-2016-08", ""},
		{"set a missing policy", "SetLoadBalancerPoliciesForBackendServer" + web + " InstancePort=8080 PolicyNames.member.1=p", "PolicyNotFound"},
		{"clear policies of a strange port", "SetLoadBalancerPoliciesForBackendServer" + web + " InstancePort=1 PolicyNames=", ""},
		{"set on a missing listener", "SetLoadBalancerPoliciesOfListener" + web + " LoadBalancerPort=81 PolicyNames=", "ListenerNotFound"},
		{"negotiation on TCP", "SetLoadBalancerPoliciesOfListener" + web + " LoadBalancerPort=80 PolicyNames.member.1=ELBSecurityPolicy-2016-08", "InvalidConfigurationRequest"},
		{"detach the last subnet", "DetachLoadBalancerFromSubnets" + web + subnetA, "InvalidConfigurationRequest"},
		{"attach a second subnet of a zone", "AttachLoadBalancerToSubnets" + web + " Subnets.member.1=subnet-a2", "InvalidConfigurationRequest"},
		{"attach an attached subnet", "AttachLoadBalancerToSubnets" + web + subnetA, ""},
		{"attach", "AttachLoadBalancerToSubnets" + web + " Subnets.member.1=subnet-b", ""},
		{"missing group", newLB + tcp80 + subnetA + " SecurityGroups.member.1=sg-q", "InvalidSecurityGroup"},
		{"apply a missing group", "ApplySecurityGroupsToLoadBalancer" + web + " SecurityGroups.member.1=sg-1 SecurityGroups.member.2=sg-q", "InvalidSecurityGroup"},
		{"missing certificate", "CreateLoadBalancerListeners" + web + tls443 + "2", "CertificateNotFound"},
		{"certificate", "CreateLoadBalancerListeners" + web + tls443 + "1", ""},
		{"no groups", "ApplySecurityGroupsToLoadBalancer" + web + " SecurityGroups=", "InvalidConfigurationRequest"},
		{"idle timeout", "ModifyLoadBalancerAttributes" + web + " LoadBalancerAttributes.ConnectionSettings.IdleTimeout=4001", "ValidationError"},
		{"logs without a bucket", "ModifyLoadBalancerAttributes" + web + " LoadBalancerAttributes.AccessLog.Enabled=true", "InvalidConfigurationRequest"},
		{"log interval", "ModifyLoadBalancerAttributes" + web + " LoadBalancerAttributes.AccessLog.Enabled=true LoadBalancerAttributes.AccessLog.S3BucketName=b LoadBalancerAttributes.AccessLog.EmitInterval=6", "InvalidConfigurationRequest"},
		{"certificate of a plain listener", "SetLoadBalancerListenerSSLCertificate" + web + " LoadBalancerPort=80 SSLCertificateId=arn:aws:iam::1:server-certificate/a", "InvalidConfigurationRequest"},
		{"tags of a missing one", "DescribeTags LoadBalancerNames.member.1=q", "LoadBalancerNotFound"},
		{"delete a missing one", "DeleteLoadBalancer LoadBalancerName=q", ""},
		{"anything of a missing one", "DescribeLoadBalancerAttributes LoadBalancerName=q", "LoadBalancerNotFound"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := elb.New(lbtest.NewWorld(), elb.Options{Options: lbkit.Options{Certificates: []string{"arn:aws:acm:x:1:certificate/1"}}}).Service()
			if got, body := lbtest.Call(s, "CreateLoadBalancer LoadBalancerName=web"+tcp80+subnetA+" SecurityGroups.member.1=sg-1", start); got != "" {
				t.Fatalf("setup: %s", body)
			}
			if got, body := lbtest.Call(s, tc.call, start); got != tc.want {
				t.Errorf("want code %q, got %q: %s", tc.want, got, body)
			}
		})
	}
}

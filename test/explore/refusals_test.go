package explore

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/sim"
)

// refusal is an answer of a cloud to one call, in its own words. An empty operation means
// every call.
type refusal struct {
	cloud, operation string
	status           int
	code, text       string
}

// TestRefusals: an hour after a cloud began to refuse a call, the condition of the
// Service leads to the cause and the next step. The golden files are what users read.
func TestRefusals(t *testing.T) {
	all := listRefusals()
	if n := len(all) + len(failuresOfCloud()) + len(failuresOfAccount()); n < 60 {
		t.Errorf("%d refusals are too few", n)
	}
	told := map[string][]string{}
	for _, r := range all {
		perform(t, clouds()[r.cloud].fresh, func(s *stage) {
			name := strings.Fields(r.cloud)[0]
			told[name] = append(told[name], s.conditionAfter(clouds()[r.cloud].shape, r))
		})
	}
	for name, texts := range told {
		golden.Check(t, "testdata/refusals-"+name+".golden", strings.Join(texts, ""))
	}
}

// conditionAfter creates a Service while the cloud refuses a call, and returns its condition.
func (s *stage) conditionAfter(shape Shape, r refusal) string {
	s.start()
	time.Sleep(time.Minute)
	f := sim.Fault{Kind: sim.FaultError, Operation: r.operation, Status: r.status, Code: r.code, Message: r.text}
	if _, err := s.subject.Control.Faults.Add(f); err != nil {
		s.t.Fatal(err)
	}
	Create("web", shape).Do(s.world)
	time.Sleep(time.Hour)
	c := condition(s.get("web"), status.TypeProgrammed)
	if c.Status == "True" || c.Message == "" {
		s.t.Errorf("%s %s %s: the condition reports nothing: %v", r.cloud, r.operation, r.code, c)
	}
	text := regexp.MustCompile(`-[0-9a-f]{16}\.elb`).ReplaceAllString(c.Message, "-....elb")
	return "# " + strings.TrimSpace(r.cloud+" "+r.operation) + " " + r.code + "\n" + string(c.Status) + " " + c.Reason + ": " + text + "\n"
}

// listRefusals returns answers that the documentation of the clouds, or their SDKs, list. Sources:
// ELB, ELBv2 and EC2 API references (Errors); Azure Resource Manager, common deployment
// errors; Compute Engine API, resource errors and quotas; Octavia and Neutron API
// references, openstack/octavia:octavia/common/exceptions.py; OCI API errors.
func listRefusals() []refusal {
	var out []refusal
	for _, list := range [][]refusal{refusalsOfAWS(), refusalsOfAzure(), refusalsOfGoogle(), refusalsOfOpenStack(), refusalsOfOracle()} {
		out = append(out, list...)
	}
	return out
}

func refusalsOfAWS() []refusal {
	const nlb, classic = "aws nlb", "aws classic"
	return []refusal{
		{nlb, "CreateTargetGroup", http.StatusBadRequest, "TooManyTargetGroups", "You've reached the limit on the number of target groups for your AWS account"},
		{nlb, "RegisterTargets", http.StatusBadRequest, "TooManyTargets", "You've reached the limit on the number of targets"},
		{nlb, "CreateListener", http.StatusBadRequest, "TooManyListeners", "You've reached the limit on the number of listeners per load balancer"},
		{nlb, "CreateLoadBalancer", http.StatusBadRequest, "InvalidSubnet", "Not enough IP space available in subnet-0a1b2c3d4e5f60718. ELB requires at least 8 free IP addresses in each subnet."},
		{nlb, "CreateLoadBalancer", http.StatusBadRequest, "OperationNotPermitted", "This AWS account currently does not support creating load balancers. For more information, please contact AWS Support."},
		{nlb, "CreateLoadBalancer", http.StatusBadRequest, "DuplicateLoadBalancerName", "A load balancer with the same name 'web' exists, but with different settings"},
		{nlb, "CreateLoadBalancer", http.StatusBadRequest, "AvailabilityZoneNotSupported", "The specified Availability Zone is not supported"},
		{nlb, "CreateLoadBalancer", http.StatusBadRequest, "Throttling", "Rate exceeded"},
		{nlb, "CreateLoadBalancer", http.StatusInternalServerError, "InternalFailure", "The request processing has failed because of an unknown error, exception or failure."},
		{nlb, "CreateLoadBalancer", http.StatusServiceUnavailable, "ServiceUnavailable", "The request has failed due to a temporary failure of the server."},
		{classic, "CreateSecurityGroup", http.StatusBadRequest, "SecurityGroupLimitExceeded", "The maximum number of security groups for VPC 'vpc-0a1b2c3d' has been reached."},
		{classic, "CreateSecurityGroup", http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation."},
		{classic, "AuthorizeSecurityGroupIngress", http.StatusBadRequest, "RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached."},
		{classic, "CreateLoadBalancer", http.StatusBadRequest, "CertificateNotFound", "Server Certificate not found for the key: arn:aws:iam::123456789012:server-certificate/web"},
		{classic, "", http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials"},
	}
}

func refusalsOfAzure() []refusal {
	const put, ip = "LoadBalancers.CreateOrUpdate", "PublicIPAddresses.CreateOrUpdate"
	return []refusal{
		{"azure", ip, http.StatusBadRequest, "DnsRecordInUse", "DNS record web.westeurope.cloudapp.azure.com is already used by another public IP."},
		{"azure", ip, http.StatusConflict, "AnotherOperationInProgress", "Another operation on this or dependent resource is in progress."},
		{"azure", put, http.StatusTooManyRequests, "TooManyRequests", "The server rejected the request because too many requests have been received for this subscription."},
		{"azure", put, http.StatusForbidden, "LinkedAuthorizationFailed", "The client has permission to perform action 'Microsoft.Network/publicIPAddresses/join/action' on scope '/subscriptions/s/lb', however the linked scope '/subscriptions/s/ip' is not authorized."},
		{"azure", put, http.StatusConflict, "ReadOnlyDisabledSubscription", "The subscription 's' is disabled and therefore marked as read only."},
		{"azure", put, http.StatusBadRequest, "PrivateIPAddressIsAllocated", "IP configuration /frontendIPConfigurations/web is using the private IP address 10.240.0.9 which is already allocated to resource /networkInterfaces/vm."},
		{"azure", put, http.StatusBadRequest, "SubnetIsFull", "Subnet nodes with address prefix 10.240.0.0/24 does not have enough capacity for 1 IP addresses."},
		{"azure", put, http.StatusBadRequest, "LoadBalancerRuleCountLimitReached", "Cannot create more than 250 rules for load balancer kubernetes."},
		{"azure", put, http.StatusNotFound, "ResourceGroupNotFound", "Resource group 'mc_nodes' could not be found."},
		{"azure", put, http.StatusInternalServerError, "InternalServerError", "An error occurred."},
		{"azure", "", http.StatusNotFound, "SubscriptionNotFound", "The subscription 's' could not be found."},
	}
}

func refusalsOfGoogle() []refusal {
	const rule = "forwardingRules.insert"
	return []refusal{
		{"gce netlb", rule, http.StatusBadRequest, "badRequest", "Invalid value for field 'resource.IPAddress': '198.18.0.9'. Specified IP address is in-use and would result in a conflict."},
		{"gce ilb", rule, http.StatusBadRequest, "IP_SPACE_EXHAUSTED", "IP space of 'projects/berth-demo/regions/us-central1/subnetworks/default' is exhausted."},
		{"gce netlb", rule, http.StatusConflict, "alreadyExists", "The resource 'projects/berth-demo/regions/us-central1/forwardingRules/a' already exists"},
		{"gce netlb", rule, http.StatusForbidden, "rateLimitExceeded", "Rate Limit Exceeded"},
		{"gce netlb", rule, http.StatusServiceUnavailable, "backendError", "Backend Error"},
		{"gce netlb", rule, http.StatusBadRequest, "resourceNotReady", "The resource 'projects/berth-demo/regions/us-central1/backendServices/a' is not ready"},
		{"gce netlb", "firewalls.insert", http.StatusForbidden, "quotaExceeded", "Quota 'FIREWALLS' exceeded.  Limit: 100.0 globally."},
		{"gce netlb", "firewalls.insert", http.StatusForbidden, "forbidden", "Required 'compute.firewalls.create' permission for 'projects/berth-demo/global/firewalls/a'"},
		{"gce netlb", "", http.StatusUnauthorized, "authError", "Invalid Credentials"},
		{"gce netlb", "", http.StatusForbidden, "accessNotConfigured", "Compute Engine API has not been used in project berth-demo before or it is disabled."},
	}
}

func refusalsOfOpenStack() []refusal {
	const lb, float = "CreateLoadBalancer", "CreateFloatingIP"
	return []refusal{
		{"openstack", lb, http.StatusForbidden, "", "Quota has been met for resources: Load Balancer"},
		{"openstack", lb, http.StatusNotImplemented, "", "Provider 'ovn' does not support a requested option: flavor"},
		{"openstack", lb, http.StatusTooManyRequests, "", "This request was rate-limited."},
		{"openstack", lb, http.StatusInternalServerError, "", "Internal Server Error"},
		{"openstack", lb, http.StatusConflict, "", "IP address 10.0.0.9 already allocated in subnet nodes"},
		{"openstack", float, http.StatusConflict, "OverQuota", "Quota exceeded for resources: ['floatingip']."},
		{"openstack", float, http.StatusConflict, "IpAddressGenerationFailure", "No more IP addresses available on network public."},
		{"openstack", float, http.StatusNotFound, "ExternalGatewayForFloatingIPNotFound", "External network public is not reachable from subnet nodes. Therefore, cannot associate Port with a Floating IP."},
		{"openstack", "", http.StatusUnauthorized, "", "The request you have made requires authentication."},
	}
}

func refusalsOfOracle() []refusal {
	const lb = "CreateLoadBalancer"
	return []refusal{
		{"oci", lb, http.StatusTooManyRequests, "TooManyRequests", "Too many requests for the tenancy"},
		{"oci", lb, http.StatusConflict, "IncorrectState", "The subnet is in the state TERMINATING"},
		{"oci", lb, http.StatusConflict, "Conflict", "The load balancer has work requests in progress"},
		{"oci", lb, http.StatusBadRequest, "InvalidParameter", "Subnet ocid1.subnet.oc1.iad.aaaaaaaa has no free private addresses"},
		{"oci", lb, http.StatusBadRequest, "QuotaExceeded", "The following compartment quotas were exceeded: lb-flexible-count."},
		{"oci", lb, http.StatusInternalServerError, "InternalServerError", "Internal Server Error"},
		{"oci", lb, http.StatusBadRequest, "RelatedResourceNotAuthorizedOrNotFound", "The subnet is not found, or you are not authorized to access it"},
	}
}

package explore

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/golden"
	"github.com/berth-lb/berth/test/sim"
)

// failing is a Service that has no load balancer, or not the one that it asks for.
type failing struct {
	what   string
	cloud  string
	shape  Shape // of the Service; nil: as the cloud's plain one
	then   Shape // what is changed once it is served; nil: it fails from the beginning
	faults []sim.Fault
	policy plan.StepFilter
	stage  func(*stage) // what is otherwise than usual
}

// TestFailingForHours: two hours after a failure began, when the events of that time have
// expired, the state of a Service and the events of the last hour lead to the remedy. The
// golden file is the output of `kubectl get -o yaml` and `berth status`.
func TestFailingForHours(t *testing.T) {
	told := map[string][]string{}
	for _, f := range listFailures() {
		t.Run(f.cloud+"/"+f.what, func(t *testing.T) {
			c := listClouds()[f.cloud]
			performOn(t, c.fresh, func(s *stage) {
				told[strings.Fields(f.cloud)[0]] = append(told[strings.Fields(f.cloud)[0]], s.fail(c.shape, f))
			})
		})
	}
	for cloud, texts := range told {
		golden.Check(t, "testdata/failing-"+cloud+".golden", strings.Join(texts, "\n"))
	}
	if n := len(listFailures()); n < 20 {
		t.Errorf("%d failing Services are too few", n)
	}
}

// fail lets a Service fail for two hours and returns what can be read then.
func (s *stage) fail(plain Shape, f failing) string {
	if f.policy != nil {
		s.policies = []plan.StepFilter{f.policy}
	}
	shape := plain
	if f.shape != nil {
		shape = func(svc *corev1.Service) {
			if plain != nil {
				plain(svc)
			}
			f.shape(svc)
		}
	}
	if f.stage != nil {
		f.stage(s)
	}
	addFaults := func() {
		for _, fault := range f.faults {
			if _, err := s.subject.Control.Faults.Add(fault); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.start()
	time.Sleep(time.Minute)
	if f.then == nil {
		addFaults()
	}
	Create("web", shape).Do(s.world)
	if f.then != nil {
		time.Sleep(10 * time.Minute)
		addFaults()
		Change("web", "mistake", f.then).Do(s.world)
	}
	time.Sleep(2 * time.Hour)
	return s.standing("web", f)
}

// standing is what can be read of a Service.
func (s *stage) standing(name string, f failing) string {
	svc := s.get(name)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", f.what)
	for _, key := range slices.Sorted(maps.Keys(svc.Annotations)) {
		if key != status.AnnotationApplied {
			fmt.Fprintf(&b, "annotation %s=%q\n", key, svc.Annotations[key])
		}
	}
	address := s.address(name)
	if address == "" {
		address = "<pending>"
	}
	fmt.Fprintf(&b, "address %s\n", address)
	for _, kind := range status.Types() {
		for _, c := range svc.Status.Conditions {
			if c.Type == kind {
				fmt.Fprintf(&b, "condition %s %s %s: %s\n", strings.TrimPrefix(c.Type, status.Prefix), c.Status, c.Reason, c.Message)
			}
		}
	}
	times := map[string]int{}
	for _, e := range s.heed.of(name, time.Now().Add(-time.Hour)) {
		times[e.String()]++
	}
	for _, text := range slices.Sorted(maps.Keys(times)) {
		fmt.Fprintf(&b, "event of the last hour %s\n", text)
	}
	if len(times) == 0 {
		fmt.Fprintln(&b, "no event within the last hour")
	}
	accepted, programmed := findCondition(svc, status.TypeAccepted), findCondition(svc, status.TypeProgrammed)
	if accepted.Message+programmed.Message == "" {
		s.t.Errorf("%s: no condition has a message", f.what)
	}
	// The end of a host name differs from one run to the next.
	return regexp.MustCompile(`-[0-9a-f]{16}\.elb`).ReplaceAllString(b.String(), "-....elb")
}

func findCondition(svc *corev1.Service, kind string) metav1.Condition {
	for _, c := range svc.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

// failForever returns a permanent fault of one operation.
func failForever(operation string, code int, word, text string) sim.Fault {
	return sim.Fault{Kind: sim.FaultError, Operation: operation, Status: code, Code: word, Message: text}
}

func setAnnotation(k, value string) Shape {
	return func(svc *corev1.Service) { metav1.SetMetaDataAnnotation(&svc.ObjectMeta, k, value) }
}

func onlyUDP(svc *corev1.Service) {
	for i := range svc.Spec.Ports {
		svc.Spec.Ports[i].Protocol = corev1.ProtocolUDP
	}
}

func withoutNodes(s *stage) {
	for range len(s.subject.Nodes) {
		NodeLeaves().Do(s.world)
	}
}

// listFailures returns Services that fail for hours, each with another cause.
func listFailures() []failing {
	return slices.Concat(failuresOfSpec(), failuresOfCloud(), failuresOfAccount())
}

// failuresOfAccount are refusals that only the operator or the administrator of the
// cloud account can end. Reads are refused as well where the cloud does so.
func failuresOfAccount() []failing {
	const aws, azure = "service.beta.kubernetes.io/aws-load-balancer-", "service.beta.kubernetes.io/azure-"
	everything := func(status int, code, text string) []sim.Fault {
		return []sim.Fault{{Kind: sim.FaultError, Status: status, Code: code, Message: text}}
	}
	return []failing{
		{what: "expired credentials", cloud: "aws nlb", faults: everything(http.StatusForbidden, "ExpiredToken", "The security token included in the request is expired")},
		{what: "expired credentials and a changed Service", cloud: "aws classic", then: setAnnotation(aws+"connection-idle-timeout", "120"),
			faults: everything(http.StatusForbidden, "ExpiredToken", "The security token included in the request is expired")},
		{what: "expired credentials and a changed Service", cloud: "azure", then: setAnnotation(azure+"load-balancer-tcp-idle-timeout", "10"),
			faults: everything(http.StatusUnauthorized, "ExpiredAuthenticationToken", "The access token expiry UTC time is earlier than current UTC time.")},
		{what: "expired credentials and a Service that names a public IP", cloud: "azure", shape: setAnnotation(azure+"pip-name", "mine"),
			faults: everything(http.StatusUnauthorized, "ExpiredAuthenticationToken", "The access token expiry UTC time is earlier than current UTC time.")},
		{what: "invalid credentials", cloud: "oci", faults: everything(http.StatusUnauthorized, "NotAuthenticated", "The required information to complete authentication was not provided or was incorrect.")},
		{what: "a lock", cloud: "azure", faults: []sim.Fault{failForever("LoadBalancers.CreateOrUpdate", http.StatusConflict, "ScopeLocked", "The scope '/subscriptions/s/resourceGroups/mc_nodes' cannot perform write operation because following scope(s) are locked. Please remove the lock and try again.")}},
		{what: "a policy of the organisation", cloud: "azure", faults: []sim.Fault{failForever("PublicIPAddresses.CreateOrUpdate", http.StatusForbidden, "RequestDisallowedByPolicy", "Resource was disallowed by policy. Policy identifiers: 'no public addresses'.")}},
		{what: "a policy of the organisation", cloud: "gce netlb", faults: []sim.Fault{failForever("forwardingRules.insert", http.StatusPreconditionFailed, "conditionNotMet", "Constraint constraints/compute.restrictLoadBalancerCreationForTypes violated for projects/berth-demo.")}},
	}
}

// failuresOfSpec are what users write.
func failuresOfSpec() []failing {
	const oci = "service.beta.kubernetes.io/oci-load-balancer-"
	const aws, azure, gce, openstack = "service.beta.kubernetes.io/aws-load-balancer-", "service.beta.kubernetes.io/azure-load-balancer-", "networking.gke.io/", "loadbalancer.openstack.org/"
	return []failing{
		{what: "a value out of range", cloud: "aws classic", shape: setAnnotation(aws+"connection-idle-timeout", "9999")},
		{what: "a misspelt key", cloud: "aws classic", shape: setAnnotation(aws+"connection-idle-time", "60")},
		{what: "a misspelt wish for an internal load balancer", cloud: "aws classic", shape: setAnnotation(aws+"interal", "true")},
		{what: "the key of another cloud", cloud: "aws nlb", shape: setAnnotation(azure+"internal", "true")},
		{what: "UDP on a Classic Load Balancer", cloud: "aws classic", shape: onlyUDP},
		{what: "a subnet that is not there", cloud: "aws nlb", shape: setAnnotation(aws+"subnets", "subnet-00000000000000000")},
		{what: "a bad value on a Service that is served", cloud: "aws classic", then: setAnnotation(aws+"connection-idle-timeout", "soon")},
		{what: "no node port", cloud: "aws classic", shape: func(svc *corev1.Service) {
			svc.Spec.AllocateLoadBalancerNodePorts = new(false)
			for i := range svc.Spec.Ports {
				svc.Spec.Ports[i].NodePort = 0
			}
		}},
		{what: "a bad range of sources", cloud: "gce legacy", shape: setAnnotation("service.beta.kubernetes.io/load-balancer-source-ranges", "10.0.0.0/33")},
		{what: "a tier that is none", cloud: "gce netlb", shape: setAnnotation("cloud.google.com/network-tier", "Gold")},
		{what: "a subnet that is not there", cloud: "gce ilb", shape: setAnnotation(gce+"internal-load-balancer-subnet", "nowhere")},
		{what: "an address that is not reserved", cloud: "gce netlb", shape: setAnnotation(gce+"load-balancer-ip-addresses", "nothing")},
		{what: "an idle time out of range", cloud: "azure", shape: setAnnotation(azure+"tcp-idle-timeout", "1")},
		{what: "a public IP that is not there", cloud: "azure", shape: setAnnotation("service.beta.kubernetes.io/azure-pip-name", "nowhere")},
		{what: "a number that is none", cloud: "openstack", shape: setAnnotation(openstack+"timeout-client-data", "soon")},
		{what: "a placeholder in the place of an OCID", cloud: "oci", shape: setAnnotation(oci+"subnet1", "<OCID of the subnet>")},
		{what: "a flexible shape without bandwidths", cloud: "oci", shape: setAnnotation(oci+"shape", "flexible")},
		{what: "a flavor that is not there", cloud: "openstack", shape: setAnnotation(openstack+"flavor-id", "00000000-0000-0000-0000-000000000000")},
	}
}

// failuresOfCloud are what the cloud, the cluster or the controller's settings refuse.
func failuresOfCloud() []failing {
	const aws = "service.beta.kubernetes.io/aws-load-balancer-"
	return []failing{
		{what: "no right", cloud: "aws nlb", faults: []sim.Fault{failForever("CreateLoadBalancer", http.StatusForbidden, "AccessDenied", "User: arn:aws:sts::123456789012:assumed-role/nodes/i-1 is not authorized to perform: elasticloadbalancing:CreateLoadBalancer")}},
		{what: "the quota is used up", cloud: "aws nlb", faults: []sim.Fault{failForever("CreateLoadBalancer", http.StatusBadRequest, "TooManyLoadBalancers", "The quota on the number of load balancers has been reached")}},
		{what: "a step held by a policy", cloud: "aws classic", then: setAnnotation(aws+"type", "nlb"), policy: plan.NoDelete},
		{what: "no nodes", cloud: "aws classic", stage: withoutNodes},
		{what: "no right", cloud: "gce netlb", faults: []sim.Fault{failForever("forwardingRules.insert", http.StatusForbidden, "forbidden", "Required 'compute.forwardingRules.create' permission for 'projects/berth-demo/regions/us-central1/forwardingRules/a'")}},
		{what: "the quota is used up", cloud: "gce legacy", faults: []sim.Fault{failForever("forwardingRules.insert", http.StatusForbidden, "quotaExceeded", "Quota 'FORWARDING_RULES' exceeded.  Limit: 15.0")}},
		{what: "no right", cloud: "azure", faults: []sim.Fault{failForever("LoadBalancers.CreateOrUpdate", http.StatusForbidden, "AuthorizationFailed", "The client does not have authorization to perform action 'Microsoft.Network/loadBalancers/write'")}},
		{what: "the quota is used up", cloud: "azure", faults: []sim.Fault{failForever("PublicIPAddresses.CreateOrUpdate", http.StatusBadRequest, "PublicIPCountLimitReached", "Cannot create more than 10 public IP addresses for this subscription in this region.")}},
		{what: "no right", cloud: "oci", faults: []sim.Fault{failForever("CreateLoadBalancer", http.StatusNotFound, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found.")}},
		{what: "the quota is used up", cloud: "oci", faults: []sim.Fault{failForever("CreateLoadBalancer", http.StatusBadRequest, "LimitExceeded", "The following service limits were exceeded: lb-100mbps-count. Request a service limit increase.")}},
		{what: "no right", cloud: "openstack", faults: []sim.Fault{{Kind: sim.FaultError, WritesOnly: true, Status: http.StatusForbidden, Message: "Policy does not allow this request to be performed."}}},
		{what: "the cloud is down", cloud: "openstack", faults: []sim.Fault{{Kind: sim.FaultError, Status: http.StatusServiceUnavailable, Message: "The server is currently unavailable."}}},
	}
}

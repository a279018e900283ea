package main

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// subject is one kind of load balancer.
type subject struct {
	cloud, kind string
	simArgs     []string
	annotations map[string]string
	class       string // spec.loadBalancerClass
	// together are further numbers of Services that are made and deleted at once,
	// besides the ten; what clouds with one object for all do best is to be seen.
	together []int
	// goal is the most that a phase may cost per Service: all calls, and writes.
	// Phases with another number of Services have it in their name: "create 100".
	// Waiting for an operation is part of the write it belongs to.
	goal map[string][2]float64
	// many are the phases that are measured with many more Services than the others.
	many []string
	// config is added to the cloud configuration.
	config string
	// pods is how many pods each Service has, to whose addresses its load balancer sends;
	// 0: it sends to nodes.
	pods int
	// nodes is how many nodes there are; 0: as many as for the others.
	nodes int
	// only lists the numbers of Services in the table limits that it is measured with; nil: the
	// requested ones.
	only []int
	// mostCreate is the most calls for each Service, questions about operations included, that
	// a creation in the table limits may take; 0: any number.
	mostCreate float64
	// delay makes operations of the simulator take long; nil: they take no time.
	delay *delay
	// job is how long the simulator takes for a change of simArgs; 0: less than a phase waits anyhow.
	job time.Duration
}

// delay is the flag of the simulator by which operations take so long.
type delay struct {
	flag string
	time time.Duration
}

// args are the arguments of the simulator.
func (d *delay) args() []string {
	if d == nil {
		return nil
	}
	return []string{d.flag + "=" + d.time.String()}
}

// quiet is how long nothing must happen in the cloud until what was begun has ended: the
// journal has a call that waits for an operation only when that is over.
func (s subject) quiet() time.Duration {
	if s.delay == nil {
		return s.job + quiet
	}
	return s.delay.time + quiet
}

func newSubjects() []subject {
	return []subject{
		{cloud: "alibaba", kind: "clb", simArgs: []string{"--load-balancers=1000"}, together: []int{1, 100}, goal: alibabaGoal()},
		{cloud: "alibaba", kind: "nlb", class: "alibabacloud.com/nlb", simArgs: []string{"--load-balancers=1000", "--jobs=3s", "--provision=3s"}, job: 3 * time.Second, together: []int{1, 100}, goal: map[string][2]float64{
			"create": {10.5, 7}, "create 100": {8, 7}, "touch": {0, 0}, "port": {4.6, 3}, "delnode": {4.5, 3}, "addnode": {4.5, 3}, "delete": {6, 5}, "delete 100": {5.6, 5},
		}, annotations: map[string]string{"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-zone-maps": "cn-hangzhou-h:vsw-bp1b305b3755079e941aa,cn-hangzhou-i:vsw-bp1ce5ba4702bde27d0cd"}},
		{cloud: "aws", kind: "clb", simArgs: awsQuotas(), goal: map[string][2]float64{
			"create": {7.5, 6}, "touch": {0, 0}, "port": {2.5, 2}, "delnode": {1, 1}, "addnode": {1, 1}, "delete": {4, 3},
		}},
		{cloud: "aws", kind: "nlb", many: []string{"restart", beside}, simArgs: awsQuotas(), annotations: map[string]string{"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"},
			goal: map[string][2]float64{
				"create": {9, 8}, "touch": {0, 0}, "port": {4.5, 4}, "delnode": {3, 3}, "addnode": {3, 3}, "delete": {5.5, 5},
			}},
		{cloud: "azure", kind: "public", together: []int{1, 100}, goal: azurePublic()},
		{cloud: "azure", kind: "internal", annotations: map[string]string{"service.beta.kubernetes.io/azure-load-balancer-internal": "true"},
			together: []int{1, 100}, goal: azureInternal()},
		{cloud: "gce", kind: "target-pool", simArgs: gceQuotas(), goal: gceGoal(3.2, 3.2, 1)},
		{cloud: "gce", kind: "netlb-rbs", simArgs: gceQuotas(), annotations: map[string]string{"cloud.google.com/l4-rbs": "enabled"}, goal: gceGoal(4, 3.6, 0.1)},
		{cloud: "gce", kind: "ilb-ig", simArgs: gceQuotas(), annotations: map[string]string{"networking.gke.io/load-balancer-type": "Internal"}, goal: gceGoal(4, 3.6, 0.1)},
		{cloud: "openstack", kind: "octavia", simArgs: []string{"--busy=300ms"}, together: []int{1, 100}, goal: openstackGoal()},
		{cloud: "ibm", kind: "alb", simArgs: ibmAccount(), together: []int{1, 100}, goal: ibmGoal()},
		{cloud: "oci", kind: "lb", simArgs: ociTenancy(), together: []int{1, 100}, goal: ociGoal()},
		{cloud: "oci", kind: "nlb", simArgs: ociTenancy(), annotations: map[string]string{
			"oci.oraclecloud.com/load-balancer-type": "nlb", "oci.oraclecloud.com/security-rule-management-mode": "SL-All",
		}, together: []int{1, 100}, goal: ociGoal()},
		{cloud: "tencent", kind: "clb", simArgs: tencentAccount(), together: []int{1, 100}, goal: tencentGoal()},
		{cloud: "baidu", kind: "appblb", simArgs: baiduAccount(), together: []int{1, 100}, goal: baiduGoal()},
		{cloud: "gce", kind: "ilb-neg", simArgs: gceQuotas(), class: "networking.gke.io/l4-regional-internal", goal: gceGoal(11.2, 7.2, 1)},
	}
}

// limitSubjects are the kinds of the table under the documented rates.
func limitSubjects() []subject {
	pools := func(name, pools string) subject {
		return subject{cloud: "azure", kind: name, simArgs: []string{"--pools=" + pools}}
	}
	hundred := pools("nic-100", "nodeIPConfiguration")
	hundred.nodes, hundred.only, hundred.mostCreate = 100, []int{100}, 6
	all := []subject{pools("nodeip", "nodeIP"), pools("nic", "nodeIPConfiguration"), hundred, podTargets()}
	for _, s := range newSubjects() {
		if s.cloud != "azure" {
			all = append(all, s)
		}
	}
	return all
}

// slowSubjects are the kinds whose operations take as long as users report: their calls
// must not grow with it.
func slowSubjects() []subject {
	delays := map[string]*delay{"gce": {"--operation-delay", 12 * time.Second}, "azure": {"--write-latency", 4 * time.Second}}
	var all []subject
	for _, s := range limitSubjects() {
		if s.delay = delays[s.cloud]; s.delay != nil && s.only == nil {
			all = append(all, s)
		}
	}
	return all
}

// mark is a text that the dump of a cloud has for every load balancer, pool or
// group that a node is in, and elsewhere as often before as after.
func (s subject) mark(n corev1.Node) string {
	_, id, _ := strings.Cut(n.Spec.ProviderID, "://")
	switch {
	case s.cloud == "alibaba":
		_, id, _ = strings.Cut(n.Spec.ProviderID, ".")
		return `"` + id + `"`
	case s.cloud == "baidu", s.cloud == "tencent":
		return `"` + path.Base(id) + `"`
	case s.cloud == "aws":
		return path.Base(id)
	case s.kind == "ilb-neg": // an endpoint has the name of its machine, not the path
		return `"` + path.Base(id) + `"`
	case s.cloud == "gce":
		return "/instances/" + path.Base(id) + `"`
	case strings.HasPrefix(s.kind, "nic"):
		return id + "/networkInterfaces/"
	}
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return `"` + a.Address + `"`
		}
	}
	return n.Name
}

// gceGoal: a creation costs one write for each resource and for the members of each group,
// shared ones divided by ten Services, and half a read; a deletion one write for each
// resource, and half a read. A rule cannot take another port, so a port costs five writes:
// the address is reserved and released, the rule is deleted and created, the firewall
// updated. A node costs one write for each pool or group that it is in.
func gceGoal(made, gone, node float64) map[string][2]float64 {
	const (
		looks   = 0.5
		members = 0.1 // one read for all, in a phase with a read
		port    = 5
	)
	return map[string][2]float64{
		"create": {made + looks, made}, "touch": {0, 0}, "port": {port + looks, port},
		"delnode": {node + members, node}, "addnode": {node + members, node}, "delete": {gone + looks, gone},
		"restart": {0.04, 0},
	}
}

// gceQuotas raises what a project with hundreds of load balancers has to have raised.
func gceQuotas() []string { return []string{"--quota-factor=100"} }

// alibabaGoal: a creation is the load balancer, two server groups, and two listeners, each of which
// is created and started. A deletion is the protection and the load balancer; one alone pays the three lists, of
// both kinds. A port is a server group and a listener, a node one write for each server group.
func alibabaGoal() map[string][2]float64 {
	return map[string][2]float64{
		"create": {7.5, 7}, "touch": {0, 0}, "port": {3.2, 3}, "delnode": {3.1, 3}, "addnode": {3.1, 3}, "delete": {2.3, 2}, "delete 1": {5, 2},
	}
}

// openstackGoal: a creation is two writes, the tree and the floating IP, and a deletion
// as many; a port that is added is pool, members and listener, a node one write for each
// of a Service's three pools. Lists and questions how load balancers are, all Services
// share.
func openstackGoal() map[string][2]float64 {
	return map[string][2]float64{
		"create": {2.6, 2}, "touch": {0, 0}, "port": {3.8, 3}, "delnode": {3.8, 3}, "addnode": {3.8, 3}, "delete": {2.6, 2},
	}
}

// ibmAccount has load balancers that are busy after each write, and room for hundreds of them.
func ibmAccount() []string { return []string{"--busy=1s", "--quota-factor=100"} }

// ibmGoal: a creation and a deletion are one write, a port is a pool and a listener, and a node
// one write for each of a Service's three pools. All Services share the list of load balancers.
func ibmGoal() map[string][2]float64 {
	return map[string][2]float64{
		"create": {2, 1}, "create 100": {1.4, 1}, "touch": {0, 0}, "port": {4.5, 2}, "port 100": {2.6, 2},
		"delnode": {7, 3}, "addnode": {7, 3}, "delete": {2.2, 1}, "delete 100": {1.4, 1},
	}
}

// ociTenancy has work requests take their time, and more rules in a security list than a
// tenancy has to begin with.
func ociTenancy() []string { return []string{"--work=300ms", "--quota-factor=100"} }

// ociGoal: a creation is one write, a port backend set and listener, a node one write for
// each of a Service's three backend sets; the security lists are written for all Services
// that are waiting, and lists tell how load balancers are.
func ociGoal() map[string][2]float64 {
	return map[string][2]float64{
		"create": {2, 1.4}, "create 100": {2, 1.4}, "touch": {0, 0}, "port": {3.2, 2.4},
		"delnode": {3.5, 3}, "addnode": {3.5, 3}, "delete": {2, 1.4}, "delete 100": {2, 1.4},
	}
}

// azureInternal: one write updates the load balancer for all Services that are waiting, one
// more each pool. A write is three calls: a read before, the write, and a read of the result.
// The existing resources are read in rounds of five calls, which all Services of five seconds
// share unless they read twice or are deleted. A creation is one round, a deletion two.
// Single changes share less. A hundred Services created together are at most 25 writes.
func azureInternal() map[string][2]float64 {
	return map[string][2]float64{
		"create 1": {12, 2}, "create": {2, 0.3}, "create 100": {1, 0.25}, "touch": {0, 0}, "port": {2, 0.3},
		"delnode": {0.8, 0.1}, "addnode": {0.8, 0.1}, "delete 1": {14, 2}, "delete": {1.5, 0.2}, "delete 100": {0.5, 0.1},
	}
}

// azurePublic: besides, each Service has a public IP, made by one write, and all
// of them are in the security group, which follows in a second plan once the
// addresses are known. One alone pays the second round that a hundred share.
func azurePublic() map[string][2]float64 {
	return map[string][2]float64{
		"create 1": {22, 4}, "create": {5.5, 1.5}, "create 100": {4.2, 1.5}, "touch": {0, 0}, "port": {4, 1},
		"delnode": {0.8, 0.1}, "addnode": {0.8, 0.1}, "delete 1": {22, 4}, "delete": {5.5, 1.5}, "delete 100": {4.2, 1.5},
	}
}

// flags are those of the controller.
func (s subject) flags() []string {
	if s.class == "" {
		return nil
	}
	return []string{"--load-balancer-class=" + s.class}
}

// awsQuotas raises what an account with hundreds of load balancers has to have raised.
func awsQuotas() []string { return []string{"--quota-factor=100"} }

// machines is how many nodes there are.
func (s subject) machines() int { return cmp.Or(s.nodes, nodes) }

// service is the i-th Service of a phase's subjects, with two ports.
func (s subject) service(prefix string, i int) corev1.Service {
	svc := corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("%s-%s-%d", prefix, s.kind, i), Annotations: s.annotations},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeLoadBalancer,
			Selector: map[string]string{"app": "bench"},
			Ports:    []corev1.ServicePort{newPort("http", 80), newPort("https", 443)},
		},
	}
	if s.class != "" {
		svc.Spec.LoadBalancerClass = &s.class
	}
	return svc
}

func (s subject) services(prefix string, n int) []corev1.Service {
	var out []corev1.Service
	for i := range n {
		out = append(out, s.service(prefix, i))
	}
	return out
}

func newPort(name string, number int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Port: number, TargetPort: intstr.FromInt32(8080)}
}

// tencentAccount has load balancers that refuse other writes while one is at work, and room for
// hundreds of them.
func tencentAccount() []string {
	return []string{"--task=1s", "--load-balancers=1000", "--deletions=1000"}
}

// tencentGoal: a creation is the load balancer, its listeners and their targets, a port is a listener
// and its targets, a node one write for all listeners, and a deletion removes the targets before the
// load balancer. Waiting for a task is a call.
func tencentGoal() map[string][2]float64 {
	return map[string][2]float64{
		"create": {8, 3}, "touch": {0, 0}, "port": {5.5, 2}, "delnode": {2.2, 1}, "addnode": {2.2, 1}, "delete": {5.5, 2},
	}
}

// baiduAccount has load balancers that refuse other writes while one is at work, and room for hundreds of
// them.
func baiduAccount() []string { return []string{"--busy=1s", "--load-balancers=1000"} }

// baiduGoal: a creation is the address, the load balancer, the group, and for each of two ports a port of the
// group, a listener and a policy; a new port is as many. A node is one write for the group. A deletion is the
// load balancer and the address, which are read until both are deleted. Waiting for a change is a call.
func baiduGoal() map[string][2]float64 {
	return map[string][2]float64{
		"create": {15, 10}, "create 100": {11, 10}, "touch": {0, 0}, "port": {4.6, 3}, "port 100": {3.6, 3}, "delnode": {1.8, 1}, "addnode": {1.8, 1},
		"delete": {4.8, 3}, "delete 100": {3.5, 3},
	}
}

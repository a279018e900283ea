package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-lb/berth/stack/plan"
)

// failing is a Service without an address, and what one command says of it.
type failing struct {
	name  string
	notes map[string]string
	spec  string // more fields, a line each
	ports string // empty: one port of TCP
	live  bool   // the state of the cloud decides
	says  []string
}

// manifest returns the Service.
func (f failing) manifest() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: shop\n  uid: 5a0c1f6e-0000-4000-8000-000000000001\n  annotations:\n    team: web\n")
	for key, value := range f.notes {
		b.WriteString("    " + key + ": '" + value + "'\n")
	}
	b.WriteString("spec:\n  type: LoadBalancer\n" + f.spec)
	if f.ports == "" {
		f.ports = "  ports: [{name: http, port: 80, nodePort: 30080}]\n"
	}
	return b.String() + f.ports
}

// failingServices lists Services of each cloud, with the cause and the next step. Their answers need no cloud, unless
// the Service is live.
func failingServices() map[string][]failing {
	const (
		lb    = "service.beta.kubernetes.io/aws-load-balancer-"
		az    = "service.beta.kubernetes.io/azure-"
		gke   = "networking.gke.io/"
		oke   = "service.beta.kubernetes.io/oci-load-balancer-"
		stack = "loadbalancer.openstack.org/"
		udp   = "  ports: [{name: dns, port: 53, protocol: UDP, nodePort: 30053}]\n"
		mixed = "  ports: [{name: dns, port: 53, protocol: UDP, nodePort: 30053}, {name: dns-tcp, port: 53, nodePort: 30054}]\n"
	)
	one := func(key, value string) map[string]string { return map[string]string{key: value} }
	return map[string][]failing{
		"aws": {
			{name: "a health check interval that is too short", notes: one(lb+"healthcheck-interval", "3"), says: []string{`"3" is below 5`, "from 5 to 300"}},
			{name: "UDP on a Classic Load Balancer", ports: udp, says: []string{"UDP", `aws-load-balancer-type: "nlb"`}},
			{name: "an address in the specification", spec: "  loadBalancerIP: 203.0.113.7\n", says: []string{"spec.loadBalancerIP", "eip-allocations"}},
			{name: "a subnet that does not exist", notes: one(lb+"subnets", "subnet-0123456789abcdef0"), live: true, says: []string{"subnet-0123456789abcdef0", "legal is"}},
		},
		"azure": {
			{name: "an idle timeout with a unit", notes: one(az+"load-balancer-tcp-idle-timeout", "5m"), says: []string{"is not a whole number", "from 4 to 100"}},
			{name: "a range of clients that is none", notes: one(az+"allowed-ip-ranges", "10.0.0.0/33"), says: []string{`"10.0.0.0/33"`, "such as 10.0.0.0/8"}},
			{name: "internal without the prefix", notes: one("azure-load-balancer-internal", "true"), says: []string{"would be open to the internet", `azure-load-balancer-internal: "true"`}},
			{name: "a public IP that does not exist", notes: one(az+"pip-name", "shop-ip"), live: true, says: []string{`"shop-ip" is no public IP`, "legal is the name of one that exists"}},
		},
		"gce": {
			{name: "a network tier that does not exist", notes: one("cloud.google.com/network-tier", "Gold"), says: []string{`"Gold" is not`, `"Premium" or "Standard"`}},
			{name: "internal with letters swapped", notes: one(gke+"load-balancer-type", "Intrenal"), says: []string{`"Intrenal" is not legal`, `"Internal"`}},
			{name: "TCP and UDP on a target pool", ports: mixed, says: []string{"mixes UDP and TCP", "cloud.google.com/l4-rbs"}},
			{name: "an address that is not reserved", spec: "  loadBalancerIP: 203.0.113.7\n", live: true, says: []string{`"203.0.113.7" is neither reserved`, "legal is a reserved address"}},
		},
		"oci": {
			{name: "internal with another spelling", notes: one("service.beta.kubernetes.io/oci-lb-internal", "true"), says: []string{"would be open to the internet", "looks like " + oke + "internal"}},
			{name: "a flexible shape without its bounds", notes: one(oke+"shape", "flexible"), says: []string{"a flexible shape needs it", "shape-flex-min"}},
			{name: "UDP on the load balancer of HTTP", ports: udp, says: []string{"do not serve", "oci.oraclecloud.com/load-balancer-type"}},
			{name: "a subnet that does not exist", notes: one(oke+"subnet1", "ocid1.subnet.oc1..none"), live: true, says: []string{"ocid1.subnet.oc1..none", "legal is"}},
		},
		"openstack": {
			{name: "an algorithm with a hyphen", notes: one(stack+"lb-method", "round-robin"), says: []string{`"round-robin" is not`, `"ROUND_ROBIN"`}},
			{name: "the PROXY protocol beside the header", notes: map[string]string{stack + "x-forwarded-for": "true", stack + "proxy-protocol": "v2"}, says: []string{"proxy-protocol", "one of the two"}},
			{name: "a connection limit that is a word", notes: one(stack+"connection-limit", "many"), says: []string{`"many" is not a whole number`, "from -1"}},
			{name: "an external network that does not exist", notes: one(stack+"floating-network-id", "11111111-2222-3333-4444-555555555555"), live: true, says: []string{"11111111-2222-3333-4444-555555555555", "the id of an external network"}},
		},
	}
}

// TestFailingServices: of 20 Services without an address on five clouds, one command gives the cause and the next
// step: berth check, or berth plan where the state of the cloud decides.
func TestFailingServices(t *testing.T) {
	for cloud, all := range failingServices() {
		t.Run(cloud, func(t *testing.T) {
			p := newExamined(t, cloud)
			for _, f := range all {
				args := []string{"check", "--provider", cloud, "-"}
				if f.live {
					args = []string{"plan", "--provider", cloud, "--cloud-config", filepath.Join(p.dir, "cloud.conf"), "--nodes", filepath.Join(p.dir, "nodes.yaml"), "-f", "-"}
				}
				got := runBerth(t, f.manifest(), args...)
				text := strings.Join(strings.Fields(got.out+got.err), " ")
				if got.code != plan.ExitError {
					t.Errorf("%s: exit code %d", f.name, got.code)
				}
				for _, part := range f.says {
					if !strings.Contains(text, part) {
						t.Errorf("%s: berth %s does not say %q:\n%s", f.name, args[0], part, text)
					}
				}
			}
		})
	}
}

package oci_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

// TestRefused: what cannot be served is refused with the key, the value and what is legal,
// before anything is made in the cloud.
func TestRefused(t *testing.T) {
	const nlb = "nlb"
	kind := prefix + "load-balancer-type"
	none := prefix + "security-rule-management-mode"
	for name, c := range map[string]struct {
		notes  map[string]string
		change func(*corev1.ServiceSpec)
		want   string
	}{
		"tls":        {annotationPairs(oldPrefix+"ssl-ports", "443", oldPrefix+"tls-secret", "web-tls"), nil, `tls-secret: "web-tls" names Secret shop/web-tls, which is not known here`},
		"two sorts":  {annotationPairs(oldPrefix+"ssl-ports", "80", oldPrefix+"tls-secret", "web-tls", mapPrefix+"tls-certificate-map", "web"), nil, "cannot be beside " + oldPrefix + "tls-secret"},
		"map":        {annotationPairs(oldPrefix+"ssl-ports", "443", mapPrefix+"tls-certificate-map", "web"), nil, `tls-certificate-map: "web" names ConfigMap shop/web, which is not known here`},
		"udp on lb":  {nil, mixProtocols, "has a protocol that load balancers of kind lb do not serve"},
		"udp guards": {annotationPairs(kind, nlb, none, "NSG"), mixProtocols, "gets no security rules"},
		"two node ports": {annotationPairs(kind, nlb), func(s *corev1.ServiceSpec) {
			s.Ports[1].Port, s.Ports[1].Protocol = s.Ports[0].Port, corev1.ProtocolUDP
		}, "the same nodePort for TCP and UDP"},
		"preserve":   {annotationPairs(kind, nlb, netPrefix+"is-preserve-source", "true"), nil, "requires externalTrafficPolicy Local"},
		"bandwidth":  {annotationPairs(oldPrefix+"shape", "flexible"), nil, "a flexible shape needs it"},
		"subnet":     {annotationPairs(oldPrefix+"subnet1", "ocid1.subnet.oc1..none"), nil, "is not found, or not visible with these credentials"},
		"no OCID":    {annotationPairs(oldPrefix+"subnet1", "<OCID of the private subnet>"), nil, `subnet1: "<OCID of the private subnet>" is no OCID; legal is the OCID of a subnet, as in ocid1.subnet.oc1.iad.`},
		"half OCID":  {annotationPairs(oldPrefix+"subnet2", "ocid1.subnet.oc1"), nil, `subnet2: "ocid1.subnet.oc1" is no OCID; legal is the OCID of a subnet`},
		"of a VCN":   {annotationPairs(kind, nlb, netPrefix+"subnet", "ocid1.vcn.oc1.iad.aaaaaaaa7f21"), nil, `subnet: "ocid1.vcn.oc1.iad.aaaaaaaa7f21" is the OCID of a vcn; legal is the OCID of a subnet`},
		"no group":   {annotationPairs(prefix+"oci-network-security-groups", "ocid1.networksecuritygroup.oc1.iad.a, web"), nil, `has item "web", which is no OCID; legal is a comma separated list of at most 5 items, each the OCID of a network security group`},
		"no place":   {annotationPairs(prefix+"compartment-id", "shop"), nil, `compartment-id: "shop" is no OCID; legal is the OCID of a compartment`},
		"behind":     {annotationPairs(none, "NSG", prefix+"oci-backend-network-security-group", "nodes"), nil, `backend-network-security-group: "nodes" has item "nodes", which is no OCID`},
		"address":    {nil, func(s *corev1.ServiceSpec) { s.LoadBalancerIP = "203.0.113.99" }, "is no reserved public IPv4 address"},
		"grpc":       {annotationPairs(oldPrefix+"backend-protocol", "GRPC"), nil, "needs TLS on every port"},
		"ipv6 alone": {nil, func(s *corev1.ServiceSpec) { s.IPFamilies = []corev1.IPFamily{corev1.IPv6Protocol} }, "is not possible alone"},
		"selector":   {annotationPairs(prefix+"node-label-selector", "a in b"), nil, "is no label selector"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubject(t)
			svc := props.Service("web", c.notes, func(spec *corev1.ServiceSpec) {
				if c.change != nil {
					c.change(spec)
				}
			}).Service
			r := reconcile.New(s.Open(t), reconcile.Options{})
			r.SetNodes(s.Nodes())
			d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(d.Problems.Strings(), "\n"); !d.Problems.Errors() || !strings.Contains(said, c.want) {
				t.Errorf("told %q, want %q", said, c.want)
			}
			if n := s.Control().Journal.Writes(); !d.Plan.Empty() || n != 0 {
				t.Errorf("%d steps are planned, %d writes were made", len(d.Plan.Steps), n)
			}
		})
	}
}

// TestOneSubnetTwice: a regional subnet that both keys name is used alone, with a warning;
// one of an availability domain is refused.
func TestOneSubnetTwice(t *testing.T) {
	s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 3}})}
	seed := s.running.Cloud.Seed
	for name, c := range map[string]struct {
		subnet, want string
		refused      bool
	}{
		"regional":      {seed.Public.ID, "is the subnet of " + oldPrefix + "subnet1 as well, so it has no effect", false},
		"of one domain": {seed.Zonal[0].ID, "is the first subnet as well, which is in one availability domain only", true},
	} {
		r := reconcile.New(s.Open(t), reconcile.Options{})
		r.SetNodes(s.Nodes())
		svc := props.Service("web", annotationPairs(oldPrefix+"subnet1", c.subnet, oldPrefix+"subnet2", c.subnet)).Service
		d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(d.Problems.Strings(), "\n")
		if !strings.Contains(said, "subnet2: \""+c.subnet+"\" "+c.want+"; legal is the OCID of a subnet in another domain") || d.Problems.Errors() != c.refused || d.Plan.Empty() != c.refused {
			t.Errorf("%s: told %q, %d steps", name, said, len(d.Plan.Steps))
		}
	}
}

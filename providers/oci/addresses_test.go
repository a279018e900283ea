package oci_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	simoci "github.com/berth-lb/berth/test/sim/oci"
	"github.com/berth-lb/berth/test/sim/oci/simtest"
)

func useDualStack(s *corev1.ServiceSpec) {
	s.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
}

// startWithReserved starts a cloud with reserved addresses, and a process.
func startWithReserved(t *testing.T) (subject, *reconcile.Reconciler) {
	t.Helper()
	s := subject{running: simtest.Start(t, simoci.Options{Seed: simoci.SeedOptions{Nodes: 3, DualStack: true}})}
	return s, props.Process(t, s.Open(t), s.Nodes())
}

// renameService returns a Service of another name, with other ports.
func renameService(svc *corev1.Service, name string, beyond int32) *corev1.Service {
	out := svc.DeepCopy()
	out.Name, out.UID = name, types.UID("uid-of-"+name)
	for i := range out.Spec.Ports {
		out.Spec.Ports[i].Port += beyond
		out.Spec.Ports[i].NodePort += beyond
	}
	return out
}

// TestReservedPair verifies that a load balancer gets the reserved addresses of both
// families. A second load balancer reports them as in use, and deleting the first one
// retains them.
func TestReservedPair(t *testing.T) {
	s, r := startWithReserved(t)
	seed := s.running.Cloud.Seed
	wish := annotationPairs(prefix+"reserved-ips", seed.Addresses[0]+","+seed.Address6, prefix+"security-rule-management-mode", "None")
	svc := props.Service("web", wish, useDualStack).Service
	runUntilDone(t, s, r, reconcile.Job{Service: svc})
	d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, a := range r.Run(t.Context(), d, nil).Status.Ingress {
		shown = append(shown, a.IP)
	}
	if got, want := strings.Join(shown, " "), seed.Addresses[0]+" "+seed.Address6; got != want {
		t.Errorf("addresses %s, want %s", got, want)
	}
	d, err = r.Draft(t.Context(), reconcile.Job{Service: renameService(svc, "other", 0)})
	if said := strings.Join(d.Problems.Strings(), "\n"); err != nil || !strings.Contains(said, "is in use by") {
		t.Errorf("the second Service: %v, told %s", err, said)
	}
	runUntilDone(t, s, r, reconcile.Job{Service: svc, Release: true})
	runUntilDone(t, s, r, reconcile.Job{Service: renameService(svc, "third", 0)})
}

// TestReservedPrivate verifies that an internal load balancer of either product gets the
// reserved private address of its subnet, given as an address or as an OCID. A second load
// balancer reports it as in use, and deleting the first one retains it.
func TestReservedPrivate(t *testing.T) {
	s, r := startWithReserved(t)
	seed := s.running.Cloud.Seed
	none := []string{prefix + "security-rule-management-mode", "None"}
	lb := annotationPairs(append(none, oldPrefix+"internal", "true", oldPrefix+"subnet1", seed.Private.ID)...)
	nlb := annotationPairs(append(none, netPrefix+"internal", "true", netPrefix+"subnet", seed.Private.ID, prefix+"load-balancer-type", "nlb")...)
	for _, notes := range []map[string]string{lb, nlb} {
		for _, asked := range []string{seed.PrivateAddress, seed.PrivateAddressID} {
			notes[prefix+"reserved-private-ips"] = asked
			svc := props.Service("web", notes).Service
			runUntilDone(t, s, r, reconcile.Job{Service: svc})
			d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Run(t.Context(), d, nil).Status.Ingress; len(got) != 1 || got[0].IP != seed.PrivateAddress {
				t.Errorf("%v: addresses %v, want %s", notes, got, seed.PrivateAddress)
			}
			d, err = r.Draft(t.Context(), reconcile.Job{Service: renameService(svc, "other", 0)})
			if said := strings.Join(d.Problems.Strings(), "\n"); err != nil || !strings.Contains(said, "is in use by") {
				t.Errorf("the second Service: %v, told %s", err, said)
			}
			runUntilDone(t, s, r, reconcile.Job{Service: svc, Release: true})
		}
	}
}

// TestReservedRefused verifies that unusable addresses are reported before any create call.
func TestReservedRefused(t *testing.T) {
	s, r := startWithReserved(t)
	seed := s.running.Cloud.Seed
	const private = "private "
	four, six := seed.Addresses[0], seed.Address6
	for _, c := range []struct {
		asked, want string
		more        []string
		change      func(*corev1.ServiceSpec)
	}{
		{four + "," + seed.Addresses[1], "has two addresses of one family", nil, useDualStack},
		{six, "beside one of IPv4", nil, useDualStack},
		{four + "," + six, "beside one of IPv4 on load balancers of kind lb only", []string{prefix + "load-balancer-type", "nlb"}, useDualStack},
		{four + "," + six, "the Service is of IPv4 alone", nil, func(*corev1.ServiceSpec) {}},
		{four + ",2001:db8::99", "is no reserved IPv6 address of the subnet", nil, useDualStack},
		{four + "," + six, "is no reserved IPv6 address of the subnet", []string{oldPrefix + "subnet1", seed.Private.ID}, useDualStack},
		{four + "," + six, "the load balancer is internal", []string{oldPrefix + "internal", "true"}, useDualStack},
		{private + seed.PrivateAddress, "is private, but the load balancer is public", nil, useDualStack},
		{private + seed.PrivateAddress, "is no reserved private address of the subnet", []string{oldPrefix + "internal", "true"}, useDualStack},
		{private + seed.PrivateAddressID, "is of subnet " + seed.Private.ID, []string{oldPrefix + "internal", "true"}, useDualStack},
		{private + "10.0.47.201", "is no reserved private address of the subnet", []string{oldPrefix + "internal", "true", oldPrefix + "subnet1", seed.Private.ID}, useDualStack},
		{private + six, "is neither", []string{oldPrefix + "internal", "true"}, useDualStack},
		{private + seed.PrivateAddress, "cannot be beside " + netPrefix + "assigned-private-ipv4", []string{netPrefix + "internal", "true", netPrefix + "subnet", seed.Private.ID, netPrefix + "assigned-private-ipv4", "10.0.47.9", prefix + "load-balancer-type", "nlb"}, useDualStack},
	} {
		key := prefix + "reserved-ips"
		if strings.HasPrefix(c.asked, private) {
			key, c.asked = prefix+"reserved-private-ips", strings.TrimPrefix(c.asked, private)
		}
		svc := props.Service("web", annotationPairs(append(c.more, key, c.asked)...), c.change).Service
		d, err := r.Draft(t.Context(), reconcile.Job{Service: svc})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(d.Problems.Strings(), "\n"); !strings.Contains(said, c.want) || !d.Plan.Empty() {
			t.Errorf("%s %v: told %q, want %q", c.asked, c.more, said, c.want)
		}
	}
	if n := s.Control().Journal.Writes(); n != 0 {
		t.Errorf("%d writes", n)
	}
}

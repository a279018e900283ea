package explore

import (
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
)

// TestRefusedSwitch: a Service asks for a load balancer of another kind, and the cloud
// refuses one sort of write for an hour. Either all of the old one is there then, or all
// that is wanted of the new one.
func TestRefusedSwitch(t *testing.T) {
	const nlb = "service.beta.kubernetes.io/aws-load-balancer-type"
	for name, c := range map[string]struct {
		cloud string
		then  Shape
		// late are the writes that come when the old load balancer has to be gone, or that
		// are about single members, which the others do not wait for.
		late []string
	}{
		"aws nlb instead of classic":           {"aws classic", key(nlb, "nlb"), nil},
		"aws classic instead of nlb":           {"aws nlb", func(svc *corev1.Service) { delete(svc.Annotations, nlb) }, nil},
		"gce internal instead of external":     {"gce legacy", clouds()["gce legacy"].other, []string{"forwardingRules.insert", "firewalls.patch", "instanceGroups.addInstances"}},
		"oci nlb instead of lb":                {"oci", clouds()["oci"].other, nil},
		"azure internal instead of public":     {"azure", clouds()["azure"].other, []string{"LoadBalancerBackendAddressPools.CreateOrUpdate"}},
		"openstack internal instead of public": {"openstack", clouds()["openstack"].other, nil},
	} {
		for _, operation := range switchWrites(t, c.cloud, c.then) {
			if slices.Contains(c.late, operation) {
				continue
			}
			t.Run(name+"/"+operation, func(t *testing.T) {
				perform(t, clouds()[c.cloud].fresh, func(s *stage) { s.oust(c.cloud, operation, c.then) })
			})
		}
	}
}

// switchWrites names the writes that it takes to change a Service.
func switchWrites(t *testing.T, cloud string, then Shape) []string {
	var out []string
	perform(t, clouds()[cloud].fresh, func(s *stage) {
		s.serve(cloud)
		s.subject.Control.Journal.Reset()
		Change("web", "switch", then).Do(s.world)
		time.Sleep(time.Hour)
		for _, e := range s.subject.Control.Journal.Entries() {
			if e.Write && !slices.Contains(out, e.Operation) {
				out = append(out, e.Operation)
			}
		}
	})
	slices.Sort(out)
	return out
}

// serve starts the process and has it make a load balancer.
func (s *stage) serve(cloud string) {
	s.start()
	Create("web", clouds()[cloud].shape).Do(s.world)
	time.Sleep(10 * time.Minute)
}

func (s *stage) oust(cloud, operation string, then Shape) {
	s.t.Helper()
	s.serve(cloud)
	before, address := s.beside(s.get("web"), reconcile.Job{}).Have, s.address("web")
	if _, err := s.subject.Control.Faults.Add(sim.Fault{Kind: sim.FaultError, Operation: operation, WritesOnly: true, Status: http.StatusBadRequest}); err != nil {
		s.t.Fatal(err)
	}
	Change("web", "switch", then).Do(s.world)
	time.Sleep(time.Hour)
	now := s.beside(s.get("web"), reconcile.Job{})
	incomplete := slices.ContainsFunc(now.Plan.Steps, func(step plan.Step) bool {
		return step.ID.Action == plan.Create || step.ID.Action == plan.Update
	})
	if lost := props.Missing(before, now.Have); len(lost) > 0 && incomplete {
		s.t.Errorf("gone while the new one is not complete: %v", lost)
	}
	if s.address("web") != address && incomplete {
		s.t.Errorf("clients were at %s and are sent to %s, which is not complete", address, s.address("web"))
	}
}

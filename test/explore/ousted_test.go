package explore

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
)

// switchCase is a Service that changes to a load balancer of another kind.
type switchCase struct {
	cloud string
	from  Shape // nil: the plain Service of the cloud
	then  Shape
	// late are the writes that follow the deletion of the old load balancer, or that concern
	// single members, which no other step waits for.
	late []string
	// refusals are how the cloud refuses a write; nil: with a bad request alone.
	refusals []sim.Fault
}

// azureSwitches are both directions on Azure, with and without ranges of clients, each with
// two refusals: of the request, and of the right to make it.
func azureSwitches() map[string]switchCase {
	const internal, ranges = "service.beta.kubernetes.io/azure-load-balancer-internal", "service.beta.kubernetes.io/azure-allowed-ip-ranges"
	with := func(ranged bool, then Shape) Shape {
		return func(svc *corev1.Service) {
			if then(svc); ranged {
				setAnnotation(ranges, "10.0.0.0/8,203.0.113.0/24")(svc)
			}
		}
	}
	public := func(svc *corev1.Service) { delete(svc.Annotations, internal) }
	refusals := []sim.Fault{{Status: http.StatusBadRequest}, {Status: http.StatusForbidden, Code: "AuthorizationFailed"}}
	out := map[string]switchCase{}
	for name, ranged := range map[string]bool{"": false, " with ranges": true} {
		out["azure internal instead of public"+name] = switchCase{"azure", with(ranged, public), with(ranged, setAnnotation(internal, "true")), nil, refusals}
		out["azure public instead of internal"+name] = switchCase{"azure", with(ranged, setAnnotation(internal, "true")), with(ranged, public), nil, refusals}
	}
	return out
}

// TestRefusedSwitch: a Service asks for a load balancer of another kind, and the cloud
// refuses one sort of write for an hour. Afterwards all clients of the old load balancer are
// served, by that one or by the new one.
func TestRefusedSwitch(t *testing.T) {
	const nlb = "service.beta.kubernetes.io/aws-load-balancer-type"
	all := map[string]switchCase{
		"aws nlb instead of classic":           {"aws classic", nil, setAnnotation(nlb, "nlb"), nil, nil},
		"aws classic instead of nlb":           {"aws nlb", nil, func(svc *corev1.Service) { delete(svc.Annotations, nlb) }, nil, nil},
		"gce internal instead of external":     {"gce legacy", nil, listClouds()["gce legacy"].other, []string{"forwardingRules.insert", "firewalls.patch", "instanceGroups.addInstances"}, nil},
		"oci nlb instead of lb":                {"oci", nil, listClouds()["oci"].other, nil, nil},
		"openstack internal instead of public": {"openstack", nil, listClouds()["openstack"].other, nil, nil},
	}
	maps.Copy(all, azureSwitches())
	for name, c := range all {
		if c.from == nil {
			c.from = listClouds()[c.cloud].shape
		}
		if c.refusals == nil {
			c.refusals = []sim.Fault{{Status: http.StatusBadRequest}}
		}
		for _, operation := range switchWrites(t, c) {
			for _, refusal := range c.refusals {
				if slices.Contains(c.late, operation) {
					continue
				}
				refusal.Kind, refusal.Operation, refusal.WritesOnly = sim.FaultError, operation, true
				t.Run(fmt.Sprint(name, "/", operation, "/", refusal.Status), func(t *testing.T) {
					performOn(t, listClouds()[c.cloud].fresh, func(s *stage) { s.oust(c, refusal) })
				})
			}
		}
	}
}

// switchWrites lists the operations that write while a Service is switched.
func switchWrites(t *testing.T, c switchCase) []string {
	var out []string
	performOn(t, listClouds()[c.cloud].fresh, func(s *stage) {
		s.serve(c.from)
		s.subject.Control.Journal.Reset()
		Change("web", "switch", c.then).Do(s.world)
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

// serve starts the process and has it create a load balancer.
func (s *stage) serve(shape Shape) {
	s.start()
	Create("web", shape).Do(s.world)
	time.Sleep(10 * time.Minute)
}

func (s *stage) oust(c switchCase, refusal sim.Fault) {
	s.t.Helper()
	s.serve(c.from)
	before, address := s.beside(s.get("web"), reconcile.Job{}).Have, s.address("web")
	if _, err := s.subject.Control.Faults.Add(refusal); err != nil {
		s.t.Fatal(err)
	}
	Change("web", "switch", c.then).Do(s.world)
	time.Sleep(time.Hour)
	now := s.beside(s.get("web"), reconcile.Job{})
	incomplete := slices.ContainsFunc(now.Plan.Steps, func(step plan.Step) bool {
		return step.ID.Action == plan.Create || step.ID.Action == plan.Update
	})
	bound, err := s.subject.Open(s.t.Context(), "http://hand-cloud."+s.name)
	if err != nil {
		s.t.Fatal(err)
	}
	if lost := props.LostPorts(bound.Flows, before, now); len(lost) > 0 {
		s.t.Errorf("clients are not served any more:\n%s", traffic.Text(lost))
	}
	if s.address("web") != address && incomplete {
		s.t.Errorf("clients were at %s and are sent to %s, which is not complete", address, s.address("web"))
	}
}

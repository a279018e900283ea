package explore

import (
	"net/http"
	"slices"
	"strings"
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
	then  Shape // nil: the other Service of the cloud
}

// TestRefusedSwitch: a Service asks for a load balancer of another kind, and for an hour the cloud
// refuses the last sort of write before the first deletion. Afterwards all clients of the old
// load balancer are served, by that one or by the new one. Other refusals are those of test/laws;
// this one waits for the status.
func TestRefusedSwitch(t *testing.T) {
	const nlb, internal, ranges = "service.beta.kubernetes.io/aws-load-balancer-type", "service.beta.kubernetes.io/azure-load-balancer-internal", "service.beta.kubernetes.io/azure-allowed-ip-ranges"
	private := func(svc *corev1.Service) {
		setAnnotation(internal, "true")(svc)
		setAnnotation(ranges, "10.0.0.0/8,203.0.113.0/24")(svc)
	}
	public := func(svc *corev1.Service) {
		private(svc)
		delete(svc.Annotations, internal)
	}
	for name, c := range map[string]switchCase{
		"aws nlb instead of classic":       {"aws classic", nil, setAnnotation(nlb, "nlb")},
		"aws classic instead of nlb":       {"aws nlb", nil, func(svc *corev1.Service) { delete(svc.Annotations, nlb) }},
		"gce internal instead of external": {"gce legacy", nil, nil},
		"oci nlb instead of lb":            {"oci", nil, nil},
		"azure internal instead of public": {"azure", public, private},
		"azure public instead of internal": {"azure", private, public},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := listClouds()[c.cloud]
			if c.from == nil {
				c.from = cloud.shape
			}
			if c.then == nil {
				c.then = cloud.other
			}
			operation := ""
			performOn(t, cloud.fresh, func(s *stage) { operation = s.lastWrite(c) })
			performOn(t, cloud.fresh, func(s *stage) { s.oust(c, operation) })
		})
	}
}

// lastWrite returns the operation of the last write before the first deletion while a Service is
// switched.
func (s *stage) lastWrite(c switchCase) (operation string) {
	s.serve(c.from)
	s.subject.Control.Journal.Reset()
	Change("web", "switch", c.then).Do(s.world)
	time.Sleep(time.Hour)
	for _, e := range s.subject.Control.Journal.Entries() {
		if strings.Contains(strings.ToLower(e.Operation), "delete") {
			break
		}
		if e.Write {
			operation = e.Operation
		}
	}
	return operation
}

// serve starts the process and has it create a load balancer.
func (s *stage) serve(shape Shape) {
	s.start()
	Create("web", shape).Do(s.world)
	time.Sleep(10 * time.Minute)
}

func (s *stage) oust(c switchCase, operation string) {
	s.t.Helper()
	s.serve(c.from)
	before, address := s.beside(s.get("web"), reconcile.Job{}).Have, s.address("web")
	refusal := sim.Fault{Kind: sim.FaultError, Operation: operation, WritesOnly: true, Status: http.StatusForbidden}
	if _, err := s.subject.Control.Faults.Add(refusal); err != nil || operation == "" {
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

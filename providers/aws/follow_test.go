package aws_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// A Service with a bad annotation that a new process has never understood keeps its load
// balancer, whose targets continue to follow the nodes.
func TestFollowsNodesWithoutUnderstanding(t *testing.T) {
	setCredentials(t)
	for _, c := range []props.Case{propsCases()[0], propsCases()[1]} {
		virtual.Run(t, c.Name, func(t *testing.T) {
			s := newSubject("")(t)
			nodes := s.Nodes()
			run := func(svc *corev1.Service, last int) reconcile.Result {
				t.Helper()
				res, err := props.Work(t.Context(), props.Process(t, s.Open(t), nodes[:last]), reconcile.Job{Service: svc})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			if res := run(c.Service, len(nodes)-1); !res.Clean {
				t.Fatalf("not made: %v", res.Err)
			}
			bad := c.Service.DeepCopy()
			bad.Annotations[prefix+"aws-load-balancer-healthcheck-interval"] = "often"
			s.Control().Journal.Reset()
			res := run(bad, len(nodes))
			if res.Err != nil || res.Clean || !res.Draft.Problems.Errors() {
				t.Fatalf("err %v, clean %v, problems %v", res.Err, res.Clean, res.Draft.Problems)
			}
			registered := 0
			for _, e := range s.Control().Journal.Entries() {
				switch {
				case e.Operation == "RegisterInstancesWithLoadBalancer" || e.Operation == "RegisterTargets":
					registered++
				case e.Write:
					t.Errorf("%s although the desired state is unknown", e.Operation)
				}
			}
			if want := map[string]int{"clb": 1, "nlb": 2}[c.Name]; registered != want {
				t.Errorf("%d calls register the new node, want %d", registered, want)
			}
		})
	}
}

package aws_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestRulesOfNewGroups: the rules of the nodes that let in the group of another Service stay,
// whichever list of a read is from before that group was created. The source of a rule is then
// a group that no other list shows.
func TestRulesOfNewGroups(t *testing.T) {
	kinds := map[string]struct {
		config string
		class  *string
	}{
		"one group of all":    {controllerConfig, new("service.k8s.aws/nlb")},
		"groups of their own": {controllerConfig + "DisableBackendSecurityGroup = true\n", new("service.k8s.aws/nlb")},
		"classic":             {"", nil},
	}
	for name, kind := range kinds {
		for list := range 4 {
			virtual.Run(t, fmt.Sprint(name, ", list ", list, " is old"), func(t *testing.T) {
				setCredentials(t)
				s := subject{running: simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 6}}), config: kind.config}
				first, second := serviceCase("first", nil, nil).Service, serviceCase("second", nil, nil).Service
				first.Spec.LoadBalancerClass, second.Spec.LoadBalancerClass = kind.class, kind.class
				first.Name, second.Name = "web-1", "web-2"
				second.UID = "22222222-1234-1234-1234-123456789012"
				for i := range second.Spec.Ports {
					second.Spec.Ports[i].NodePort += 10
				}
				addFault(t, s, sim.Fault{Kind: sim.FaultStale, Operation: "none"})
				serveAll(t, s, first)
				before := nodeRules(s)
				time.Sleep(time.Minute)
				r := reconcile.New(s.Open(t), reconcile.Options{})
				r.SetNodes(s.Nodes())
				if _, err := r.Draft(t.Context(), reconcile.Job{Service: first}); err != nil {
					t.Fatal(err)
				}
				addFault(t, s, sim.Fault{Kind: sim.FaultStale, Service: "ec2", Operation: "DescribeSecurityGroups", After: list, Count: 1, BehindTime: time.Hour})
				for run := range 5 {
					if run == 1 {
						r.AllKnown() // the first run must not delete yet
					}
					if _, err := props.Work(t.Context(), r, reconcile.Job{Service: second}); err != nil {
						t.Fatal(err)
					}
				}
				after := nodeRules(s)
				if len(before) == 0 || len(after) < len(before) {
					t.Errorf("%d rules before, %d after", len(before), len(after))
				}
				for _, rule := range before {
					if !slices.Contains(after, rule) {
						t.Errorf("rule %s of another Service is deleted", rule)
					}
				}
			})
		}
	}
}

// serveAll serves a Service with a process of its own.
func serveAll(t *testing.T, s subject, svc *corev1.Service) {
	t.Helper()
	r := props.Process(t, s.Open(t), s.Nodes())
	for range 8 {
		if res, err := props.Work(t.Context(), r, reconcile.Job{Service: svc}); err != nil {
			t.Fatal(err)
		} else if res.Clean {
			return
		}
	}
	t.Fatal("not as desired after 8 runs")
}

func addFault(t *testing.T, s subject, f sim.Fault) {
	t.Helper()
	if _, err := s.Control().Faults.Add(f); err != nil {
		t.Fatal(err)
	}
}

// nodeRules returns the rules of the nodes' group.
func nodeRules(s subject) []string {
	var out []string
	for _, g := range s.running.Cloud.EC2.World().Groups {
		if g.ID != s.running.Cloud.Seed.NodeGroup {
			continue
		}
		for _, rule := range g.Ingress {
			out = append(out, fmt.Sprint(rule))
		}
	}
	return out
}

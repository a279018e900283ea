package aws_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/sim"
)

// servicesToDelete returns a Service of every kind, each with a load balancer that security group rules admit.
func servicesToDelete() map[string]*corev1.Service {
	bare := map[string]string{"aws-load-balancer-disable-nlb-sg": "true", "aws-load-balancer-scheme": "internet-facing"}
	return map[string]*corev1.Service{
		"clb":                    serviceCase("web", nil, nil).Service,
		"clb with named groups":  serviceCase("web", map[string]string{"aws-load-balancer-security-groups": "sg-clients"}, nil).Service,
		"nlb":                    serviceCase("web", map[string]string{"aws-load-balancer-type": "nlb"}, nil).Service,
		"nlb-lbc":                controllerService("web", nil, nil).Service,
		"nlb-lbc without groups": controllerService("web", bare, nil).Service,
		"group of Services":      inGroup(controllerService("web", nil, nil), "front").Service,
	}
}

// nameGroup replaces the placeholder of a security group by the id of one that exists.
func (w *groupWorld) nameGroup(svc *corev1.Service) *corev1.Service {
	const key = prefix + "aws-load-balancer-security-groups"
	svc = svc.DeepCopy()
	if svc.Annotations[key] != "" {
		svc.Annotations[key] = w.s.running.Cloud.Seed.DefaultGroup
	}
	return svc
}

// rules lists every inbound rule of every security group.
func (w *groupWorld) rules() (out []string) {
	for _, g := range w.s.running.Cloud.EC2.World().Groups {
		for _, r := range g.Ingress {
			out = append(out, fmt.Sprintf("%s %+v", g.ID, r))
		}
	}
	slices.Sort(out)
	return out
}

// protect switches the deletion protection of all Network Load Balancers.
func (w *groupWorld) protect(on string) {
	w.Helper()
	api := elasticloadbalancingv2.NewFromConfig(w.s.running.Config)
	lbs, err := api.DescribeLoadBalancers(w.Context(), &elasticloadbalancingv2.DescribeLoadBalancersInput{})
	if err != nil {
		w.Fatal(err)
	}
	for _, lb := range lbs.LoadBalancers {
		_, err := api.ModifyLoadBalancerAttributes(w.Context(), &elasticloadbalancingv2.ModifyLoadBalancerAttributesInput{
			LoadBalancerArn: lb.LoadBalancerArn, Attributes: []types.LoadBalancerAttribute{{Key: aws.String("deletion_protection.enabled"), Value: &on}}})
		if err != nil {
			w.Fatal(err)
		}
	}
}

// TestRefusedDeletionKeepsRules verifies that no rule is revoked while AWS refuses to delete
// the load balancer, and that everything is deleted once it does not.
func TestRefusedDeletionKeepsRules(t *testing.T) {
	setCredentials(t)
	refuse := func(status int, code string) func(w *groupWorld) func() {
		return func(w *groupWorld) func() {
			if _, err := w.s.Control().Faults.Add(sim.Fault{Operation: "DeleteLoadBalancer", Kind: sim.FaultError, Status: status, Code: code}); err != nil {
				w.Fatal(err)
			}
			return w.s.Control().Faults.Clear
		}
	}
	refusals := map[string]func(w *groupWorld) func(){
		"access denied":    refuse(403, "AccessDenied"),
		"endpoint service": refuse(400, "ResourceInUse"),
		"deletion protection": func(w *groupWorld) func() {
			w.protect("true")
			return func() { w.protect("false") }
		},
	}
	for kind, svc := range servicesToDelete() {
		for name, refuse := range refusals {
			if name != "access denied" && (kind == "clb" || kind == "clb with named groups") {
				continue // Classic Load Balancers have neither
			}
			for _, restarts := range []bool{false, true} {
				t.Run(fmt.Sprint(kind, "/", name, "/", restarts), func(t *testing.T) {
					t.Parallel()
					inWorld(t, func(w *groupWorld) {
						before, svc := w.state(), w.nameGroup(svc)
						w.good(svc)
						rules := w.rules()
						admit := refuse(w)
						w.live = nil
						for range 3 {
							if restarts {
								w.restart()
							}
							if res := w.run(svc, true); res.Released {
								w.Fatal("released, although the load balancer was not deleted")
							}
							if diff := cmp.Diff(rules, w.rules()); diff != "" {
								w.Fatalf("rules of security groups while the deletion is refused (-before +after):\n%s", diff)
							}
						}
						admit()
						w.release(svc)
						if diff := cmp.Diff(before, w.state()); diff != "" {
							w.Errorf("something is left (-before +after):\n%s", diff)
						}
					})
				})
			}
		}
	}
}

// TestDeletionCrash verifies that a process that stops at any writing call of a release leaves
// nothing that its successor does not find.
func TestDeletionCrash(t *testing.T) {
	setCredentials(t)
	for kind, svc := range servicesToDelete() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for k := 0; k < 6; k++ {
				inWorld(t, func(w *groupWorld) {
					before, svc := w.state(), w.nameGroup(svc)
					w.good(svc)
					for _, f := range []sim.Fault{
						{WritesOnly: true, After: k, Count: 1, Kind: sim.FaultCutAfter, Status: 403, Code: "AccessDenied"},
						{WritesOnly: true, After: k + 1, Kind: sim.FaultError, Status: 403, Code: "AccessDenied"},
					} {
						if _, err := w.s.Control().Faults.Add(f); err != nil {
							w.Fatal(err)
						}
					}
					w.run(svc, true)
					w.s.Control().Faults.Clear()
					w.live = nil
					w.restart()
					w.release(svc)
					if diff := cmp.Diff(before, w.state()); diff != "" {
						w.Fatalf("stopped at writing call %d: something is left (-before +after):\n%s", k+1, diff)
					}
				})
			}
		})
	}
}

// TestProtectionSwitchedOffDuringDeletion verifies that a Service in deletion whose user sets
// deletion_protection.enabled=false is deleted, in the process that served it or in another.
func TestProtectionSwitchedOffDuringDeletion(t *testing.T) {
	setCredentials(t)
	for _, kind := range []string{"nlb-lbc", "nlb-lbc without groups", "group of Services"} {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, "/", restarts), func(t *testing.T) {
				t.Parallel()
				inWorld(t, func(w *groupWorld) {
					const key = prefix + "aws-load-balancer-attributes"
					before, svc := w.state(), servicesToDelete()[kind].DeepCopy()
					svc.Annotations[key] = "deletion_protection.enabled=true"
					w.good(svc)
					w.live = nil
					for range 3 {
						if w.run(svc, true).Released {
							w.Fatal("released under deletion protection")
						}
					}
					svc.Annotations[key] = "deletion_protection.enabled=false,no.such.attribute"
					if restarts {
						w.restart()
					}
					for range 3 {
						if w.run(svc, true).Released {
							w.Fatal("released under deletion protection, with an annotation that cannot be parsed")
						}
					}
					svc.Annotations[key] = "deletion_protection.enabled=false"
					w.release(svc)
					if diff := cmp.Diff(before, w.state()); diff != "" {
						w.Errorf("something is left (-before +after):\n%s", diff)
					}
				})
			})
		}
	}
}

// TestGroupOfVanishedBalancer verifies that a release deletes target groups that still name a
// load balancer which does not exist any more.
func TestGroupOfVanishedBalancer(t *testing.T) {
	setCredentials(t)
	for _, kind := range []string{"nlb", "nlb-lbc"} {
		t.Run(kind, func(t *testing.T) {
			inWorld(t, func(w *groupWorld) {
				before, svc := w.state(), servicesToDelete()[kind].DeepCopy()
				w.good(svc)
				w.live = nil
				if _, err := w.s.Control().Faults.Add(sim.Fault{Operation: "DescribeTargetGroups", Kind: sim.FaultStale, BehindWrites: 1}); err != nil {
					w.Fatal(err)
				}
				api := elasticloadbalancingv2.NewFromConfig(w.s.running.Config)
				lbs, err := api.DescribeLoadBalancers(w.Context(), &elasticloadbalancingv2.DescribeLoadBalancersInput{})
				if err != nil {
					w.Fatal(err)
				}
				if _, err := api.DeleteLoadBalancer(w.Context(), &elasticloadbalancingv2.DeleteLoadBalancerInput{LoadBalancerArn: lbs.LoadBalancers[0].LoadBalancerArn}); err != nil {
					w.Fatal(err)
				}
				w.restart()
				w.run(svc, true)
				w.s.Control().Faults.Clear()
				if diff := cmp.Diff(before, w.state()); diff != "" {
					w.Errorf("something is left (-before +after):\n%s", diff)
				}
			})
		})
	}
}

package aws_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// arn is the identifier of a load balancer or of a target group.
var arn = regexp.MustCompile(`arn:aws:elasticloadbalancing:[^"]+:(?:loadbalancer|targetgroup)/[^"]+`)

// resourceIDs returns the existing load balancers and target groups.
func resourceIDs(s props.Subject) []string {
	text, err := json.Marshal(s.Control().State())
	if err != nil {
		panic(err) // the state is served as JSON
	}
	found := arn.FindAllString(string(text), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestKindsOfNetworkLoadBalancers: a Service that moves from one kind of Network Load
// Balancer to the other one keeps its load balancer, whose ARN private links depend on,
// and its target groups.
func TestKindsOfNetworkLoadBalancers(t *testing.T) {
	setCredentials(t)
	for name, config := range map[string]string{"without groups": "", "with groups": "\n[Global]\nNLBSecurityGroupMode = Managed\n"} {
		t.Run(name, func(t *testing.T) {
			own := serviceCase("nlb", map[string]string{"aws-load-balancer-type": "nlb"}, nil)
			controllers := serviceCase("nlb-lbc", map[string]string{
				"aws-load-balancer-type": "external", "aws-load-balancer-nlb-target-type": "instance", "aws-load-balancer-scheme": "internet-facing",
			}, nil)
			if config == "" {
				controllers.Service.Annotations[prefix+"aws-load-balancer-disable-nlb-sg"] = "true"
			}
			props.Stays(t, controllerWith(config), own, controllers, resourceIDs)
			props.Stays(t, controllerWith(config), controllers, own, resourceIDs)
		})
	}
}

// without serves no more Services of kind LBC from here on.
func (f *traffic) without(config string) {
	f.subject.config = config
	f.restart()
	f.subject.Control().Journal.Reset()
}

// writes are the writing calls since.
func (f *traffic) writes() []string {
	var out []string
	for _, e := range f.subject.Control().Journal.Entries() {
		if e.Write {
			out = append(out, e.Operation)
		}
	}
	return out
}

// state is what there is in the cloud.
func (f *traffic) state() string { return props.State(f, f.subject.Control()) }

// release has a Service go.
func (f *traffic) release(svc *corev1.Service) {
	f.Helper()
	for range 20 {
		if res, err := props.Work(f.Context(), f.r, reconcile.Job{Service: svc, Release: true}); err != nil {
			f.Fatal(err)
		} else if res.Released {
			return
		}
		time.Sleep(time.Minute)
	}
	f.Fatal("not released after 20 rounds")
}

// TestMovedIsFoundWithoutTheKind: a load balancer that was one of kind LBC and is one of
// kind NLB has a name of the one and tags of both. It is the Service's also when kind
// LBC is no longer served: it is updated, found as an orphan, and deleted with
// everything that belongs to it.
func TestMovedIsFoundWithoutTheKind(t *testing.T) {
	setCredentials(t)
	one := func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }
	nlb := serviceCase("switch", map[string]string{"aws-load-balancer-type": "nlb"}, one).Service
	two := serviceCase("switch", map[string]string{"aws-load-balancer-type": "nlb"}, nil).Service
	for name, c := range map[string]struct {
		config string
		more   map[string]string
	}{
		"without groups":         {"", map[string]string{"aws-load-balancer-disable-nlb-sg": "true"}},
		"with groups":            {"[Global]\nNLBSecurityGroupMode = Managed\n", nil},
		"with a name of its own": {"", map[string]string{"aws-load-balancer-disable-nlb-sg": "true", "aws-load-balancer-name": "front"}},
	} {
		annotations := props.Prefixed(prefix, c.more)
		annotations[prefix+"aws-load-balancer-scheme"] = "internet-facing"
		annotations[prefix+"aws-load-balancer-type"], annotations[prefix+"aws-load-balancer-nlb-target-type"] = "external", "instance"
		from := props.Service("switch", annotations, one).Service
		for _, orphan := range []bool{false, true} {
			if orphan {
				name += ", then an orphan"
			}
			virtual.Run(t, name, func(t *testing.T) {
				f := newTraffic(t, c.config, 0)
				before := f.state()
				f.serve(from, false, false)
				f.serve(nlb, false, false)
				was := balancersOf(f.subject)
				f.without("\n" + c.config)
				f.serve(nlb, false, false)
				if got := f.writes(); len(got) > 0 {
					t.Errorf("wrote %v, want nothing: all is as wanted", got)
				}
				f.serve(two, false, false)
				if diff := cmp.Diff(was, balancersOf(f.subject)); diff != "" || len(f.listeners()) != 2 {
					t.Errorf("%d listeners, want 2; load balancers (-before +after):\n%s", len(f.listeners()), diff)
				}
				if f.restart(); orphan {
					f.sweep()
				} else {
					f.release(two)
				}
				if diff := cmp.Diff(before, f.state()); diff != "" {
					t.Errorf("something is left (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// sweep removes what belongs to no Service that lives, and there is none.
func (f *traffic) sweep() { props.Sweep(f, f.r, providers.Live{Services: []stack.Owner{}}) }

// TestOthersAreNotTakenForMoved: resources of the AWS Load Balancer Controller for a
// Service that was moved from it are not the Service's, where kind LBC is not served.
func TestOthersAreNotTakenForMoved(t *testing.T) {
	setCredentials(t)
	virtual.Test(t, func(t *testing.T) {
		from := controllerService("switch", map[string]string{"aws-load-balancer-scheme": "internet-facing"}, nil).Service
		to := serviceCase("switch", map[string]string{"aws-load-balancer-type": "nlb"}, nil).Service
		f := newTraffic(t, "", 0)
		f.serve(from, false, false)
		was := resourceIDs(f.subject)
		f.without("")
		f.serve(to, false, false)
		f.release(to)
		f.sweep()
		if diff := cmp.Diff(was, resourceIDs(f.subject)); diff != "" {
			t.Errorf("what the other controller has (-before +after):\n%s", diff)
		}
	})
}

// TestMovedAndDied: a process dies when the load balancer of such a Service is deleted,
// and its target groups and security group are not. By the tags of both kinds they are
// found, also when kind LBC is no longer served.
func TestMovedAndDied(t *testing.T) {
	setCredentials(t)
	nlb := serviceCase("switch", map[string]string{"aws-load-balancer-type": "nlb"}, nil).Service
	from := serviceCase("switch", map[string]string{
		"aws-load-balancer-type": "external", "aws-load-balancer-nlb-target-type": "instance", "aws-load-balancer-scheme": "internet-facing",
	}, nil).Service
	const config = "[Global]\nNLBSecurityGroupMode = Managed\n"
	for name, orphan := range map[string]bool{"then it goes": false, "then an orphan": true} {
		virtual.Run(t, name, func(t *testing.T) {
			f := newTraffic(t, config, 0)
			before := f.state()
			f.serve(from, false, false)
			f.serve(nlb, false, false)
			f.without("\n" + config)
			f.serve(nlb, false, false)
			for _, operation := range []string{"DeleteTargetGroup", "DeleteSecurityGroup"} {
				fault := sim.Fault{Operation: operation, Kind: sim.FaultError, Code: "ServiceUnavailable", Status: 503}
				if _, err := f.subject.Control().Faults.Add(fault); err != nil {
					t.Fatal(err)
				}
			}
			d, err := f.r.Draft(t.Context(), reconcile.Job{Service: nlb, Release: true})
			if err != nil {
				t.Fatal(err)
			}
			f.r.Run(t.Context(), d, plan.OpenGates)
			if n := len(balancersOf(f.subject)); n != 0 {
				t.Fatalf("%d load balancers are left, want none", n)
			}
			f.subject.Control().Faults.Clear()
			if f.restart(); orphan {
				f.sweep()
			} else {
				f.release(nlb)
			}
			if diff := cmp.Diff(before, f.state()); diff != "" {
				t.Errorf("something is left (-before +after):\n%s", diff)
			}
		})
	}
}

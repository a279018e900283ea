package e2e

import (
	"errors"
	"fmt"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// TestAppliedAgainOnAWS: the deletion of a load balancer is refused, a user removes the
// finalizer of the Service, and applies the same manifest again. The later Service adopts what
// has the tags of its name. The release of the first one deletes only what the later one does
// not have, as soon as the cloud accepts that.
func TestAppliedAgainOnAWS(t *testing.T) {
	w := startAgain(t)
	w.controller()
	w.waitInDeletion()
	w.applyAgain()
	first := w.serves()
	since := w.now()
	w.must(w.Sim.Disarm(t.Context()))
	w.eventually("the security group of the first Service is deleted", func() error {
		groups, err := w.ownGroups()
		return errors.Join(err, diffError("number of security groups", 1, len(groups)))
	})
	w.must(w.onlyGroupsDeleted(since))
	w.must(diffError("load balancer", first, w.serves()))
	w.remove(w.svc)
	w.asBefore(w.before)
}

// TestAppliedAgainAfterRestartOnAWS: the same, and the controller that knows the first Service
// ends before the finalizer is removed, or after the manifest is applied again. What the first
// Service alone had is left to the command line, once no Service of the name exists.
func TestAppliedAgainAfterRestartOnAWS(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("applied before it ends: %v", after), func(t *testing.T) {
			w := startAgain(t)
			controller := w.controller()
			w.waitInDeletion()
			if after {
				w.applyAgain()
				w.serves()
			}
			w.must(controller.Stop(limit))
			if !after {
				w.applyAgain()
			}
			since := w.now()
			w.must(w.Sim.Disarm(t.Context()))
			w.controller()
			first := w.serves()
			w.settled(w.meter())
			w.must(w.onlyGroupsDeleted(since))
			w.must(diffError("load balancer", first, w.serves()))
			w.remove(w.svc)
			if out, code := w.berth("orphans", "--delete", "--yes"); code != plan.ExitNothing {
				t.Errorf("orphans --delete --yes: exit code %d\n%s", code, out)
			}
			w.asBefore(w.before)
		})
	}
}

// again is a world with one Service of the AWS Load Balancer Controller's kind, which is
// applied twice.
type again struct {
	*world
	svc    corev1.Service
	before map[string]any
}

func startAgain(t *testing.T) *again {
	t.Helper()
	w := startWorld(t, 2)
	w.serveController()
	return &again{world: w, svc: w.service("web", setClass("service.k8s.aws/nlb"), setPorts(80, 1140, 443, 1143)), before: w.state()}
}

// waitInDeletion creates the Service and deletes it while the cloud refuses that.
func (a *again) waitInDeletion() {
	a.t.Helper()
	a.must(a.Create(a.t.Context(), a.svc))
	a.programmed(a.svc)
	for _, f := range []sim.Fault{
		{Operation: "DeleteLoadBalancer", Code: "OperationNotPermitted", Message: "Load balancer cannot be deleted because deletion protection is enabled"},
		{Operation: "DeleteSecurityGroup", Code: "DependencyViolation", Message: "resource has a dependent object"},
	} {
		f.Kind, f.Status = sim.FaultError, 400
		a.must(a.Sim.Arm(a.t.Context(), f))
	}
	a.must(a.Delete(a.t.Context(), a.svc))
	a.eventually("the deletion is refused", func() error {
		svc, err := a.Get(a.t.Context(), a.ns, a.svc.Name)
		if err != nil {
			return err
		}
		return requireWords(harness.Condition(svc, status.TypeProgrammed).Message, "deletion protection")
	})
}

// applyAgain removes the finalizer of the Service, and creates it again.
func (a *again) applyAgain() {
	a.t.Helper()
	was := a.get(a.svc.Name).UID
	a.update(a.svc.Name, func(svc *corev1.Service) { svc.Finalizers = nil })
	if err := harness.Eventually(a.t.Context(), limit, a.Gone(a.svc)); err != nil {
		a.t.Fatal(err)
	}
	a.must(a.Create(a.t.Context(), a.svc))
	if now := a.get(a.svc.Name).UID; now == was {
		a.t.Fatalf("the Service still has the UID %s", was)
	}
}

// serves waits until the Service is served with every part, and returns its load balancer.
func (a *again) serves() balancer {
	a.t.Helper()
	a.programmed(a.svc)
	a.condition(a.svc.Name, status.TypeProgrammed, metav1.ConditionTrue, status.ReasonProgrammed)
	all, err := a.balancers()
	a.must(err)
	if len(all) != 1 {
		a.t.Fatalf("want one load balancer, got %+v", all)
	}
	b := all[0]
	live, err := a.aws.elbv2.DescribeLoadBalancers(a.t.Context(), &elbv2.DescribeLoadBalancersInput{})
	a.must(err)
	b.Ranges, err = a.ranges(a.t.Context(), live.LoadBalancers[0].SecurityGroups)
	a.must(errors.Join(err,
		diffError("address", lowerCase(b.Host), a.hostOf(a.svc.Name)),
		diffError("listeners", []string{"TCP:443>TCP:1143", "TCP:80>TCP:1140"}, b.Listeners),
		diffError("members", append(onPort(443, a.machines()...), onPort(80, a.machines()...)...), b.Members),
		diffError("rules of clients", []string{"443 0.0.0.0/0", "80 0.0.0.0/0"}, b.Ranges),
	))
	return b
}

// ownGroups lists the security groups that belong to one Service.
func (a *again) ownGroups() ([]ec2types.SecurityGroup, error) {
	list, err := a.aws.ec2.DescribeSecurityGroups(a.t.Context(), &ec2.DescribeSecurityGroupsInput{
		Filters: []ec2types.Filter{{Name: awssdk.String("group-name"), Values: []string{"k8s-*-" + a.svc.Name + "-*"}}},
	})
	if err != nil {
		return nil, err
	}
	return list.SecurityGroups, nil
}

// onlyGroupsDeleted returns an error for a deletion since a call that is none of a security
// group.
func (a *again) onlyGroupsDeleted(since int) error {
	var all error
	for _, e := range a.written(since) {
		switch {
		case !e.Committed:
		case e.Operation == "DeleteLoadBalancer", e.Operation == "DeleteTargetGroup", e.Operation == "DeleteListener",
			e.Operation == "DeregisterTargets", e.Operation == "RevokeSecurityGroupIngress":
			all = errors.Join(all, fmt.Errorf("%s of the later Service: %v", e.Operation, e.Request))
		}
	}
	return all
}

package wire

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/engine"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	simarm "github.com/berth-lb/berth/test/sim/azure/arm"
)

// stepOf is the first step on a kind that makes the n-th Service, alone.
func (r *rig) stepOf(n int, kind stack.Kind) plan.Step {
	r.Helper()
	svc := numberedService(n, model.Internal, func(s *corev1.Service) {
		s.Spec.LoadBalancerIP = fmt.Sprintf("10.240.3.%d", n+10)
		s.Spec.LoadBalancerSourceRanges = []string{fmt.Sprintf("198.51.100.%d/32", n)}
	})
	found := r.Read(false, svc)[0]
	for _, step := range r.Draft(svc, false, found.Have, found.Facts).Steps {
		if step.ID.Key.Kind == kind {
			step.Needs, step.Behind, step.Gate = nil, nil, plan.Gate{}
			return step
		}
	}
	r.Fatalf("nothing makes a %s", kind)
	return plan.Step{}
}

// rejectedOn returns steps of many Services that one operation writes. spoil turns the
// spec of a step into one that Azure rejects.
func rejectedOn(kind stack.Kind, operation, mark string, spoil func(stack.Spec) stack.Spec) func(t *testing.T) props.Shared {
	return func(t *testing.T) props.Shared {
		t.Helper()
		r := newRig(t, simazure.Options{ARM: simarm.Options{Async: simarm.AsyncNone}})
		return props.Shared{
			Engine: engine.New(r.Session.Apply, r.Ledger, engine.Options{PerOwner: 100}), Mark: mark,
			Calls: func() int { return r.writes(operation) },
			Step: func(n int, bad bool) plan.Step {
				step := r.stepOf(n, kind)
				if bad {
					step.Target.Spec = spoil(step.Target.Spec)
				}
				return step
			},
		}
	}
}

// TestRejectedSecurityRules: the rules of many Services in the network security group, of
// which some are for what is no address.
func TestRejectedSecurityRules(t *testing.T) {
	const bad = "192.0.2.256"
	props.RejectedMembers(t, rejectedOn(model.KindAccess, "network.SecurityGroups.CreateOrUpdate", bad, func(spec stack.Spec) stack.Spec {
		out := spec.(model.Access)
		out.Sources = []string{bad}
		return out
	}))
}

// TestRejectedFrontends: the frontends and rules of many Services on one load balancer, some
// of them in a subnet that does not exist.
func TestRejectedFrontends(t *testing.T) {
	const bad = "nowhere"
	props.RejectedMembers(t, rejectedOn(model.KindEntries, "network.LoadBalancers.CreateOrUpdate", bad, func(spec stack.Spec) stack.Spec {
		out := spec.(model.Entries)
		out.Frontends = append([]model.Frontend{}, out.Frontends...)
		at := strings.LastIndex(out.Frontends[0].Subnet, "/")
		out.Frontends[0].Subnet = out.Frontends[0].Subnet[:at+1] + bad
		return out
	}))
}

// TestRejectedPods: the pods of many Services at the service gateway, of which some have
// an address that is no pod's of theirs.
func TestRejectedPods(t *testing.T) {
	const bad = "fd00::bad"
	props.RejectedMembers(t, func(t *testing.T) props.Shared {
		r := podRig(t, simazure.Options{})
		return props.Shared{
			Engine: engine.New(r.Session.Apply, r.Ledger, engine.Options{PerOwner: 100}), Mark: bad,
			Calls: func() int { return r.writes("network.ServiceGateways.UpdateAddressLocations") },
			Step: func(n int, wrong bool) plan.Step {
				svc := toPods(n)
				r.Slices = nil
				r.AllTogether(false, svc)
				r.Slices = []*discoveryv1.EndpointSlice{r.pods(0)}
				found := r.Read(false, svc)[0]
				step := r.Draft(svc, false, found.Have, found.Facts).Steps[0]
				if wrong {
					pods := step.Target.Spec.(model.Pods)
					pods.Addresses = []model.PodAddress{{Location: pods.Addresses[0].Location, Address: bad}}
					step.Target.Spec = pods
				}
				return step
			},
		}
	})
}

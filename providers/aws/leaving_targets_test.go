package aws_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// switchover is a Service whose nodes and pods are replaced while its listener is switched.
type switchover struct {
	*traffic
	rolled bool // other pods, and one node less
}

func (f *switchover) slices(svc *corev1.Service) []*discoveryv1.EndpointSlice {
	out := f.subject.Slices(svc)
	for _, slice := range out {
		for i := range slice.Endpoints {
			if addr := netip.MustParseAddr(slice.Endpoints[i].Addresses[0]); f.rolled {
				for range 40 {
					addr = addr.Next()
				}
				slice.Endpoints[i].Addresses = []string{addr.String()}
			}
		}
	}
	return out
}

// roll replaces all pods and removes a node.
func (f *switchover) roll() {
	f.rolled = true
	f.r.SetNodes(f.subject.Nodes()[1:])
}

// runOnce drafts and runs the Service once, whatever is refused.
func (f *switchover) runOnce(svc *corev1.Service) reconcile.Result {
	f.Helper()
	d, err := f.r.Draft(f.Context(), reconcile.Job{Service: svc, Slices: f.slices(svc)})
	if err != nil {
		f.Fatal(err)
	}
	return f.r.Run(f.Context(), d, f.gates)
}

// served lists the targets of the groups that the one listener gives traffic to.
func (f *switchover) served() (out []string) {
	f.Helper()
	groups := f.listeners()[0].DefaultActions[0].ForwardConfig.TargetGroups
	for _, g := range groups {
		if len(groups) > 1 && awssdk.ToInt32(g.Weight) == 0 {
			continue
		}
		answer, err := f.cloud.DescribeTargetHealth(f.Context(), &elasticloadbalancingv2.DescribeTargetHealthInput{TargetGroupArn: g.TargetGroupArn})
		if err != nil {
			f.Fatal(err)
		}
		for _, d := range answer.TargetHealthDescriptions {
			if d.TargetHealth.State != "draining" {
				out = append(out, awssdk.ToString(d.Target.Id))
			}
		}
	}
	slices.Sort(out)
	return out
}

// wantServed lists the targets that serve after the rollout: pods or instances.
func (f *switchover) wantServed(svc *corev1.Service, pods bool) (out []string) {
	if pods {
		for _, slice := range f.slices(svc) {
			for _, e := range slice.Endpoints {
				if slice.AddressType == discoveryv1.AddressTypeIPv4 {
					out = append(out, e.Addresses...)
				}
			}
		}
	} else {
		for _, node := range f.subject.running.Cloud.Seed.Nodes[1:] {
			out = append(out, node.InstanceID)
		}
	}
	slices.Sort(out)
	return out
}

// TestOldTargetsFollow verifies that the target group that a listener sends to follows nodes and
// pods while AWS refuses to switch the listener, or the switch waits.
func TestOldTargetsFollow(t *testing.T) {
	setCredentials(t)
	machines, pods := groupSwitches()["nodes to pods"][0].Service, groupSwitches()["nodes to pods"][1].Service
	dual := pods.DeepCopy()
	dual.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
	dual.Spec.IPFamilyPolicy = new(corev1.IPFamilyPolicyPreferDualStack)
	for name, c := range map[string]struct {
		from, to               *corev1.Service
		pods, refuse, restarts bool
	}{
		"another family":                       {from: pods, to: dual, pods: true},
		"nodes to pods, refused":               {from: machines, to: pods, refuse: true},
		"nodes to pods, refused, restarted":    {from: machines, to: pods, refuse: true, restarts: true},
		"pods to nodes, refused":               {from: pods, to: machines, refuse: true, pods: true},
		"pods to nodes, refused, restarted":    {from: pods, to: machines, refuse: true, restarts: true, pods: true},
		"nodes to pods while they are checked": {from: machines, to: pods},
		"pods to nodes while they are checked": {from: pods, to: machines, pods: true},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			f := &switchover{traffic: newTraffic(t, "", firstChecks)}
			f.serve(c.from, false, false)
			time.Sleep(2 * firstChecks)
			if c.refuse {
				if _, err := f.subject.Control().Faults.Add(sim.Fault{Operation: "ModifyListener", Kind: sim.FaultError, Status: 403, Code: "AccessDenied"}); err != nil {
					t.Fatal(err)
				}
			}
			f.runOnce(c.to)
			f.roll()
			if c.restarts {
				f.r = props.Process(f, f.subject.Open(f), f.subject.Nodes()[1:])
			}
			for range 3 {
				f.runOnce(c.to)
				time.Sleep(time.Second)
			}
			if diff := cmp.Diff(f.wantServed(c.to, c.pods), f.served()); diff != "" {
				t.Errorf("targets that get the traffic (-want +got):\n%s", diff)
			}
		})
	}
}

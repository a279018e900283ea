package aws_test

import (
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	berth "github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	simaws "github.com/berth-lb/berth/test/sim/aws"
	"github.com/berth-lb/berth/test/sim/aws/ec2"
	"github.com/berth-lb/berth/test/sim/aws/elbv2"
	"github.com/berth-lb/berth/test/sim/aws/simtest"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// firstChecks is how long the simulated cloud checks a target before it is healthy.
const firstChecks = 40 * time.Second

// traffic is a Service whose clients come while its target groups are switched.
type traffic struct {
	*testing.T
	subject podded
	cloud   *elasticloadbalancingv2.Client
	r       *reconcile.Reconciler
	since   time.Time // of the first gate that was met
	manual  []string  // the manual actions reported to the user
}

func newTraffic(t *testing.T, config string, checks time.Duration) *traffic {
	running := simtest.Start(t, simaws.Options{Seed: simaws.SeedOptions{Nodes: 3}, ELBV2: elbv2.Options{Delays: elbv2.Delays{Healthy: checks}}})
	f := &traffic{
		T: t, cloud: elasticloadbalancingv2.NewFromConfig(running.Config),
		subject: podded{subject{running: running, config: controllerConfig + config, notes: berth.NewNotes(fake.NewClientset())}},
	}
	f.restart()
	return f
}

// restart begins a process that knows nothing but the nodes.
func (f *traffic) restart() {
	f.r = props.Process(f, f.subject.Open(f), f.subject.Nodes())
}

// gates count from when the first one is met.
func (f *traffic) gates(g plan.Gate) time.Duration {
	if f.since.IsZero() {
		f.since = time.Now()
	}
	return time.Until(f.since.Add(g.After))
}

// serve brings the Service to what it asks for, and looks every second at what clients meet.
func (f *traffic) serve(svc *corev1.Service, look, restarts bool) {
	f.Helper()
	f.since = time.Time{}
	for range 100 {
		if restarts {
			f.restart()
		}
		res := f.once(svc)
		for range max(1, int(min(res.Wait, 10*time.Second)/time.Second)) {
			if look {
				f.look()
			}
			time.Sleep(time.Second)
		}
		if res.Clean {
			return
		}
	}
	f.Fatal("not as wanted after 100 rounds")
}

// once plans and runs a Service one time.
func (f *traffic) once(svc *corev1.Service) reconcile.Result {
	f.Helper()
	d, err := f.r.Draft(f.Context(), reconcile.Job{Service: svc, Slices: f.subject.Slices(svc)})
	if err != nil {
		f.Fatal(err)
	}
	if d.Problems.Errors() {
		f.Fatal(d.Problems.Strings())
	}
	res := f.r.Run(f.Context(), d, f.gates)
	if res.Err != nil {
		f.Fatal(res.Err)
	}
	f.manual = append(f.manual, res.Manual...)
	return res
}

// listeners are those of all load balancers.
func (f *traffic) listeners() []types.Listener {
	f.Helper()
	var out []types.Listener
	lbs, err := f.cloud.DescribeLoadBalancers(f.Context(), &elasticloadbalancingv2.DescribeLoadBalancersInput{})
	if err != nil {
		f.Fatal(err)
	}
	for _, lb := range lbs.LoadBalancers {
		found, err := f.cloud.DescribeListeners(f.Context(), &elasticloadbalancingv2.DescribeListenersInput{LoadBalancerArn: lb.LoadBalancerArn})
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, found.Listeners...)
	}
	return out
}

// healthy counts the healthy targets of a target group.
func (f *traffic) healthy(group *string) int {
	f.Helper()
	answer, err := f.cloud.DescribeTargetHealth(f.Context(), &elasticloadbalancingv2.DescribeTargetHealthInput{TargetGroupArn: group})
	if err != nil {
		f.Fatal(err)
	}
	n := 0
	for _, d := range answer.TargetHealthDescriptions {
		if d.TargetHealth.State == types.TargetHealthStateEnumHealthy {
			n++
		}
	}
	return n
}

// look fails where a group that gets traffic has no healthy target.
func (f *traffic) look() {
	f.Helper()
	for _, l := range f.listeners() {
		groups := l.DefaultActions[0].ForwardConfig.TargetGroups
		for _, g := range groups {
			weighs := len(groups) == 1 || awssdk.ToInt32(g.Weight) > 0
			switch {
			case weighs && f.healthy(g.TargetGroupArn) == 0:
				f.Errorf("the listener of port %d sends to %s, which has no healthy target", awssdk.ToInt32(l.Port), awssdk.ToString(g.TargetGroupArn))
			case weighs && !f.admitted(g.TargetGroupArn):
				f.Errorf("the listener of port %d sends to %s, whose targets nodes do not let in", awssdk.ToInt32(l.Port), awssdk.ToString(g.TargetGroupArn))
			}
		}
	}
}

// admitted reports whether the group of the nodes admits traffic to the targets of a
// target group.
func (f *traffic) admitted(group *string) bool {
	f.Helper()
	answer, err := f.cloud.DescribeTargetHealth(f.Context(), &elasticloadbalancingv2.DescribeTargetHealthInput{TargetGroupArn: group})
	if err != nil {
		f.Fatal(err)
	}
	nodes := f.subject.running.Cloud.Seed.NodeGroup
	for _, g := range f.subject.running.Cloud.EC2.World().Groups {
		for _, d := range answer.TargetHealthDescriptions {
			port := int(awssdk.ToInt32(d.Target.Port))
			if g.ID == nodes && !slices.ContainsFunc(g.Ingress, func(r ec2.Rule) bool { return r.Protocol == "tcp" && r.From <= port && port <= r.To }) {
				return false
			}
		}
	}
	return true
}

// groups are the existing target groups.
func (f *traffic) groups() []types.TargetGroup {
	f.Helper()
	out, err := f.cloud.DescribeTargetGroups(f.Context(), &elasticloadbalancingv2.DescribeTargetGroupsInput{})
	if err != nil {
		f.Fatal(err)
	}
	return out.TargetGroups
}

// groupSwitches returns changes that need another target group while the old targets
// keep serving.
func groupSwitches() map[string][2]props.Case {
	one := func(s *corev1.ServiceSpec) { s.Ports = s.Ports[:1] }
	with := func(more map[string]string) map[string]string {
		out := map[string]string{"aws-load-balancer-scheme": "internet-facing"}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	tls := map[string]string{"aws-load-balancer-ssl-cert": certificate}
	ssl := map[string]string{"aws-load-balancer-ssl-cert": certificate, "aws-load-balancer-backend-protocol": "ssl"}
	bare := map[string]string{"aws-load-balancer-disable-nlb-sg": "true"}
	barePods := map[string]string{"aws-load-balancer-disable-nlb-sg": "true", "aws-load-balancer-nlb-target-type": "ip"}
	nlb := func(more map[string]string) props.Case {
		all := map[string]string{"aws-load-balancer-type": "nlb"}
		for k, v := range more {
			all[k] = v
		}
		return serviceCase("switch", all, one)
	}
	machines := controllerService("switch", with(nil), one)
	pods := controllerService("switch", with(map[string]string{"aws-load-balancer-nlb-target-type": "ip"}), one)
	return map[string][2]props.Case{
		"nodes to pods":                 {machines, pods},
		"pods to nodes":                 {pods, machines},
		"nodes to pods, without groups": {controllerService("switch", with(bare), one), controllerService("switch", with(barePods), one)},
		"TLS to the nodes":              {controllerService("switch", with(tls), one), controllerService("switch", with(ssl), one)},
		"TLS to the nodes of kind nlb":  {nlb(tls), nlb(ssl)},
	}
}

// TestTrafficDuringSwitch: while a listener switches from one target group to another,
// every group that it sends to has a healthy target. In the end the new group is the
// only one, even if each step is another process's.
func TestTrafficDuringSwitch(t *testing.T) {
	setCredentials(t)
	for name, c := range groupSwitches() {
		for _, restarts := range []bool{false, true} {
			if restarts {
				name += ", with restarts"
			}
			virtual.Run(t, name, func(t *testing.T) {
				f := newTraffic(t, "", firstChecks)
				f.serve(c[0].Service, false, false)
				time.Sleep(2 * firstChecks)
				old := f.groups()
				f.serve(c[1].Service, true, restarts)
				now := f.groups()
				if len(old) != 1 || len(now) != 1 || *old[0].TargetGroupArn == *now[0].TargetGroupArn {
					t.Fatalf("target groups: %d before, %d after the switch, want one and another one", len(old), len(now))
				}
				if groups := f.listeners()[0].DefaultActions[0].ForwardConfig.TargetGroups; len(groups) != 1 || *groups[0].TargetGroupArn != *now[0].TargetGroupArn {
					t.Errorf("the listener sends to %d target groups in the end, want the new one alone", len(groups))
				}
				f.serve(c[0].Service, true, restarts) // and back
			})
		}
	}
}

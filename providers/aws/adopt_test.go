package aws_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
)

const adoptKey = "berth-lb.io/load-balancer"

// createUserBalancer creates a load balancer as a user would, with a listener on port
// 22, and returns its ARN.
func createUserBalancer(t testing.TB, s podded, name string, groups ...string) string {
	t.Helper()
	client, seed := elbv2.NewFromConfig(s.running.Config), s.running.Cloud.Seed
	lb, err := client.CreateLoadBalancer(t.Context(), &elbv2.CreateLoadBalancerInput{
		Name: &name, Type: elbv2types.LoadBalancerTypeEnumNetwork, Scheme: elbv2types.LoadBalancerSchemeEnumInternal, Subnets: seed.PrivateSubnets(), SecurityGroups: groups,
		Tags: []elbv2types.Tag{{Key: awssdk.String("team"), Value: awssdk.String("edge")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	arn := lb.LoadBalancers[0].LoadBalancerArn
	group, err := client.CreateTargetGroup(t.Context(), &elbv2.CreateTargetGroupInput{Name: awssdk.String(name + "-ssh"), Protocol: elbv2types.ProtocolEnumTcp, Port: awssdk.Int32(22), VpcId: &seed.VPC})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = client.CreateListener(t.Context(), &elbv2.CreateListenerInput{
		LoadBalancerArn: arn, Port: awssdk.Int32(22), Protocol: elbv2types.ProtocolEnumTcp,
		DefaultActions: []elbv2types.Action{{Type: elbv2types.ActionTypeEnumForward, TargetGroupArn: group.TargetGroups[0].TargetGroupArn}},
	}); err != nil {
		t.Fatal(err)
	}
	return *arn
}

// balancerClient returns a Service that uses a load balancer of another owner.
func balancerClient(n int, balancer string, ports ...int32) *corev1.Service {
	svc := groupMember(n, "", ports...)
	if balancer != "" {
		svc.Annotations[adoptKey] = balancer
	}
	return svc
}

// runs reconciles a Service several times; requests that are held or left to others are
// requeued.
func (w *groupWorld) runs(svc *corev1.Service) (last reconcile.Result) {
	w.Helper()
	for range 4 {
		last = w.run(svc, false)
	}
	return last
}

// waitUsable waits until load balancers that were just created can be used.
func waitUsable() { time.Sleep(10 * time.Minute) }

// TestAdopt: a Service has its own listeners on a load balancer of others, by name or by
// ARN; they change and go with it, and nothing else there ever changes.
func TestAdopt(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		arn := createUserBalancer(w, w.s, "edge", w.s.running.Cloud.Seed.DefaultGroup)
		waitUsable()
		before := w.state()
		web, mail := balancerClient(0, "edge", 80, 443), balancerClient(1, arn, 25)
		web.Annotations[prefix+"aws-load-balancer-attributes"] = "deletion_protection.enabled=true"
		web.Annotations[prefix+"aws-load-balancer-scheme"] = "internet-facing"
		web.Annotations[prefix+"aws-load-balancer-additional-resource-tags"] = "team=web"
		res := w.serve(web)
		text := fmt.Sprint(res.Draft.Problems)
		for _, told := range []string{"stays as others have created it, and has internal", "has deletion_protection.enabled=false"} {
			if !strings.Contains(text, told) {
				w.Errorf("is told %s, not %q", text, told)
			}
		}
		w.good(mail)
		if host := hostOf(web); !strings.HasPrefix(host, "edge-") || hostOf(mail) != host {
			w.Errorf("served at %q and %q", host, hostOf(mail))
		}
		was := balancerParts(w.has(mail))
		web.Spec.Ports[1].Port = 8443
		w.good(web)
		web.Annotations[adoptKey] = arn
		if w.good(web); len(w.has(web)) == 0 {
			w.Error("by its ARN nothing of it is found")
		}
		w.restart()
		w.release(web)
		if diff := cmp.Diff(was, balancerParts(w.has(mail))); diff != "" {
			w.Errorf("the other one lost something (-before +after):\n%s", diff)
		}
		w.release(mail)
		if diff := cmp.Diff(before, w.state()); diff != "" {
			w.Errorf("the load balancer is another one (-before +after):\n%s", diff)
		}
	})
}

// balancerParts returns the listeners and target groups among existing resources.
func balancerParts(has []string) []string {
	return slices.DeleteFunc(has, func(s string) bool { return !strings.HasPrefix(s, "listener/") && !strings.HasPrefix(s, "target") })
}

// TestAdoptPort: a port that others use stays theirs, and of two Services the older one
// gets a free port. A Service that is refused a port gets a problem, and is served on
// its other ports.
func TestAdoptPort(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		createUserBalancer(w, w.s, "edge")
		waitUsable()
		older, younger := balancerClient(0, "edge", 22, 80), balancerClient(1, "edge", 80, 443)
		w.live = []*corev1.Service{older, younger}
		w.restart()
		for svc, told := range map[*corev1.Service]string{older: "port 22 of edge is taken by listener/edge/tcp-22 of others", younger: "port 80 of edge is "} {
			if text := fmt.Sprint(w.runs(svc).Draft.Plan.Blocked); !strings.Contains(text, told) {
				w.Errorf("%s is told %s", svc.Name, text)
			}
		}
		w.runs(older)
		for svc, port := range map[*corev1.Service]int32{older: 80, younger: 443} {
			if got := svc.Status.LoadBalancer.Ingress; len(got) != 1 || len(got[0].Ports) != 1 || got[0].Ports[0].Port != port {
				w.Errorf("%s is served at %v", svc.Name, got)
			}
		}
		w.release(older)
		w.good(younger)
	})
}

// TestAdoptMove: a Service moves from a load balancer of its own to one of others, to
// another one and back. The previous one is released after the switch.
func TestAdoptMove(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		createUserBalancer(w, w.s, "edge")
		createUserBalancer(w, w.s, "core", w.s.running.Cloud.Seed.DefaultGroup)
		waitUsable()
		before := w.state()
		mover := balancerClient(0, "", 443)
		w.good(mover)
		for _, to := range []string{"edge", "core", "", "core", "group", "edge"} {
			moveTo(w, mover, to)
		}
		w.restart()
		w.release(mover)
		if diff := cmp.Diff(before, w.state()); diff != "" {
			w.Errorf("something is left (-before +after):\n%s", diff)
		}
	})
}

func moveTo(w *groupWorld, mover *corev1.Service, to string) {
	w.Helper()
	was := w.has(mover)
	mover.Annotations = maps.Clone(mover.Annotations)
	delete(mover.Annotations, adoptKey)
	delete(mover.Annotations, groupKey)
	if to == "group" {
		mover.Annotations[groupKey] = to
	} else if to != "" {
		mover.Annotations[adoptKey] = to
	}
	w.gates = func(plan.Gate) time.Duration { return time.Minute }
	w.run(mover, false)
	w.restart()
	w.run(mover, false)
	all := w.all(mover)
	for _, kept := range was {
		if strings.HasPrefix(kept, "listener/") && !slices.Contains(all, kept) {
			w.Errorf("to %q: %s went before the switch, there is %v", to, kept, all)
		}
	}
	w.gates = props.Pass
	w.good(mover)
	if host := hostOf(mover); to != "" && to != "group" && !strings.HasPrefix(host, to+"-") {
		w.Errorf("to %q: served at %q", to, host)
	}
}

// TestAdoptCrash: a process dies at any writing call with which a Service adopts a load
// balancer of others, or leaves it. Nothing is left, and nothing of others is changed.
func TestAdoptCrash(t *testing.T) {
	setCredentials(t)
	for k := range 8 {
		inWorld(t, func(w *groupWorld) {
			createUserBalancer(w, w.s, "edge", w.s.running.Cloud.Seed.DefaultGroup)
			waitUsable()
			before, svc := w.state(), balancerClient(0, "edge", 80)
			for _, release := range []bool{false, true} {
				dieAt(w, k, func() { w.run(svc, release) })
				w.live = []*corev1.Service{svc}
				w.restart()
				if !release {
					w.good(svc)
				}
			}
			w.release(svc)
			if diff := cmp.Diff(before, w.state()); diff != "" {
				w.Errorf("died at writing call %d (-before +after):\n%s", k+1, diff)
			}
		})
	}
}

// dieAt has the cloud answer nothing any more after so many writing calls.
func dieAt(w *groupWorld, k int, work func()) {
	w.Helper()
	for _, f := range []sim.Fault{
		{WritesOnly: true, After: k, Count: 1, Kind: sim.FaultCutAfter, Status: 403, Code: "AccessDenied"},
		{WritesOnly: true, After: k + 1, Kind: sim.FaultError, Status: 403, Code: "AccessDenied"},
	} {
		if _, err := w.s.Control().Faults.Add(f); err != nil {
			w.Fatal(err)
		}
	}
	work()
	w.s.Control().Faults.Clear()
}

// TestAdoptRole: listeners on load balancers of others take one right more than the role of
// the kind has, which is in a file of its own.
func TestAdoptRole(t *testing.T) {
	setCredentials(t)
	inWorld(t, func(w *groupWorld) {
		createUserBalancer(w, w.s, "edge", w.s.running.Cloud.Seed.DefaultGroup)
		waitUsable()
		before, svc := w.state(), balancerClient(0, "edge", 80)
		w.s.SetRole(w, props.Role(w, "aws-controller.json"))
		if res := w.runs(svc); res.Clean || !strings.Contains(fmt.Sprint(res.Err, res.Report.Results), "elasticloadbalancing:CreateListener") {
			w.Errorf("without the right: %v", res.Err)
		}
		w.s.SetRole(w, joinPolicies(w, props.Role(w, "aws-controller.json"), props.Role(w, "aws-adopt.json")))
		w.good(svc)
		svc.Spec.Ports[0].NodePort++
		w.good(svc)
		w.release(svc)
		w.s.SetRole(w, nil)
		if diff := cmp.Diff(before, w.state()); diff != "" {
			w.Errorf("something is left (-before +after):\n%s", diff)
		}
	})
}

// joinPolicies returns one policy with the statements of several.
func joinPolicies(t testing.TB, files ...[]byte) []byte {
	t.Helper()
	all := map[string]any{}
	var statements []any
	for _, file := range files {
		if err := json.Unmarshal(file, &all); err != nil {
			t.Fatal(err)
		}
		list, _ := all["Statement"].([]any)
		statements = append(statements, list...)
	}
	all["Statement"] = statements
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPropertiesAdopt: Services on load balancers of others have all properties.
func TestPropertiesAdopt(t *testing.T) {
	setCredentials(t)
	on := func(c props.Case, balancer string) props.Case {
		c.Service = c.Service.DeepCopy()
		c.Service.Annotations[adoptKey] = balancer
		return c
	}
	lenders := func(t testing.TB) props.Subject {
		s := freshController(t).(podded)
		createUserBalancer(t, s, "edge", s.running.Cloud.Seed.DefaultGroup)
		createUserBalancer(t, s, "core")
		return s
	}
	props.Run(t, lenders, []props.Case{
		on(controllerService("lent", nil, nil), "edge"),
		controllerService("own", nil, nil),
		on(controllerService("lent-pods", map[string]string{"aws-load-balancer-nlb-target-type": "ip", "aws-load-balancer-ssl-cert": certificate + "," + certificates + "2", "aws-load-balancer-ssl-ports": "https"}, nil), "core"),
		inGroup(controllerService("group", nil, nil), "front"),
	})
}

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

// slowWrites make calls that write take a moment, so that a kill always hits
// some in flight.
func (w *world) slowWrites() {
	w.t.Helper()
	w.must(w.Sim.Arm(w.t.Context(), sim.Fault{Kind: sim.FaultLatency, WritesOnly: true, Latency: 30 * time.Millisecond}))
}

// fleet are Services, half of them of each kind.
func (w *world) fleet(n int) []corev1.Service {
	var out []corev1.Service
	for i := range n {
		if i%2 == 0 {
			out = append(out, w.service(fmt.Sprintf("classic-%d", i)))
		} else {
			out = append(out, w.service(fmt.Sprintf("network-%d", i), useNetworkType))
		}
	}
	return out
}

// killAfter kills a controller once it has sent so many writes since the meter started.
// Responses to calls that are then in flight are not awaited.
func (w *world) killAfter(p *harness.Process, m *harness.Meter, writes int, done ...func(context.Context) error) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%d writes", writes), func() error {
		calls, err := m.Read(w.t.Context())
		if err == nil && calls.Writes < writes {
			err = fmt.Errorf("only %d writes yet", calls.Writes)
			for _, ended := range done { // the killed process has sent all its calls
				if ended(w.t.Context()) == nil {
					return nil
				}
			}
		}
		return err
	})
	p.Kill()
}

// onceEach wants that n Services, half of them of each kind, were made by as
// many calls as they have parts.
func (w *world) onceEach(n int) {
	w.t.Helper()
	for operation, want := range map[string]int{
		"CreateLoadBalancer": n, "CreateTargetGroup": n / 2, "CreateListener": n / 2, "CreateSecurityGroup": n / 2,
	} {
		if got := w.committed(operation); got != want {
			w.t.Errorf("%s took effect %d times for %d Services, want %d", operation, got, n, want)
		}
	}
	w.oneOfEach(n)
}

// oneOfEach wants that n Services, half of them of each kind, have as many
// things in the cloud as they need.
func (w *world) oneOfEach(n int) {
	w.t.Helper()
	all, err := w.balancers()
	w.must(err)
	targets, err := w.aws.elbv2.DescribeTargetGroups(w.t.Context(), &elbv2.DescribeTargetGroupsInput{})
	w.must(err)
	groups, err := w.aws.ec2.DescribeSecurityGroups(w.t.Context(), &ec2.DescribeSecurityGroupsInput{
		Filters: []ec2types.Filter{{Name: awssdk.String("group-name"), Values: []string{"k8s-*"}}},
	})
	w.must(err)
	want := []int{n, n / 2, n / 2}
	if err := diffError("load balancers, target groups, security groups", want, []int{len(all), len(targets.TargetGroups), len(groups.SecurityGroups)}); err != nil {
		w.t.Error(err)
	}
	for _, b := range all {
		if len(b.Members) != len(w.machines()) || len(b.Listeners) != 1 {
			w.t.Errorf("load balancer %s is not whole: %+v", b.Name, b)
		}
	}
}

// TestChangedWhileDown changes everything that can be changed while no
// controller runs: what was made before is found by its marks, not by what the
// Service says now.
func TestChangedWhileDown(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	controller := w.controller()
	kept := w.create("kept", setPorts(80, 1140))
	port := w.create("port", useNetworkType, setPorts(80, 1141))
	kind := w.create("kind", setPorts(80, 1142))
	gone := w.create("gone", useNetworkType)
	w.create("plain")
	w.settled(w.meter())
	if err := controller.Stop(limit); err != nil {
		t.Errorf("stopped on request: %v", err)
	}

	w.update("port", setPorts(8080, 1141))
	w.update("kind", useNetworkType)
	w.must(w.Delete(t.Context(), gone))
	w.update("plain", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP })
	since := w.now()
	w.controller()
	w.becomes("port", listenersOf, []string{"TCP:8080>TCP:1141"})
	w.addressIsThatOf("kind", networkKind)
	w.bothServe("kind")
	w.released("plain")
	if err := harness.Eventually(t.Context(), limit, w.Gone(gone)); err != nil {
		t.Fatal(err)
	}
	w.programmed(kept)
	name := nameOf(w.get("kept"))
	for _, e := range w.written(since) {
		if forbidWords(fmt.Sprint(e.Request), name) != nil {
			t.Errorf("the restart wrote to a load balancer that was not changed: %s %v", e.Operation, e.Request)
		}
	}
	w.remove(kept, port, kind)
	w.asBefore(before)
}

// allEvents are the events of several Services.
func (w *world) allEvents(services []corev1.Service) map[string][]string {
	w.t.Helper()
	out := map[string][]string{}
	for _, svc := range services {
		out[svc.Name] = w.events(svc.Name)
	}
	return out
}

// versions are the resource versions of Services.
func (w *world) versions(services []corev1.Service) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, svc := range services {
		out[svc.Name] = w.get(svc.Name).ResourceVersion
	}
	return out
}

package e2e

import (
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
)

// spoilAWS changes load balancers behind our back.
func spoilAWS(w *world) {
	ctx := w.t.Context()
	classic, network := nameOf(w.get(classicKind)), nameOf(w.get(networkKind))
	_, err := w.aws.elb.DeleteLoadBalancerListeners(ctx, &elb.DeleteLoadBalancerListenersInput{LoadBalancerName: &classic, LoadBalancerPorts: []int32{80}})
	w.must(err)
	_, err = w.aws.elb.ModifyLoadBalancerAttributes(ctx, &elb.ModifyLoadBalancerAttributesInput{
		LoadBalancerName: &classic, LoadBalancerAttributes: &elbtypes.LoadBalancerAttributes{ConnectionSettings: &elbtypes.ConnectionSettings{IdleTimeout: awssdk.Int32(30)}},
	})
	w.must(err)
	_, err = w.aws.elb.DeregisterInstancesFromLoadBalancer(ctx, &elb.DeregisterInstancesFromLoadBalancerInput{
		LoadBalancerName: &classic, Instances: []elbtypes.Instance{{InstanceId: &w.machines()[0]}},
	})
	w.must(err)
	arn := w.arnOf(network)
	found, err := w.aws.elbv2.DescribeListeners(ctx, &elbv2.DescribeListenersInput{LoadBalancerArn: &arn})
	w.must(err)
	_, err = w.aws.elbv2.DeleteListener(ctx, &elbv2.DeleteListenerInput{ListenerArn: found.Listeners[0].ListenerArn})
	w.must(err)
	_, err = w.aws.elbv2.ModifyLoadBalancerAttributes(ctx, &elbv2.ModifyLoadBalancerAttributesInput{
		LoadBalancerArn: &arn, Attributes: []elbv2types.LoadBalancerAttribute{{Key: awssdk.String("load_balancing.cross_zone.enabled"), Value: awssdk.String("true")}},
	})
	w.must(err)
}

// TestDriftReadsAreQuiet repeats the drift read without a reason to write.
func TestDriftReadsAreQuiet(t *testing.T) {
	w := startWorld(t, 2)
	w.controller("--drift-interval=2s")
	fleet := w.fleet(4)
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	_, err := w.meter().SettleWrites(t.Context(), quiet, limit) // reads go on: the interval is short
	w.must(err)
	versions, told := w.versions(fleet), w.allEvents(fleet)
	meter, from := w.meter(), w.now()
	w.eventually("some rounds of reads", func() error {
		calls, err := meter.Read(t.Context())
		if err != nil {
			return err
		}
		return atLeast(3, calls.ByOperation["elb.DescribeLoadBalancers"])
	})
	for _, e := range w.written(from) {
		t.Errorf("a read for drift wrote: %s %v", e.Operation, e.Request)
	}
	if err := diffError("Services were written", versions, w.versions(fleet)); err != nil {
		t.Error(err)
	}
	if err := diffError("events", told, w.allEvents(fleet)); err != nil {
		t.Error(err)
	}
}

// TestLostWhole deletes a load balancer behind the controller's back: it is created again,
// and the status follows.
func TestLostWhole(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller("--drift-interval=3s")
	svc := w.create("web", useNetworkType)
	old := w.addressIsThatOf("web", networkKind)
	arn := w.arnOf(nameOf(w.get("web")))
	_, err := w.aws.elbv2.DeleteLoadBalancer(t.Context(), &elbv2.DeleteLoadBalancerInput{LoadBalancerArn: &arn})
	w.must(err)
	w.becomes("web", membersOf, onPort(80, w.machines()...))
	if now := w.addressIsThatOf("web", networkKind); now == old {
		t.Errorf("the simulator gave the same address %s again: the test tests nothing", now)
	}
	w.remove(svc)
	w.asBefore(before)
}

func (w *world) arnOf(name string) string {
	w.t.Helper()
	list, err := w.aws.elbv2.DescribeLoadBalancers(w.t.Context(), &elbv2.DescribeLoadBalancersInput{Names: []string{name}})
	w.must(err)
	return *list.LoadBalancers[0].LoadBalancerArn
}

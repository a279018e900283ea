package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
)

// lend creates a Network Load Balancer outside of the controller, with a listener on port 22,
// and returns it once it is active.
func (w *world) lend(name string) elbv2types.LoadBalancer {
	w.t.Helper()
	ctx := w.t.Context()
	subnets, err := w.aws.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
	w.must(err)
	in := &elbv2.CreateLoadBalancerInput{
		Name: &name, Type: elbv2types.LoadBalancerTypeEnumNetwork, Scheme: elbv2types.LoadBalancerSchemeEnumInternal,
		Tags: []elbv2types.Tag{{Key: awssdk.String("team"), Value: awssdk.String("edge")}}, Subnets: []string{*subnets.Subnets[0].SubnetId},
	}
	made, err := w.aws.elbv2.CreateLoadBalancer(ctx, in)
	w.must(err)
	lb := made.LoadBalancers[0]
	group, err := w.aws.elbv2.CreateTargetGroup(ctx, &elbv2.CreateTargetGroupInput{
		Name: awssdk.String(name + "-ssh"), Protocol: elbv2types.ProtocolEnumTcp, Port: awssdk.Int32(22), VpcId: lb.VpcId,
	})
	w.must(err)
	_, err = w.aws.elbv2.CreateListener(ctx, &elbv2.CreateListenerInput{
		LoadBalancerArn: lb.LoadBalancerArn, Port: awssdk.Int32(22), Protocol: elbv2types.ProtocolEnumTcp,
		DefaultActions: []elbv2types.Action{{Type: elbv2types.ActionTypeEnumForward, TargetGroupArn: group.TargetGroups[0].TargetGroupArn}},
	})
	w.must(err)
	w.eventually(name+" is active", func() error {
		found, err := w.aws.elbv2.DescribeLoadBalancers(ctx, &elbv2.DescribeLoadBalancersInput{Names: []string{name}})
		if err == nil && found.LoadBalancers[0].State.Code != elbv2types.LoadBalancerStateEnumActive {
			err = fmt.Errorf("it is %s", found.LoadBalancers[0].State.Code)
		}
		return err
	})
	return lb
}

// portsOf are those of the listeners of a load balancer.
func (w *world) portsOf(ctx context.Context, lb elbv2types.LoadBalancer) ([]int32, error) {
	found, err := w.aws.elbv2.DescribeListeners(ctx, &elbv2.DescribeListenersInput{LoadBalancerArn: lb.LoadBalancerArn})
	if err != nil {
		return nil, err
	}
	var out []int32
	for _, l := range found.Listeners {
		out = append(out, awssdk.ToInt32(l.Port))
	}
	slices.Sort(out)
	return out, nil
}

func (w *world) listensAt(lb elbv2types.LoadBalancer, want ...int32) {
	w.t.Helper()
	w.eventually("listeners", func() error {
		got, err := w.portsOf(w.t.Context(), lb)
		if err != nil {
			return err
		}
		return diffError("ports", want, got)
	})
}

// TestAdoptOnAWS: Services add listeners to an existing load balancer, one named by name and
// one by ARN. They are created, updated and deleted across restarts. A port that another
// listener occupies is reported. At the end the load balancer is unchanged.
func TestAdoptOnAWS(t *testing.T) {
	w := startWorld(t, 2)
	w.serveController()
	lb := w.lend("edge")
	before := w.state()
	const adopted = "berth-lb.io/load-balancer"
	first := w.controller()
	web := w.create("web", setClass("service.k8s.aws/nlb"), setAnnotation(adopted, "edge"), setPorts(80, 0, 443, 0))
	mail := w.create("mail", setClass("service.k8s.aws/nlb"), setAnnotation(adopted, *lb.LoadBalancerArn), setPorts(25, 0))
	for _, name := range []string{"web", "mail"} {
		w.must(diffError("host name of "+name, *lb.DNSName, w.hostOf(name)))
	}
	w.listensAt(lb, 22, 25, 80, 443)

	shell := w.service("shell", setClass("service.k8s.aws/nlb"), setAnnotation(adopted, "edge"), setPorts(22, 0))
	w.must(w.Create(t.Context(), shell))
	w.condition("shell", status.TypeProgrammed, metav1.ConditionFalse, status.ReasonSlotTaken)
	if got := w.get("shell").Status.LoadBalancer.Ingress; len(got) > 0 {
		t.Errorf("a Service without a port of its own has the address %v", got)
	}
	w.must(first.Stop(limit))

	w.update("web", setPorts(80, 0, 8443, 0))
	second := w.controller()
	w.listensAt(lb, 22, 25, 80, 8443)
	w.remove(web, shell)
	w.listensAt(lb, 22, 25)
	w.must(diffError("host name of mail", *lb.DNSName, w.hostOf("mail")))
	w.remove(mail)
	w.must(second.Stop(limit))
	w.asBefore(before)
}

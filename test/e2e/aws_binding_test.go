package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/sim"
)

// binding is a TargetGroupBinding with its target group, as users of the AWS Load Balancer
// Controller have them, and what that controller does for it, done by hand.
type binding struct {
	*world
	name, service, group string
}

// bindings is where objects of the type are.
const bindings = "/apis/elbv2.k8s.aws/v1beta1"

// post creates an object that the client has no type for.
func (w *world) post(path string, object map[string]any) {
	w.t.Helper()
	body, err := json.Marshal(object)
	w.must(err)
	w.eventually("created below "+path, func() error {
		return w.Client.Discovery().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).Do(w.t.Context()).Error()
	})
}

// defineBindings makes the type known to the API server, as the chart of the official
// controller does.
func (w *world) defineBindings() {
	w.t.Helper()
	const path, name = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "targetgroupbindings.elbv2.k8s.aws"
	w.post(path, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": "elbv2.k8s.aws", "scope": "Namespaced",
			"names": map[string]any{"kind": "TargetGroupBinding", "listKind": "TargetGroupBindingList", "plural": "targetgroupbindings", "singular": "targetgroupbinding"},
			"versions": []any{map[string]any{
				"name": "v1beta1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	})
	w.t.Cleanup(func() {
		if err := w.Client.Discovery().RESTClient().Delete().AbsPath(path, name).Do(context.Background()).Error(); err != nil {
			w.t.Errorf("clean-up: %v", err)
		}
	})
}

// bind makes a target group by hand, with tags, and an object that binds a Service to it.
func (w *world) bind(name, service string, tags map[string]string) *binding {
	w.t.Helper()
	vpcs, err := w.aws.ec2.DescribeVpcs(w.t.Context(), &ec2.DescribeVpcsInput{})
	w.must(err)
	in := &elbv2.CreateTargetGroupInput{
		Name: &name, VpcId: vpcs.Vpcs[0].VpcId, Port: awssdk.Int32(8080), Protocol: elbv2types.ProtocolEnumTcp, TargetType: elbv2types.TargetTypeEnumIp,
	}
	for key, value := range tags {
		in.Tags = append(in.Tags, elbv2types.Tag{Key: &key, Value: &value})
	}
	made, err := w.aws.elbv2.CreateTargetGroup(w.t.Context(), in)
	w.must(err)
	b := &binding{world: w, name: name, service: service, group: awssdk.ToString(made.TargetGroups[0].TargetGroupArn)}
	w.post(bindings+"/namespaces/"+w.ns+"/targetgroupbindings", map[string]any{
		"apiVersion": "elbv2.k8s.aws/v1beta1", "kind": "TargetGroupBinding", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"serviceRef": map[string]any{"name": service, "port": 80}, "targetGroupARN": b.group, "targetType": "ip"},
	})
	return b
}

// object is the object of the binding, as the API server has it.
func (b *binding) object() string {
	b.t.Helper()
	body, err := b.Client.Discovery().RESTClient().Get().AbsPath(bindings, "namespaces", b.ns, "targetgroupbindings", b.name).Do(b.t.Context()).Raw()
	b.must(err)
	return string(body)
}

// gate is the condition by which pods wait for the target group.
func (b *binding) gate() string { return gatePrefix + b.name }

// takes registers addresses with the target group.
func (b *binding) takes(ips ...string) {
	b.t.Helper()
	in := &elbv2.RegisterTargetsInput{TargetGroupArn: &b.group}
	for _, ip := range ips {
		in.Targets = append(in.Targets, elbv2types.TargetDescription{Id: &ip, Port: awssdk.Int32(8080)})
	}
	_, err := b.aws.elbv2.RegisterTargets(b.t.Context(), in)
	b.must(err)
}

// says sets the condition on pods.
func (b *binding) says(pods []corev1.Pod, is corev1.ConditionStatus, reason string) {
	b.t.Helper()
	for _, p := range pods {
		b.eventually(b.gate()+" is set on "+p.Name, func() error {
			now, err := b.Client.CoreV1().Pods(b.ns).Get(b.t.Context(), p.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			now.Status.Conditions = append(now.Status.Conditions, corev1.PodCondition{
				Type: corev1.PodConditionType(b.gate()), Status: is, Reason: reason, Message: "said by another controller", LastTransitionTime: metav1.Now().Rfc3339Copy(),
			})
			_, err = b.Client.CoreV1().Pods(b.ns).UpdateStatus(b.t.Context(), now, metav1.UpdateOptions{})
			return err
		})
	}
}

// conditionsOf are those of a type, by pod.
func (w *world) conditionsOf(of string) map[string]corev1.PodCondition {
	w.t.Helper()
	all, err := w.Client.CoreV1().Pods(w.ns).List(w.t.Context(), metav1.ListOptions{})
	w.must(err)
	out := map[string]corev1.PodCondition{}
	for _, p := range all.Items {
		for _, c := range p.Status.Conditions {
			if string(c.Type) == of {
				out[p.Name] = c
			}
		}
	}
	return out
}

// stand waits until the condition of pods has a status.
func (w *world) stand(of string, pods []corev1.Pod, is corev1.ConditionStatus, reasons ...string) {
	w.t.Helper()
	w.eventuallyRead(of+" is "+string(is), func() error {
		now := w.conditionsOf(of)
		for _, p := range pods {
			if c := now[p.Name]; c.Status != is || !slices.Contains(reasons, c.Reason) {
				return fmt.Errorf("%s: %v", p.Name, c)
			}
		}
		return nil
	})
}

// groupBeside waits for the one target group that is none of these.
func (w *world) groupBeside(others ...*binding) elbv2types.TargetGroup {
	w.t.Helper()
	answer, err := w.aws.elbv2.DescribeTargetGroups(w.t.Context(), &elbv2.DescribeTargetGroupsInput{})
	w.must(err)
	own := slices.DeleteFunc(answer.TargetGroups, func(g elbv2types.TargetGroup) bool {
		return slices.ContainsFunc(others, func(b *binding) bool { return b.group == awssdk.ToString(g.TargetGroupArn) })
	})
	if len(own) != 1 {
		w.t.Fatalf("%d target groups of its own, want one", len(own))
	}
	return own[0]
}

// names reports whether a call refers to the target group.
func (b *binding) names(e sim.Entry) bool {
	for _, value := range e.Request {
		if strings.Contains(value, b.group) {
			return true
		}
	}
	return false
}

// TestBindingsOfOthers: pods of a Service are also targets of two other target groups, one
// created by hand and one by the AWS Load Balancer Controller for an Ingress. Each has an
// object of that controller, which sets readiness gates of the pods. The test creates the
// Service, replaces its pods and deletes it; those target groups and gates are never written.
func TestBindingsOfOthers(t *testing.T) {
	w := startWorld(t, 2, "--healthy-delay=8s")
	w.serveController()
	w.defineBindings()
	k := w.kubelet("bound")
	others := []*binding{
		w.bind("by-hand", "bound-elsewhere", nil),
		w.bind("k8s-shop-bound-0123456789", "bound-elsewhere", map[string]string{
			"elbv2.k8s.aws/cluster": "kubernetes", "ingress.k8s.aws/stack": w.ns + "/bound", "ingress.k8s.aws/resource": w.ns + "/bound-bound:80",
		}),
	}
	elsewhere := w.service("bound-elsewhere", func(svc *corev1.Service) {
		svc.Spec.Type, svc.Spec.Selector = corev1.ServiceTypeClusterIP, map[string]string{"app": "bound"}
	})
	w.must(w.Create(t.Context(), elsewhere))
	objects := map[string]string{}
	for _, b := range others {
		b.takes("10.0.200.1", "10.0.200.2")
		objects[b.name] = b.object()
	}
	before, since := w.state(), w.now()
	w.controller("--readiness-gates")
	svc := w.create("bound", podTargets)
	group := w.groupBeside(others...)
	own, arn := gatePrefix+awssdk.ToString(group.TargetGroupName), awssdk.ToString(group.TargetGroupArn)
	k.gates = []string{others[0].gate(), others[1].gate(), own}

	old := k.begin(2)
	w.stand(own, old, corev1.ConditionFalse, status.PodReasonNotRegistered, status.PodReasonUnhealthy)
	others[0].says(old, corev1.ConditionTrue, "")
	others[1].says(old, corev1.ConditionFalse, "Elb.InitialHealthChecking")
	foreign := []map[string]corev1.PodCondition{w.conditionsOf(others[0].gate()), w.conditionsOf(others[1].gate())}
	w.stand(own, old, corev1.ConditionTrue, status.PodReasonHealthy)
	for i, b := range others {
		w.must(diffError(b.gate(), foreign[i], w.conditionsOf(b.gate())))
	}
	fresh := k.begin(2)
	w.stand(own, fresh, corev1.ConditionTrue, status.PodReasonHealthy)
	k.end(old, arn)
	w.hasTargets(arn, podAddresses(fresh)...)
	if out, code := w.berth("orphans"); code != plan.ExitNothing {
		t.Errorf("orphans: exit code %d\n%s", code, out)
	}
	w.remove(svc)

	for _, b := range others {
		w.must(diffError(b.name, objects[b.name], b.object()))
		w.must(diffError(b.gate()+" of new pods", map[string]corev1.PodCondition{}, w.conditionsOf(b.gate())))
		for _, e := range w.written(since) {
			if b.names(e) {
				t.Errorf("call %d, %s, is about %s", e.Seq, e.Operation, b.name)
			}
		}
	}
	w.eventuallyRead("all is as before", func() error { return diffError("the cloud", before, w.state()) })
}

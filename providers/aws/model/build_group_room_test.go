package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/diff"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/cases"
)

// controllerServiceWith returns a Service of kind nlb-lbc that sends to instances.
func controllerServiceWith(t *testing.T, values map[string]string, ports ...int32) *corev1.Service {
	t.Helper()
	svc := suite().Open(t, "lbc-instances").Service.DeepCopy()
	svc.Annotations = map[string]string{typeKey.Name: typeExternal, targetTypeKey.Name: targetInstance}
	for key, value := range values {
		svc.Annotations[key] = value
	}
	svc.Spec.SessionAffinity = ""
	like := svc.Spec.Ports[0]
	svc.Spec.Ports = nil
	for i, n := range ports {
		like.Name, like.Port, like.NodePort = fmt.Sprint("p", n), n, int32(30100+i)
		svc.Spec.Ports = append(svc.Spec.Ports, like)
	}
	return svc
}

// buildBeside builds a Service from an observed stack.
func buildBeside(t *testing.T, svc *corev1.Service, have *stack.Stack) (*stack.Stack, []string) {
	t.Helper()
	w := suite().Bare(t).World
	in, problems := inputOf(parseConfig(t, w.Config+"\n[Berth]\nLoadBalancerController = true\n"), w.ClusterName, svc, w.Nodes)
	want, more, err := buildStack(in, w.Facts, have)
	if err != nil || more.Errors() || problems.Errors() {
		t.Fatal(err, problems.Strings(), more.Strings())
	}
	return want, append(problems, more...).Strings()
}

// TestGroupRoom: a port for which the load balancer of a group has no room gets neither
// listener nor target group, and is reported. The listeners that exist stay.
func TestGroupRoom(t *testing.T) {
	svc := controllerServiceWith(t, map[string]string{groupKey.Name: "front"}, 80, 81, 82)
	key := SharedNetworkKey(groupOf(svc.Namespace, "front"))
	for others, served := range map[int][]int32{47: {80, 81, 82}, 48: {80, 82}, 49: {82}} {
		have := &stack.Stack{Resources: []stack.Resource{{Key: key, ID: "arn:front", Ownership: stack.Shared, Proof: stack.Tag, Spec: Network{Name: "front"}}}}
		for i := range others {
			have.Put(stack.Resource{Key: stack.Key{Kind: KindListener, Name: fmt.Sprint("other-", i)}, In: key, Slot: fmt.Sprint("other ", i), Spec: Listener{Port: int32(1000 + i)}})
		}
		have.Put(stack.Resource{Key: stack.Key{Kind: KindListener, Name: key.Name + "/" + PortKey(corev1.ProtocolTCP, 82)}, In: key, Slot: "front 82", Proof: stack.Tag, Spec: Listener{Port: 82, Protocol: "TCP"}})
		want, told := buildBeside(t, svc, have)
		var got []int32
		for _, r := range want.Of(KindListener) {
			got = append(got, r.Spec.(Listener).Port)
		}
		slices.Sort(got)
		reported := strings.Contains(strings.Join(told, "\n"), "can have 50 listeners")
		if !slices.Equal(got, served) || len(want.Of(KindTargetGroup)) != len(served) || reported != (len(served) < 3) {
			t.Errorf("%d of others: listeners %v, want %v, %d target groups, reported %v", others, got, served, len(want.Of(KindTargetGroup)), told)
		}
	}
}

// TestNothingBesideForeign: beside a load balancer of the name that is not the Service's, no
// target group is created.
func TestNothingBesideForeign(t *testing.T) {
	want, _ := buildBeside(t, controllerServiceWith(t, nil, 80, 81), &stack.Stack{})
	have := &stack.Stack{Owner: want.Owner, Resources: []stack.Resource{{Key: networkKey(), ID: "arn:other", Spec: Network{Name: "other"}}}}
	p := diff.Compare(want, have, Rules(), cases.ReadyLedger())
	for _, s := range p.Steps {
		if s.ID.Action == plan.Create && s.ID.Key.Kind == KindTargetGroup || s.ID.Key.Kind == KindTargets {
			t.Errorf("%s is planned", s.ID)
		}
	}
	if len(want.Of(KindTargetGroup)) != 2 || !slices.ContainsFunc(p.Blocked, func(b plan.Blocked) bool { return b.By == plan.ByProof }) {
		t.Errorf("blocked: %v", p.Blocked)
	}
}

package laws

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/test/cases"
)

// Services turns Services into cases: each is parsed and built as the loop does it.
type Services[C, F any] struct {
	Cloud   *providers.Cloud[C, F]
	Config  C
	Cluster string
	// Nodes returns those of a day.
	Nodes func(day Day) []corev1.Node
	// Slices adds endpoints of a Service on a day; nil: there are none.
	Slices func(svc *corev1.Service, day Day) cases.Around
	// Facts returns what a read would bring for an owner. Nil: the zero value.
	Facts func(w *World, in providers.Input[C]) F
}

// prepared is what does not change between two builds of a Service.
type prepared[C any] struct {
	in       providers.Input[C]
	problems annotations.Problems
}

// Case returns the case of a Service. It fails the test if the Service is refused.
func (s Services[C, F]) Case(t testing.TB, name string, svc *corev1.Service) Case {
	t.Helper()
	out := s.newCase(t, name, svc, func(p annotations.Problems) { t.Fatalf("%s: %v", name, p.Strings()) })
	out.Vary = func(change func(*corev1.Service)) Case {
		varied := svc.DeepCopy()
		change(varied)
		return s.newCase(t, name, varied, func(annotations.Problems) {})
	}
	return out
}

// newCase returns the case of a Service; refused is called with the problems of one whose
// annotations are refused.
func (s Services[C, F]) newCase(t testing.TB, name string, svc *corev1.Service, refused func(annotations.Problems)) Case {
	t.Helper()
	type on struct {
		owner stack.Owner
		day   Day
	}
	known := map[on]prepared[C]{}
	input := func(w *World, o stack.Owner, day Day) (in providers.Input[C], facts F, accepted bool) {
		p, ok := known[on{o, day}]
		if !ok {
			p = s.prepare(svc, o, day)
			known[on{o, day}] = p
		}
		if p.problems.Errors() {
			refused(p.problems)
			return p.in, facts, false
		}
		if s.Facts != nil {
			facts = s.Facts(w, p.in)
		}
		return p.in, facts, true
	}
	out := Case{Name: name, Build: func(w *World, o stack.Owner, day Day, have *stack.Stack) *stack.Stack {
		in, facts, accepted := input(w, o, day)
		if !accepted {
			return nil
		}
		want, problems, err := s.Cloud.Build(in, facts, have)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if problems.Errors() {
			return nil
		}
		return want
	}}
	if s.Cloud.KeepServing != nil {
		out.Today = func(w *World, o stack.Owner, day Day, have *stack.Stack) *stack.Stack {
			in, facts, _ := input(w, o, day)
			return s.Cloud.KeepServing(in, facts, have)
		}
	}
	return out
}

func (s Services[C, F]) prepare(svc *corev1.Service, o stack.Owner, day Day) prepared[C] {
	svc = svc.DeepCopy()
	svc.Namespace, svc.Name, svc.UID = o.Namespace, o.Name, types.UID(o.UID)
	around := cases.Around{Cluster: s.Cluster, Nodes: s.Nodes(day)}
	if s.Slices != nil {
		around.Slices = s.Slices(svc, day).Slices
	}
	in, problems := cases.Input(s.Cloud, s.Config, svc, around)
	return prepared[C]{in, problems}
}

// NodesOf returns three ready nodes of each day; on the second day another one has replaced the
// third. The function completes the n-th node, which has the address 10.0.0.n.
func NodesOf(complete func(n int, node *corev1.Node)) func(Day) []corev1.Node {
	return func(day Day) []corev1.Node {
		var out []corev1.Node
		for _, n := range []int{1, 2, 3 + int(day)} {
			node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n)}}
			node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.0.%d", n)}}
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			complete(n, &node)
			out = append(out, node)
		}
		return out
	}
}

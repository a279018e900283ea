package service

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

const toyGate = "health.toy.example/"

// podToy is the toy cloud with pods as members, whose health is what the test says.
type podToy struct {
	*toy
	mu      sync.Mutex
	healthy map[string]bool // by address
	asked   int
	fails   error
}

// Health implements providers.Examiner.
func (c *podToy) Health(_ context.Context, have *stack.Stack) ([]providers.MemberHealth, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	var out []providers.MemberHealth
	for r, members := range stack.Each[toyMembers](have, toyIn) {
		for _, text := range members.Nodes {
			addr := netip.MustParseAddr(text)
			h := providers.MemberHealth{Of: r.Key, Member: text, Addr: addr, Healthy: c.healthy[text], State: "healthy"}
			if !h.Healthy {
				h.State, h.Why = "initial", "checks are under way"
			}
			out = append(out, h)
		}
	}
	return out, c.fails
}

func (c *podToy) say(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

func (c *podToy) bound(t *testing.T) providers.Bound {
	t.Helper()
	bound := c.toy.bound(t)
	bound.Endpoints, bound.Health = true, c.Health
	bound.Gates = providers.PodGates{Prefix: toyGate, Of: func(have *stack.Stack) []providers.PodGate {
		spec, _ := stack.SpecOf[toyBalancer](have, toyKey(toyLB))
		return []providers.PodGate{{Type: fmt.Sprintf("%sport-%d", toyGate, spec.Port), Of: toyKey(toyIn)}}
	}}
	build := bound.Build
	bound.Build = func(r providers.Request, f providers.Facts, have *stack.Stack) (*stack.Stack, annotations.Problems, error) {
		out, problems, err := build(r, f, have)
		var members toyMembers
		for _, e := range r.Backends.Endpoints.For(corev1.IPv4Protocol, "") {
			members.Nodes = append(members.Nodes, e.Addr.String())
		}
		out.Put(stack.Resource{Key: toyKey(toyIn), In: toyKey(toyLB), Spec: members})
		return out, problems, err
	}
	return bound
}

// podWorld is a cluster in memory with pods behind the Service "web".
type podWorld struct {
	*cluster
	cloud *podToy
}

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

func (w *podWorld) patchPod(action clienttesting.Action) (bool, runtime.Object, error) {
	a, _ := action.(clienttesting.PatchAction)
	if a.GetSubresource() != "status" {
		w.t.Errorf("patch of %q", a.GetSubresource())
	}
	obj, err := w.client.Tracker().Get(podsResource, a.GetNamespace(), a.GetName())
	if err != nil {
		return true, nil, err
	}
	was, _ := obj.(*corev1.Pod)
	now, err := applyPatch(was, a.GetPatch())
	if err != nil {
		return true, nil, err
	}
	return true, now, w.client.Tracker().Update(podsResource, now, now.Namespace)
}

// pod creates a running pod with readiness gates, and updates the slice.
func (w *podWorld) pod(addr string, gates ...string) {
	w.t.Helper()
	name := "pod-" + strings.ReplaceAll(addr, ".", "-")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIPs: []corev1.PodIP{{IP: addr}}, Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		}},
	}
	for _, g := range gates {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(g)})
	}
	if err := w.client.Tracker().Add(pod); err != nil {
		w.t.Fatal(err)
	}
	w.slice()
}

// slice writes the endpoints as their controller does: one is ready as its pod is.
func (w *podWorld) slice() {
	w.t.Helper()
	pods, err := w.client.CoreV1().Pods("shop").List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	number, s := int32(8080), &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}}, AddressType: discoveryv1.AddressTypeIPv4,
	}
	none := ""
	s.Ports = []discoveryv1.EndpointPort{{Name: &none, Port: &number}}
	for _, pod := range pods.Items {
		ready := !slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool {
			return !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == g.ConditionType && c.Status == corev1.ConditionTrue })
		})
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIPs[0].IP}, Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &ready}})
	}
	resource := discoveryv1.SchemeGroupVersion.WithResource("endpointslices")
	if err := w.client.Tracker().Update(resource, s, "shop"); err != nil {
		if err := w.client.Tracker().Create(resource, s, "shop"); err != nil {
			w.t.Fatal(err)
		}
	}
}

// condition is what a pod says of a gate: status, reason and message.
func (w *podWorld) condition(addr, gate string) string {
	w.t.Helper()
	pod, err := w.client.CoreV1().Pods("shop").Get(w.t.Context(), "pod-"+strings.ReplaceAll(addr, ".", "-"), metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range pod.Status.Conditions {
		if string(c.Type) == gate {
			return strings.TrimSpace(string(c.Status) + " " + c.Reason + " " + c.Message)
		}
	}
	return ""
}

func (w *podWorld) patches() int {
	n := 0
	for _, a := range w.client.Actions() {
		if a.Matches("patch", "pods/status") {
			n++
		}
	}
	return n
}

// amongPods runs a test beside a loop that sets conditions of pods, in virtual time.
func amongPods(t *testing.T, test func(*podWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cloud := &podToy{toy: newToy(), healthy: map[string]bool{}}
		w := &podWorld{cloud: cloud, cluster: newCluster(t, cloud.toy)}
		w.client.PrependReactor("patch", "pods", w.patchPod)
		w.beside(cloud.bound(t), reconcile.Options{}, Options{PodGates: true}, func() { test(w) })
	})
}

func setFamilies(svc *corev1.Service) {
	svc.Spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	svc.Spec.Ports[0].Protocol = corev1.ProtocolTCP
}

// TestPodsWaitForTheirLoadBalancer: a pod with a gate becomes a member before it is ready,
// its condition shows its health, and the cloud is polled only while a pod waits.
func TestPodsWaitForTheirLoadBalancer(t *testing.T) {
	amongPods(t, func(w *podWorld) {
		const gate = toyGate + "port-80"
		w.put("web", setFamilies)
		w.pod("10.0.0.1", gate)
		w.pod("10.0.0.2")
		advanceTime(time.Minute)
		if members, _ := w.cloud.serves("uid-web"); members != "10.0.0.1 10.0.0.2" {
			t.Fatalf("members: %s", members)
		}
		if got := w.condition("10.0.0.1", gate); got != "False Unhealthy initial: checks are under way" {
			t.Errorf("while it is checked: %s", got)
		}
		if got := w.patches(); got > 2 {
			t.Errorf("%d patches of what does not change", got)
		}
		w.cloud.say(func() { w.cloud.fails = fault.New(fault.Unavailable, "no answer") })
		advanceTime(time.Minute)
		w.cloud.say(func() { w.cloud.fails, w.cloud.healthy["10.0.0.1"] = nil, true })
		advanceTime(2 * gatePause)
		if got := w.condition("10.0.0.1", gate); !strings.HasPrefix(got, "True Healthy") {
			t.Errorf("when it is healthy: %s", got)
		}
		w.slice()
		advanceTime(time.Second)
		asked, written := w.cloud.asked, w.patches()
		advanceTime(20 * time.Minute)
		if w.cloud.asked != asked || w.patches() != written {
			t.Errorf("no pod waits, and there were %d questions and %d patches", w.cloud.asked-asked, w.patches()-written)
		}
		w.cloud.say(func() { delete(w.cloud.healthy, "10.0.0.1") })
		w.pod("10.0.0.3", gate)
		advanceTime(gatePause)
		if got := w.condition("10.0.0.1", gate); !strings.HasPrefix(got, "False Unhealthy") {
			t.Errorf("one that is healthy no more: %s", got)
		}
	})
}

// TestGatesOfOthers: a gate of another controller is left alone, and a gate for a former
// member opens when the load balancer has removed it.
func TestGatesOfOthers(t *testing.T) {
	amongPods(t, func(w *podWorld) {
		const old, foreign = toyGate + "port-80", toyGate + "somebody-else"
		w.put("web", setFamilies)
		w.pod("10.0.0.1", old, foreign)
		advanceTime(time.Minute)
		w.put("web", func(svc *corev1.Service) { svc.Spec.Ports[0].Port = 81 })
		advanceTime(time.Minute)
		if got := w.condition("10.0.0.1", old); !strings.HasPrefix(got, "True "+status.PodReasonReplaced) {
			t.Errorf("the gate of what is gone: %s", got)
		}
		if got := w.condition("10.0.0.1", foreign); got != "" {
			t.Errorf("the gate of another controller: %s", got)
		}
	})
}

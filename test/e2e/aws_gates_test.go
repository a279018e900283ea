package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbv2types "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

const gatePrefix = "target-health.elbv2.k8s.aws/"

// serveController lets Berth serve the Services of the AWS Load Balancer Controller.
func (w *world) serveController() {
	w.t.Helper()
	w.must(w.Sim.Configure(func(conf string) string { return conf + "\n[Berth]\nLoadBalancerController = true\n" }))
}

// podTargets has a Service send to its pods.
func podTargets(svc *corev1.Service) {
	setAnnotation("type", "external")(svc)
	setAnnotation("nlb-target-type", "ip")(svc)
}

// kubelet does what the machines of a cluster do to pods, one after the other.
type kubelet struct {
	*world
	app   string
	gates []string
	notes map[string]string // annotations of pods
	nodes []corev1.Node
	from  netip.Addr
	born  int            // pods so far
	dying map[string]int // number of the last call to the cloud when a pod was asked to terminate, by its address
}

func (w *world) kubelet(app string) *kubelet {
	w.t.Helper()
	accounts := w.Client.CoreV1().ServiceAccounts(w.ns)
	if _, err := accounts.Get(w.t.Context(), "default", metav1.GetOptions{}); err != nil {
		_, err = accounts.Create(w.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
		w.must(err)
	}
	nodes, err := w.SeedNodes()
	w.must(err)
	return &kubelet{world: w, app: app, nodes: nodes, from: netip.MustParseAddr("10.0.200.1"), dying: map[string]int{}}
}

// run makes a number of pods and returns them when they are ready.
func (k *kubelet) run(n int) []corev1.Pod {
	k.t.Helper()
	out := k.begin(n)
	k.ready(out)
	return out
}

// begin makes a number of pods whose containers are ready.
func (k *kubelet) begin(n int) []corev1.Pod {
	k.t.Helper()
	var out []corev1.Pod
	pods := k.Client.CoreV1().Pods(k.ns)
	for range n {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", k.app, k.born), Labels: map[string]string{"app": k.app}, Annotations: k.notes}}
		pod.Spec.NodeName, pod.Spec.Containers = k.nodes[k.born%len(k.nodes)].Name, []corev1.Container{{Name: "web", Image: "example.com/web"}}
		for _, g := range k.gates {
			pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(g)})
		}
		made, err := pods.Create(k.t.Context(), pod, metav1.CreateOptions{})
		k.must(err)
		made.Status.Phase, made.Status.PodIP = corev1.PodRunning, k.from.String()
		made.Status.PodIPs = []corev1.PodIP{{IP: k.from.String()}}
		made.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}}
		made, err = pods.UpdateStatus(k.t.Context(), made, metav1.UpdateOptions{})
		k.must(err)
		out = append(out, *made)
		k.born, k.from = k.born+1, k.from.Next()
	}
	return out
}

// eventuallyRead is like eventually, for states that take several reads of the cloud, at
// one in ten seconds.
func (w *world) eventuallyRead(what string, ask func() error) {
	w.t.Helper()
	if err := harness.Eventually(w.t.Context(), 3*limit, func(context.Context) error { return ask() }); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// ready waits until the gates of pods are open, and says of each that it is ready then.
func (k *kubelet) ready(pods []corev1.Pod) {
	k.t.Helper()
	for _, p := range pods {
		k.eventuallyRead(p.Name+" is ready", func() error {
			now, err := k.Client.CoreV1().Pods(k.ns).Get(k.t.Context(), p.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, g := range now.Spec.ReadinessGates {
				if !podIs(now, g.ConditionType) {
					return fmt.Errorf("%s is not open: %v", g.ConditionType, now.Status.Conditions)
				}
			}
			now.Status.Conditions = append(now.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
			_, err = k.Client.CoreV1().Pods(k.ns).UpdateStatus(k.t.Context(), now, metav1.UpdateOptions{})
			return err
		})
	}
}

func podIs(pod *corev1.Pod, of corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == of && c.Status == corev1.ConditionTrue })
}

// end tells pods to end, waits until no load balancer sends to them any more, and lets
// them go.
func (k *kubelet) end(pods []corev1.Pod, group string) {
	k.t.Helper()
	at := k.now()
	for _, p := range pods {
		k.dying[p.Status.PodIP] = at
		k.must(k.Client.CoreV1().Pods(k.ns).Delete(k.t.Context(), p.Name, metav1.DeleteOptions{}))
	}
	k.eventuallyRead("the pods that end are drained", func() error {
		targets := k.targets(group)
		var all error
		for _, p := range pods {
			if _, there := targets[p.Status.PodIP]; there {
				all = errors.Join(all, fmt.Errorf("%s is still a target", p.Status.PodIP))
			}
		}
		return all
	})
	now := int64(0)
	for _, p := range pods {
		k.must(k.Client.CoreV1().Pods(k.ns).Delete(k.t.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
	}
}

// targets are those of a target group that do not drain, with their states, by address.
func (w *world) targets(group string) map[string]elbv2types.TargetHealthStateEnum {
	w.t.Helper()
	answer, err := w.aws.elbv2.DescribeTargetHealth(w.t.Context(), &elbv2.DescribeTargetHealthInput{TargetGroupArn: &group})
	w.must(err)
	out := map[string]elbv2types.TargetHealthStateEnum{}
	for _, d := range answer.TargetHealthDescriptions {
		if d.TargetHealth.State != elbv2types.TargetHealthStateEnumDraining {
			out[awssdk.ToString(d.Target.Id)] = d.TargetHealth.State
		}
	}
	return out
}

// onlyGroup waits for the one target group that there is.
func (w *world) onlyGroup() elbv2types.TargetGroup {
	w.t.Helper()
	var out elbv2types.TargetGroup
	w.eventually("one target group", func() error {
		answer, err := w.aws.elbv2.DescribeTargetGroups(w.t.Context(), &elbv2.DescribeTargetGroupsInput{})
		if err == nil && len(answer.TargetGroups) != 1 {
			err = fmt.Errorf("there are %d", len(answer.TargetGroups))
		}
		if err == nil {
			out = answer.TargetGroups[0]
		}
		return err
	})
	return out
}

// targetsIn are the addresses that a call names.
func targetsIn(e sim.Entry) []string {
	var out []string
	for key, value := range e.Request {
		if strings.HasPrefix(key, "Targets.member.") && strings.HasSuffix(key, ".Id") {
			out = append(out, value)
		}
	}
	return out
}

// replay follows the targets in the journal from a call on. It verifies that only terminating
// pods are deregistered, that no terminating pod is registered, and that the number of
// targets never falls below the minimum once it has been reached.
func (k *kubelet) replay(entries []sim.Entry, least int) {
	k.t.Helper()
	targets, full := map[string]bool{}, false
	for _, e := range entries {
		if len(e.Request) == sim.MaxEntryParams {
			k.t.Fatalf("call %d names more than the journal keeps", e.Seq)
		}
		if !e.Committed {
			continue
		}
		for _, ip := range targetsIn(e) {
			told, ends := k.dying[ip]
			switch {
			case e.Operation == "RegisterTargets" && ends && told < e.Seq:
				k.t.Errorf("call %d registers %s, which was told to end before call %d", e.Seq, ip, told+1)
			case e.Operation == "DeregisterTargets" && (!ends || told >= e.Seq):
				k.t.Errorf("call %d takes %s out, which was not told to end", e.Seq, ip)
			}
			targets[ip] = e.Operation == "RegisterTargets" || targets[ip] && e.Operation != "DeregisterTargets"
		}
		n := 0
		for _, there := range targets {
			if there {
				n++
			}
		}
		full = full || n >= least
		if full && n < least {
			k.t.Errorf("after call %d, %s, there are %d targets, want at least %d", e.Seq, e.Operation, n, least)
		}
	}
	if !full {
		k.t.Errorf("there never were %d targets", least)
	}
}

// TestRolloutLosesNoClient replaces 50 pods behind real EndpointSlices, as a Deployment does
// that ends no pod before another one is ready. Pods are ready when the load balancer has
// found them healthy.
func TestRolloutLosesNoClient(t *testing.T) {
	const pods, surge = 50, 25
	w := startWorld(t, 3, "--healthy-delay=1s", "--draining-delay=1s")
	before := w.state()
	w.serveController()
	controller := w.controller("--readiness-gates")
	w.must(w.Create(t.Context(), w.service("gated", podTargets)))
	svc := w.get("gated")
	w.programmed(*svc)
	group := w.onlyGroup()
	arn := awssdk.ToString(group.TargetGroupArn)
	k := w.kubelet("gated")
	k.gates = []string{gatePrefix + awssdk.ToString(group.TargetGroupName)}
	since := w.now()
	old := append(k.run(surge), k.run(pods-surge)...)
	meter := w.meter()
	for len(old) > 0 {
		fresh := k.run(surge)
		targets := w.targets(arn)
		for _, p := range fresh {
			if targets[p.Status.PodIP] != elbv2types.TargetHealthStateEnumHealthy {
				t.Errorf("%s is ready and its target is %q", p.Name, targets[p.Status.PodIP])
			}
		}
		k.end(old[:surge], arn)
		old = old[surge:]
	}
	calls := w.settled(meter)
	t.Logf("%d pods replaced %d at a time: %d calls, %v", pods, surge, calls.All, calls.ByOperation)
	entries, err := w.Sim.Journal(t.Context(), since)
	w.must(err)
	k.replay(entries, pods)
	if got := w.targets(arn); len(got) != pods {
		t.Errorf("%d targets, want %d", len(got), pods)
	}
	w.must(controller.Stop(limit))
	for _, p := range k.unready() {
		t.Errorf("%s waits: %v", p.Name, p.Status.Conditions)
	}
	if text, code := w.berth("plan", "-A", "--readiness-gates"); code != 0 {
		t.Errorf("plan: exit code %d\n%s", code, text)
	}
	w.controller("--readiness-gates")
	w.remove(*svc)
	w.eventuallyRead("all is as before", func() error { return diffError("the cloud", before, w.state()) })
}

// unready are the pods whose gate is not open, or was opened for another reason than that
// they are healthy.
func (k *kubelet) unready() []corev1.Pod {
	k.t.Helper()
	all, err := k.Client.CoreV1().Pods(k.ns).List(k.t.Context(), metav1.ListOptions{})
	k.must(err)
	return slices.DeleteFunc(all.Items, func(p corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return string(c.Type) == k.gates[0] && c.Status == corev1.ConditionTrue && c.Reason == status.PodReasonHealthy
		})
	})
}

// TestPodsFromBefore: pods that began to wait while no controller ran get their conditions
// from the next process, which has never read the whole load balancer.
func TestPodsFromBefore(t *testing.T) {
	w := startWorld(t, 2)
	w.serveController()
	controller := w.controller("--readiness-gates")
	w.must(w.Create(t.Context(), w.service("gated", podTargets)))
	w.programmed(*w.get("gated"))
	k := w.kubelet("gated")
	group := w.onlyGroup()
	k.gates = []string{gatePrefix + awssdk.ToString(group.TargetGroupName)}
	k.run(2)
	w.must(controller.Stop(limit))
	fresh := k.begin(2)
	w.controller("--readiness-gates")
	k.ready(fresh)
	if waits := k.unready(); len(waits) > 0 {
		t.Errorf("%d pods wait", len(waits))
	}
}

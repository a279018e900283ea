package service

import (
	"context"
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/inputs"
	"github.com/berth-lb/berth/service/logkey"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/status"
)

// gatePause is the time between two reads of member health while pods wait to be healthy
// behind their load balancer: little changes between two checks of the cloud.
const gatePause = 10 * time.Second

// gatesPods reports whether the conditions of pods are set.
func (c *Controller) gatesPods() bool { return c.options.PodGates && c.reconciler.GatesPods() }

// gateMarks adds the annotation with the pod conditions of the load balancer.
func (v *visit) gateMarks(marks map[string]string, result reconcile.Result) map[string]string {
	if result.Draft.Intent == reconcile.LeaveAlone {
		return marks
	}
	var types []string
	if v.gatesPods() {
		for _, g := range v.reconciler.PodGates(result) {
			if g.Service != "" {
				g.Type += "=" + g.Service
			}
			types = append(types, g.Type)
		}
	}
	if _, told := v.svc.Annotations[status.AnnotationPodGates]; len(types) == 0 && !told {
		return marks
	}
	slices.Sort(types)
	out := map[string]string{status.AnnotationPodGates: strings.Join(slices.Compact(types), ",")}
	maps.Copy(out, marks)
	return out
}

// podCondition returns a condition of a pod; zero: it was never set.
func podCondition(pod *corev1.Pod, of corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == of {
			return c
		}
	}
	return corev1.PodCondition{Type: of}
}

// tellPods sets the readiness gates of pods for the load balancer of the Service, and
// repeats that while one waits. The cloud is read only during that time.
func (v *visit) tellPods(ctx context.Context, result reconcile.Result) {
	if !v.gatesPods() || result.Draft.Intent == reconcile.LeaveAlone || v.options.DryRun {
		return
	}
	gates := v.reconciler.PodGates(result)
	pods := v.gated(gates)
	if len(pods) == 0 {
		return
	}
	v.known.stand(gates)
	asked := v.waitedFor(pods, gates)
	var health []providers.MemberHealth
	if len(asked) > 0 {
		var err error
		if health, err = v.reconciler.MembersOf(ctx, result, asked); err != nil {
			klog.FromContext(ctx).Info("members not read", logkey.Err, conditions.OneLine(err))
			v.queue.AddAfter(v.key, gatePause, byRetry)
			return
		}
	}
	waits := false
	for _, pod := range pods {
		for _, cond := range v.conditions(pod, gates, asked, health, result.Clean) {
			failed := v.setOnPod(ctx, pod, cond) != nil
			waits = waits || failed || cond.Status != corev1.ConditionTrue && v.endpoints.Waits(pod.Pod)
		}
	}
	if waits {
		v.queue.AddAfter(v.key, gatePause, byRetry)
	}
}

// gated returns the pods with gates of the cloud: pods of the Service, and of the others
// that the load balancer forwards to.
func (v *visit) gated(gates []providers.PodGate) []inputs.GatedPod {
	out := v.endpoints.Gated(v.svc)
	var seen []string
	for _, g := range gates {
		if g.Service == "" || slices.Contains(seen, g.Service) {
			continue
		}
		seen = append(seen, g.Service)
		if other, err := v.services.Services(v.svc.Namespace).Get(g.Service); err == nil {
			out = append(out, v.endpoints.Gated(other)...)
		}
	}
	return out
}

// stand records the pod conditions of the load balancer.
func (r *remembered) stand(gates []providers.PodGate) {
	if r.gates == nil {
		r.gates = map[string]bool{}
	}
	for _, g := range gates {
		r.gates[g.Type] = true
	}
}

// waitedFor returns the resources with members that still wait. A pod with containers
// that are not ready does not: it is no member.
func (v *visit) waitedFor(pods []inputs.GatedPod, gates []providers.PodGate) []stack.Key {
	var out []stack.Key
	for _, g := range gates {
		kind := corev1.PodConditionType(g.Type)
		waits := slices.ContainsFunc(pods, func(p inputs.GatedPod) bool {
			return v.endpoints.Waits(p.Pod) && slices.Contains(p.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: kind}) && podCondition(p.Pod, kind).Status != corev1.ConditionTrue
		})
		if waits {
			out = append(out, g.Of)
		}
	}
	return out
}

// conditions returns the conditions to set on a pod, for its own gates only. A gate of a
// resource that the load balancer no longer has is opened when everything else is as
// desired: no other controller would open it.
func (v *visit) conditions(pod inputs.GatedPod, gates []providers.PodGate, asked []stack.Key, health []providers.MemberHealth, clean bool) []corev1.PodCondition {
	var out []corev1.PodCondition
	for _, gate := range pod.Spec.ReadinessGates {
		i := slices.IndexFunc(gates, func(g providers.PodGate) bool { return g.Type == string(gate.ConditionType) })
		switch {
		case i >= 0 && slices.Contains(asked, gates[i].Of):
			out = append(out, conditionOf(gate.ConditionType, gates[i].Of, pod.Addr, health))
		case i < 0 && clean && v.known.gates[string(gate.ConditionType)]:
			out = append(out, corev1.PodCondition{Type: gate.ConditionType, Status: corev1.ConditionTrue, Reason: status.PodReasonReplaced,
				Message: "the load balancer no longer has what the gate is for"})
		}
	}
	return out
}

// conditionOf returns the condition of a pod as a member. It can be a member with several
// ports.
func conditionOf(of corev1.PodConditionType, group stack.Key, addr netip.Addr, health []providers.MemberHealth) corev1.PodCondition {
	out := corev1.PodCondition{Type: of, Status: corev1.ConditionFalse, Reason: status.PodReasonNotRegistered, Message: "the load balancer does not have the pod yet"}
	for _, m := range health {
		if m.Of != group || m.Addr != addr {
			continue
		}
		if !m.Healthy {
			return corev1.PodCondition{Type: of, Status: corev1.ConditionFalse, Reason: status.PodReasonUnhealthy, Message: m.State + orColon(m.Why)}
		}
		out = corev1.PodCondition{Type: of, Status: corev1.ConditionTrue, Reason: status.PodReasonHealthy, Message: "the load balancer sends to the pod"}
	}
	return out
}

func orColon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// setOnPod writes one condition on a pod, if it differs. The error is logged.
func (v *visit) setOnPod(ctx context.Context, pod inputs.GatedPod, cond corev1.PodCondition) error {
	now := podCondition(pod.Pod, cond.Type)
	if now.Status == cond.Status && now.Reason == cond.Reason && now.Message == cond.Message {
		return nil
	}
	cond.LastTransitionTime = now.LastTransitionTime
	if now.Status != cond.Status {
		cond.LastTransitionTime = metav1.NewTime(v.options.Clock.Now())
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"status":   map[string]any{"conditions": []corev1.PodCondition{cond}},
	})
	if err == nil {
		err = v.fenced()
	}
	if err == nil {
		_, err = v.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, status.PatchType, body, metav1.PatchOptions{}, status.Subresource)
	}
	if apierrors.IsNotFound(err) || isOutdated(err) {
		return nil // the pod was deleted, or created again under its name
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "pod status", logkey.Pod, pod.Name)
	}
	return err
}

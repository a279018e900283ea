package e2e

import (
	"fmt"
	"slices"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
)

const injectLabel = "elbv2.k8s.aws/pod-readiness-gate-inject"

// labelNamespace sets a label of the test's namespace.
func (w *world) labelNamespace(key, value string) {
	w.t.Helper()
	ns, err := w.Client.CoreV1().Namespaces().Get(w.t.Context(), w.ns, metav1.GetOptions{})
	w.must(err)
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[key] = value
	_, err = w.Client.CoreV1().Namespaces().Update(w.t.Context(), ns, metav1.UpdateOptions{})
	w.must(err)
}

// callDirectly lets the API server call the webhook of a release without a network of pods.
func (r *release) callDirectly() {
	r.w.t.Helper()
	all := r.w.Client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	r.w.eventually("the webhook is called on this machine", func() error {
		list, err := all.List(r.w.t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/instance=" + r.name})
		if err != nil || len(list.Items) != 1 {
			return fmt.Errorf("%d configurations, %w", len(list.Items), err)
		}
		client := &list.Items[0].Webhooks[0].ClientConfig
		url := fmt.Sprintf("https://127.0.0.1:%d%s", r.hook, *client.Service.Path)
		client.Service, client.URL = nil, &url
		_, err = all.Update(r.w.t.Context(), &list.Items[0], metav1.UpdateOptions{})
		return err
	})
}

// wouldGet are the gates that a new pod would get.
func (k *kubelet) wouldGet() ([]corev1.PodReadinessGate, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "trial", Labels: map[string]string{"app": k.app}}}
	pod.Spec.Containers = []corev1.Container{{Name: "web", Image: "example.com/web"}}
	made, err := k.Client.CoreV1().Pods(k.ns).Create(k.t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, err
	}
	return made.Spec.ReadinessGates, nil
}

// TestWebhookInjectsGates: with the chart's webhook, new pods of a labelled namespace get the
// gates of their Services, and become ready when the load balancer sends to them. Without the
// label, and while the webhook does not answer, pods are created unchanged.
func TestWebhookInjectsGates(t *testing.T) {
	w := startWorld(t, 2)
	w.serveController()
	r := w.install("berth", map[string]any{
		"defaultClass": true, "loadBalancerClasses": []string{}, "extraArgs": []string{"--webhook-host=127.0.0.1"},
		"leaderElection": map[string]any{"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"},
		"readinessGates": map[string]any{"enabled": true, "webhook": map[string]any{"enabled": true}},
	})
	r.hook = freePort(w)
	r.callDirectly()
	controller := r.pod()
	w.must(w.Create(t.Context(), w.service("gated", podTargets)))
	w.programmed(*w.get("gated"))
	group := w.onlyGroup()
	gate := corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(gatePrefix + awssdk.ToString(group.TargetGroupName))}
	if got := w.get("gated").Annotations[status.AnnotationPodGates]; got != string(gate.ConditionType) {
		t.Errorf("the Service says that its pods' gates are %q", got)
	}
	k := w.kubelet("gated")
	k.gates = nil
	if got, err := k.wouldGet(); err != nil || len(got) > 0 {
		t.Errorf("without the label: %v, %v", got, err)
	}
	w.labelNamespace(injectLabel, "enabled")
	w.eventually("a new pod gets its gate", func() error {
		got, err := k.wouldGet()
		if err == nil && !slices.Equal(got, []corev1.PodReadinessGate{gate}) {
			err = fmt.Errorf("gates %v", got)
		}
		return err
	})
	for _, p := range k.run(2) {
		now, err := w.Client.CoreV1().Pods(w.ns).Get(t.Context(), p.Name, metav1.GetOptions{})
		w.must(err)
		if !podIs(now, gate.ConditionType) {
			t.Errorf("%s has the gates %v and the conditions %v", p.Name, now.Spec.ReadinessGates, now.Status.Conditions)
		}
	}
	w.must(controller.Stop(limit))
	if got, err := k.wouldGet(); err != nil || len(got) > 0 {
		t.Errorf("while the webhook does not answer: %v, %v", got, err)
	}
	second := r.pod()
	w.remove(*w.get("gated"))
	w.must(second.Stop(limit))
	r.uninstall()
}

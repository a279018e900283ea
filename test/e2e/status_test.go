package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

const foreignCondition = "example.com/Checked"

// foreign adds fields of another controller to a Service.
func (w *world) foreign(name string) {
	w.t.Helper()
	w.update(name, setAnnotation("example.com/note", "kept"), func(svc *corev1.Service) {
		svc.Finalizers = append(svc.Finalizers, "example.com/hold")
	})
	svc := w.get(name)
	svc.Status.Conditions = append(svc.Status.Conditions, metav1.Condition{
		Type: foreignCondition, Status: metav1.ConditionTrue, Reason: "Checked", LastTransitionTime: metav1.Now(),
	})
	_, err := w.updateStatus(svc)
	w.must(err)
}

// TestStatus wipes and restores: our fields are restored, fields of other controllers stay,
// and a Service at rest is not written.
func TestStatus(t *testing.T) {
	w := startWorld(t, 2)
	w.controller()
	w.create("web")
	host := w.addressIsThatOf("web", classicKind)
	w.foreign("web")
	if w.get("web").Annotations[status.AnnotationApplied] == "" {
		t.Errorf("%s is not written", status.AnnotationApplied)
	}

	meter := w.meter()
	svc := w.get("web")
	svc.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	svc.Status.Conditions = nil
	_, err := w.updateStatus(svc)
	w.must(err)
	w.condition("web", status.TypeProgrammed, metav1.ConditionTrue, status.ReasonProgrammed)
	w.condition("web", status.TypeAccepted, metav1.ConditionTrue, status.ReasonAccepted)
	if got := w.get("web").Status.LoadBalancer.Ingress; len(got) != 1 || got[0].Hostname != host {
		t.Errorf("want the address %s back, got %v", host, got)
	}
	w.noWrites("a wiped status", meter)

	w.changeBeside("web", host)
	version := w.get("web").ResourceVersion
	w.settled(w.meter())
	if now := w.get("web").ResourceVersion; now != version {
		t.Errorf("a Service at rest was written: %s, then %s", version, now)
	}
}

// hostOf is the host name in the status of a Service; empty while there is none.
func hostOf(svc *corev1.Service) string {
	for _, in := range svc.Status.LoadBalancer.Ingress {
		return in.Hostname
	}
	return ""
}

// changeBeside changes our fields once more and wants foreign fields to survive, also the
// release.
func (w *world) changeBeside(name, host string) {
	w.t.Helper()
	svc := w.get(name)
	svc.Status.Conditions = append(svc.Status.Conditions, metav1.Condition{
		Type: foreignCondition, Status: metav1.ConditionTrue, Reason: "Checked", LastTransitionTime: metav1.Now(),
	})
	_, err := w.updateStatus(svc)
	w.must(err)
	w.update(name, setPorts(80, 0, 443, 0))
	w.becomes(name, func(b balancer) any { return len(b.Listeners) }, 2)
	w.programmed(*w.get(name))
	svc = w.get(name)
	if hostOf(svc) != host {
		w.t.Errorf("the address has changed: %v", svc.Status.LoadBalancer)
	}
	w.stillForeign(svc)
}

func (w *world) stillForeign(svc *corev1.Service) {
	w.t.Helper()
	if harness.Condition(svc, foreignCondition).Status != metav1.ConditionTrue {
		w.t.Errorf("the foreign condition is gone: %s", harness.Conditions(svc))
	}
	if svc.Annotations["example.com/note"] != "kept" {
		w.t.Errorf("the foreign annotation is gone: %v", svc.Annotations)
	}
	if countOf(svc.Finalizers, "example.com/hold") != 1 {
		w.t.Errorf("the foreign finalizer is gone: %v", svc.Finalizers)
	}
}

// TestRelease removes our fields and nothing else.
func TestRelease(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller()
	svc := w.create("web")
	w.foreign("web")
	w.must(w.Delete(t.Context(), svc))
	w.eventually("our finalizer goes", func() error {
		return diffError("finalizers", []string{"example.com/hold"}, w.get("web").Finalizers)
	})
	got := w.get("web")
	w.stillForeign(got)
	if len(got.Status.LoadBalancer.Ingress) > 0 || len(got.Status.Conditions) != 1 || got.Annotations[status.AnnotationApplied] != "" {
		t.Errorf("something of ours is left: %v %s", got.Annotations, harness.Conditions(got))
	}
	w.asBefore(before)
	w.update("web", func(svc *corev1.Service) { svc.Finalizers = nil })
}

// TestEventsAreFew counts what a user reads of a quiet life.
func TestEventsAreFew(t *testing.T) {
	w := startWorld(t, 2)
	w.controller()
	svc := w.create("web")
	for i := range 5 {
		w.update("web", setAnnotation("example.com/deploy", fmt.Sprint(i)))
	}
	w.settled(w.meter())
	want := []string{"Normal EnsuredLoadBalancer", "Normal EnsuringLoadBalancer"}
	got := w.events("web")
	if len(got) != len(want) || countOf(got, want[0]) != 1 || countOf(got, want[1]) != 1 {
		t.Errorf("events of a creation and five changes that mean nothing: want %q, got %q", want, got)
	}
	w.remove(svc)
	w.eventually("the events of the deletion", func() error {
		got := w.events("web")
		if len(got) != 4 || countOf(got, "Normal DeletingLoadBalancer") != 1 || countOf(got, "Normal DeletedLoadBalancer") != 1 {
			return fmt.Errorf("got %q", got)
		}
		return nil
	})
}

// TestSameNameAgain deletes a Service and makes another under its name at once.
func TestSameNameAgain(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller()
	first := w.create("web")
	old := nameOf(w.get("web"))
	w.remove(first)
	second := w.create("web", useNetworkType)
	w.addressIsThatOf("web", networkKind)
	all, err := w.balancers()
	w.must(err)
	if len(all) != 1 || all[0].Name == old {
		t.Errorf("want the second load balancer alone, got %+v", all)
	}
	w.remove(second)
	w.asBefore(before)
}

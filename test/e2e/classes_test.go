package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/harness"
)

const (
	stockFinalizer = "service.kubernetes.io/load-balancer-cleanup"
	ownFinalizer   = "berth-lb.io/load-balancer"
	mine           = "example.com/mine"
)

func removeClass(svc *corev1.Service) { svc.Spec.LoadBalancerClass = nil }

func ofType(t corev1.ServiceType) change {
	return func(svc *corev1.Service) {
		svc.Spec.Type = t
		if t != corev1.ServiceTypeLoadBalancer {
			svc.Spec.LoadBalancerClass = nil
			svc.Spec.ExternalTrafficPolicy, svc.Spec.AllocateLoadBalancerNodePorts = "", nil
			for i := range svc.Spec.Ports {
				svc.Spec.Ports[i].NodePort = 0
			}
		}
	}
}

// finalizers wants exactly these on a Service.
func (w *world) finalizers(name string, want ...string) {
	w.t.Helper()
	if err := diffError(name+" finalizers", want, w.get(name).Finalizers); err != nil {
		w.t.Error(err)
	}
}

// TestUnknownClass covers the whole life of a Service whose class no controller serves.
// Conformance tests write its status by hand.
func TestUnknownClass(t *testing.T) {
	w := startWorld(t, 2)
	w.controller()
	w.create("served")
	meter := w.meter()
	w.must(w.Create(t.Context(), w.service("theirs", setClass("example.com/internal-vip"))))
	svc := w.get("theirs")
	svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "203.0.113.1"}}
	svc, err := w.updateStatus(svc)
	w.must(err)
	w.update("theirs", setPorts(80, 0, 443, 0), setAnnotation("connection-idle-timeout", "wrong"))
	w.noWrites("a class without a controller", meter)
	now := w.get("theirs")
	if err := diffError("status", svc.Status, now.Status); err != nil {
		t.Error(err)
	}
	w.finalizers("theirs")
	if got := w.events("theirs"); len(got) > 0 {
		t.Errorf("events on a Service without a controller: %q", got)
	}
	w.remove(w.service("theirs"))
	w.noWrites("its deletion", meter)
}

func (w *world) updateStatus(svc *corev1.Service) (*corev1.Service, error) {
	return w.Client.CoreV1().Services(svc.Namespace).UpdateStatus(w.t.Context(), svc, metav1.UpdateOptions{})
}

// TestTwoControllers runs one for Services without a class and one for a class,
// as they are installed side by side: neither touches the other's, in no order
// of changes.
func TestTwoControllers(t *testing.T) {
	w := startWorld(t, 2)
	w.sideBySide(func() *harness.Process { return w.controller() }, func() *harness.Process {
		return w.controller("--default-class=false", "--load-balancer-class="+mine)
	})
}

func (w *world) sideBySide(startStock, startClassed func() *harness.Process) {
	w.t.Helper()
	t, before := w.t, w.state()
	stock, classed := startStock(), startClassed()
	plain := w.create("plain")
	special := w.create("special", setClass(mine))
	w.finalizers("plain", stockFinalizer)
	w.finalizers("special", ownFinalizer)
	for _, name := range []string{"plain", "special"} {
		if n := countOf(w.events(name), "EnsuringLoadBalancer"); n != 1 {
			t.Errorf("%s: want one controller to begin once, got %d: %q", name, n, w.events(name))
		}
	}
	if n := w.committed("CreateLoadBalancer"); n != 2 {
		t.Errorf("%d load balancers were created for two Services", n)
	}

	stock.Kill()
	w.must(w.Delete(t.Context(), plain))
	w.remove(special)
	w.finalizers("plain", stockFinalizer)
	if b, err := w.balancer("plain"); err != nil || len(b.Members) == 0 {
		t.Errorf("the load balancer of the other controller: %+v, %v", b, err)
	}
	special = w.create("special", setClass(mine))
	classed.Kill()
	w.must(w.Delete(t.Context(), special))
	startStock()
	if err := harness.Eventually(t.Context(), limit, w.Gone(plain)); err != nil {
		t.Fatal(err)
	}
	w.noWrites("the deletion of a Service of another class", w.meter())
	w.finalizers("special", ownFinalizer)
	if b, err := w.balancer("special"); err != nil || len(b.Members) == 0 {
		t.Errorf("the load balancer of the other class: %+v, %v", b, err)
	}
	startClassed()
	if err := harness.Eventually(t.Context(), limit, w.Gone(special)); err != nil {
		t.Fatal(err)
	}
	w.asBefore(before)
}

// TestClassedOnly never touches what has no class.
func TestClassedOnly(t *testing.T) {
	w := startWorld(t, 2)
	w.controller("--default-class=false", "--load-balancer-class="+mine)
	w.must(w.Create(t.Context(), w.service("plain")))
	w.create("special", setClass(mine))
	w.settled(w.meter())
	w.untouched("plain")
	if got := w.events("plain"); len(got) > 0 {
		t.Errorf("events on a Service without a class: %q", got)
	}
}

// TestClassChanges changes from one class to another by way of ClusterIP, as the API server
// requires: observed step by step, and all of it while no controller runs.
func TestClassChanges(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	flags := []string{"--load-balancer-class=" + mine}
	both := w.controller(flags...)
	there, back := func() {
		w.update("web", ofType(corev1.ServiceTypeClusterIP))
		w.update("web", ofType(corev1.ServiceTypeLoadBalancer), setClass(mine))
	}, func() {
		w.update("web", ofType(corev1.ServiceTypeClusterIP))
		w.update("web", ofType(corev1.ServiceTypeLoadBalancer), removeClass)
	}
	svc := w.create("web")
	w.finalizers("web", stockFinalizer)
	w.update("web", ofType(corev1.ServiceTypeClusterIP))
	w.released("web")
	w.asBefore(before)
	w.update("web", ofType(corev1.ServiceTypeLoadBalancer), setClass(mine))
	w.programmed(svc)
	w.finalizers("web", ownFinalizer)

	back()
	w.settlesWith("web", stockFinalizer)
	both.Kill()
	there()
	both = w.controller(flags...)
	w.settlesWith("web", ownFinalizer)

	// To a class that no controller serves, while none runs: our load balancer is deleted.
	both.Kill()
	w.update("web", ofType(corev1.ServiceTypeClusterIP))
	w.update("web", ofType(corev1.ServiceTypeLoadBalancer), setClass("example.com/other"))
	w.controller(flags...)
	w.eventually("the class has changed to one without a controller", func() error {
		return diffError("finalizers", []string(nil), w.get("web").Finalizers)
	})
	w.asBefore(before)
}

// settlesWith waits until a Service has one load balancer and one finalizer.
func (w *world) settlesWith(name, finalizer string) {
	w.t.Helper()
	w.eventually(name+" settles with "+finalizer, func() error {
		if err := w.Programmed(w.service(name))(w.t.Context()); err != nil {
			return err
		}
		b, err := w.balancer(name)
		if err != nil {
			return err
		}
		svc := w.get(name)
		if host := hostOf(svc); host != lowerCase(b.Host) {
			return fmt.Errorf("the status says %s, the load balancer is %s", host, b.Host)
		}
		if !slices.Equal(svc.Finalizers, []string{finalizer}) {
			return fmt.Errorf("finalizers %v", svc.Finalizers)
		}
		return nil
	})
}

// TestTypeChangedWhileDown is the case that the stock controller loses: at its
// start the Service neither wants a load balancer nor is being deleted.
func TestTypeChangedWhileDown(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	flags := []string{"--load-balancer-class=" + mine}
	controller := w.controller(flags...)
	w.create("plain", useNetworkType)
	w.create("special", setClass(mine))
	controller.Kill()
	for _, name := range []string{"plain", "special"} {
		w.update(name, ofType(corev1.ServiceTypeClusterIP))
	}
	w.controller(flags...)
	w.released("plain")
	w.released("special")
	w.asBefore(before)
}

// TestFlagsThatDisown: load balancers that only a change of flags disowns are kept until the
// release is requested.
func TestFlagsThatDisown(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	controller := w.controller()
	w.create("plain")
	controller.Kill()
	meter := w.meter()
	beside := w.controller("--default-class=false")
	w.eventually("the user is told", func() error {
		if countOf(w.events("plain"), "HeldForSafety") == 0 {
			return fmt.Errorf("no event yet: %q", w.events("plain"))
		}
		return nil
	})
	w.noWrites("disowned by flags", meter)
	w.finalizers("plain", stockFinalizer)
	beside.Kill()
	w.controller("--default-class=false", "--release-unclaimed")
	w.released("plain")
	w.asBefore(before)
}

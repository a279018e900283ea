package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

func changeSpec(set func(*corev1.ServiceSpec)) change {
	return func(svc *corev1.Service) { set(&svc.Spec) }
}

// told waits until a Service has the condition of a mistake, and wants exactly one event,
// both with all words that the user needs to correct it.
func (w *world) told(name string, words ...string) {
	w.t.Helper()
	var accepted metav1.Condition
	w.eventually(name+" is not accepted", func() error {
		svc := w.get(name)
		if accepted = harness.Condition(svc, status.TypeAccepted); accepted.Status != metav1.ConditionFalse {
			return fmt.Errorf("got %s", harness.Conditions(svc))
		}
		return nil
	})
	if err := requireWords(accepted.Message, words...); err != nil {
		w.t.Errorf("%s: condition: %v", name, err)
	}
	if accepted.Reason == string(status.ReasonAccepted) {
		w.t.Errorf("%s: reason %s", name, accepted.Reason)
	}
	w.toldOnce(name, words...)
}

// toldOnce wants exactly one Warning, with the words. Events are written a
// moment after the status.
func (w *world) toldOnce(name string, words ...string) {
	w.t.Helper()
	w.eventually(name+" has a warning", func() error {
		if len(w.warnings(name)) == 0 {
			return fmt.Errorf("none yet of %q", w.events(name))
		}
		return nil
	})
	warned := w.warnings(name)
	if len(warned) != 1 {
		w.t.Errorf("%s: want one warning, got %d:\n%s", name, len(warned), strings.Join(warned, "\n"))
	}
	if err := requireWords(strings.Join(warned, "\n"), words...); err != nil {
		w.t.Errorf("%s: event: %v", name, err)
	}
}

// TestWarningsThatRefuseNothing are about what has no effect: the rest is done.
func TestWarningsThatRefuseNothing(t *testing.T) {
	w := startWorld(t, 2)
	w.controller()
	const prefix = "service.beta.kubernetes.io/aws-load-balancer-"
	for _, c := range []struct {
		name  string
		bad   []change
		words []string
	}{
		{"misspelt", []change{setAnnotation("cross-zone-load-balancing-enable", "true")},
			[]string{"UnknownAnnotation", prefix + "cross-zone-load-balancing-enable", prefix + "cross-zone-load-balancing-enabled"}},
		{"port-name", []change{setAnnotation("ssl-cert", testCertificate), setAnnotation("ssl-ports", "https,tcp-80")},
			[]string{prefix + "ssl-ports", "https", "port numbers and names of the Service"}},
		{"later", []change{setAnnotation("alpn-policy", "HTTP2Only")}, []string{prefix + "alpn-policy"}},
		{"other-kind", []change{setAnnotation("eip-allocations", "eipalloc-1")}, []string{prefix + "eip-allocations"}},
		{"odd-type", []change{setAnnotation("type", "NLB")}, []string{prefix + "type", `"NLB"`, "nlb"}},
	} {
		w.create(c.name, c.bad...)
		w.condition(c.name, status.TypeAccepted, metav1.ConditionTrue, status.ReasonAccepted)
		w.toldOnce(c.name, c.words...)
		if b, err := w.balancer(c.name); err != nil || b.Kind != classicKind {
			t.Errorf("%s: want a Classic Load Balancer, got %+v, %v", c.name, b, err)
		}
	}
}

// TestRefusedByTheCloud requests a certificate that does not exist, which only the refusal of
// the cloud reveals. The live load balancer serves without a gap; a new one serves the ports
// that can be created.
func TestRefusedByTheCloud(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller()
	const nowhere = "arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0000-4000-8000-000000000000"
	words := []string{awsKey("ssl-cert"), nowhere, "certificates of ACM"}
	for name, kind := range map[string][]change{"clb": nil, "nlb": {useNetworkType}} {
		svc := w.create(name, append(kind, setPorts(80, 0, 443, 0))...)
		first, err := w.balancer(name)
		w.must(err)
		since := w.now()
		w.update(name, setAnnotation("ssl-cert", nowhere), setAnnotation("ssl-ports", "443"))
		w.told(name, words...)
		w.settled(w.meter())
		for _, e := range w.written(since) {
			if e.Committed {
				t.Errorf("%s: %s was done for a certificate that is not there", name, e.Operation)
			}
		}
		now, err := w.balancer(name)
		w.must(err)
		if diff := cmp.Diff(first, now); diff != "" {
			t.Errorf("%s: a refused change changed the load balancer (-want +got):\n%s", name, diff)
		}
		if len(w.get(name).Status.LoadBalancer.Ingress) == 0 {
			t.Errorf("%s: the address is gone", name)
		}
		w.must(w.Create(t.Context(), w.service("new-"+name, append(kind, setPorts(80, 0, 443, 0), setAnnotation("ssl-cert", nowhere), setAnnotation("ssl-ports", "443"))...)))
		w.told("new-"+name, words...)
		for _, name := range []string{name, "new-" + name} {
			w.update(name, setAnnotation("ssl-cert", testCertificate))
			w.condition(name, status.TypeProgrammed, metav1.ConditionTrue, status.ReasonProgrammed)
		}
		w.remove(svc, *w.get("new-" + name))
	}
	w.asBefore(before)
}

// TestServedElsewhere leaves Services of the AWS Load Balancer Controller alone.
func TestServedElsewhere(t *testing.T) {
	w := startWorld(t, 2)
	before := w.state()
	w.controller()
	for _, kind := range []string{"external", "nlb-ip"} {
		svc := w.service(kind, setAnnotation("type", kind))
		w.must(w.Create(t.Context(), svc))
		w.eventually("an event", func() error {
			return requireWords(strings.Join(w.events(kind), "\n"), "ServedElsewhere")
		})
		w.update(kind, setAnnotation("example.com/touched", "1"))
	}
	w.settled(w.meter())
	for _, kind := range []string{"external", "nlb-ip"} {
		w.untouched(kind)
		if got := w.events(kind); len(got) != 1 {
			t.Errorf("%s: want one event, got %q", kind, got)
		}
		w.remove(w.service(kind))
	}
	w.asBefore(before)
}

// untouched wants nothing of ours on a Service.
func (w *world) untouched(name string) {
	w.t.Helper()
	svc := w.get(name)
	if len(svc.Finalizers) > 0 || len(svc.Status.Conditions) > 0 || len(svc.Status.LoadBalancer.Ingress) > 0 || svc.Annotations[status.AnnotationApplied] != "" {
		w.t.Errorf("%s was touched: finalizers %v, status %+v, annotations %v", name, svc.Finalizers, svc.Status, svc.Annotations)
	}
}

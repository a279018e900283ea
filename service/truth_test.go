package service

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/status"
)

// TestProgrammedIsBoundToTheSpec: from the first write for a changed Service on, and for as
// long as the write does not succeed, the Service is not reported as programmed.
func TestProgrammedIsBoundToTheSpec(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(time.Minute)
		var during []string
		c.cloud.answer(func() error {
			during = append(during, c.programmed("web"))
			return fault.New(fault.Quota, "no room")
		})
		c.put("web", func(svc *corev1.Service) { svc.Spec.Ports[0].Port = 81 })
		advanceTime(time.Minute)
		if len(during) == 0 || during[0] != "Unknown Pending" {
			t.Errorf("during the writes: %q", during)
		}
		if got := c.programmed("web"); got != "False QuotaExceeded" {
			t.Error(got)
		}
		c.cloud.answer(nil)
		advanceTime(2 * time.Hour)
		if got := c.programmed("web"); got != "True Programmed" {
			t.Error(got)
		}
	})
}

// TestNotApplied: a value that the live load balancer does not get is reported for as long
// as the Service asks for it, also by runs that find nothing to do and by those for nodes.
func TestNotApplied(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(time.Minute)
		c.put("web", func(svc *corev1.Service) { svc.Spec.LoadBalancerIP = "192.0.2.7" })
		advanceTime(time.Minute)
		check := func(when string) {
			t.Helper()
			if got := c.programmed("web"); got != "False NotApplied" {
				t.Errorf("%s: %s", when, got)
			}
			if got := status.HealthOf(c.get("web")); got != status.Degraded {
				t.Errorf("%s: %s", when, got)
			}
		}
		check("after the change")
		before := c.written()
		c.node("n2")
		advanceTime(time.Minute)
		check("after a node")
		c.put("web", func(svc *corev1.Service) { svc.Labels = map[string]string{"touched": "yes"} })
		advanceTime(time.Minute)
		check("after a look")
		if got := c.written() - before; got != 0 {
			t.Errorf("%d writes of the Service", got)
		}
		c.put("web", func(svc *corev1.Service) { svc.Spec.LoadBalancerIP = "" })
		advanceTime(time.Minute)
		if got := c.programmed("web"); got != "True Programmed" {
			t.Error(got)
		}
	})
}

// TestGenerationIsObserved: conditions name the generation of the Service that they are about.
func TestGenerationIsObserved(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		for generation := int64(1); generation < 3; generation++ {
			c.put("web", func(svc *corev1.Service) {
				svc.Generation = generation
				svc.Spec.Selector = map[string]string{"version": string(rune('0' + generation))}
			})
			advanceTime(time.Minute)
			svc := c.get("web")
			for _, cond := range svc.Status.Conditions {
				if cond.ObservedGeneration != generation {
					t.Errorf("%s is about generation %d, want %d", cond.Type, cond.ObservedGeneration, generation)
				}
			}
			svc.Generation++
			if got := status.HealthOf(svc); got != status.Progressing {
				t.Errorf("after the next change: %s", got)
			}
		}
	})
}

// TestMissingBalancerIsNotProgrammed: a load balancer that was deleted by hand is not
// reported as programmed while it is being created again.
func TestMissingBalancerIsNotProgrammed(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(time.Minute)
		c.cloud.mu.Lock()
		delete(c.cloud.has, string(c.get("web").UID))
		c.cloud.mu.Unlock()
		c.cloud.answer(func() error { return fault.New(fault.Unavailable, "no answer") })
		c.put("web", func(svc *corev1.Service) {
			svc.Annotations = map[string]string{status.AnnotationLookAgain: metav1.Now().String()}
		})
		advanceTime(time.Minute)
		if got := c.programmed("web"); got != "False CloudUnavailable" {
			t.Error(got)
		}
	})
}

package service

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/metrics"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

const (
	poison = "example.com/poison" // at which stage a Service brings a defect to light
	// poisonedPort does so where its plan is compared, which sees no annotations.
	poisonedPort = 666
)

// panicAtStage panics if the Service triggers a defect at that stage.
func panicAtStage(svc *corev1.Service, stage string) {
	if svc.Annotations[poison] == stage {
		panic("a defect")
	}
}

func chooseToy(svc *corev1.Service) providers.Choice {
	panicAtStage(svc, "choose")
	return providers.Choice{Kind: "toy"}
}

// batchToy puts nothing in one call.
func batchToy(r stack.Resource, _ plan.Action, _ string) string {
	if spec, ok := r.Spec.(toyBalancer); ok && spec.Port == poisonedPort {
		panic("a defect")
	}
	return ""
}

// panicsIn is how many runs were counted that a defect ended.
func panicsIn(t *testing.T, m *metrics.Metrics) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "berth_panics_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return 0
}

// TestAPoisonedService: a defect that one Service brings to light is that Service's, at
// whatever stage of its way; it is counted, and tried again slowly.
func TestAPoisonedService(t *testing.T) {
	compared := func(svc *corev1.Service) { svc.Spec.Ports[0].Port = poisonedPort }
	at := func(stage string) func(*corev1.Service) {
		return func(svc *corev1.Service) { svc.Annotations = map[string]string{poison: stage} }
	}
	for stage, change := range map[string]func(*corev1.Service){"choose": at("choose"), "build": at("build"), "compare": compared, "show": at("show")} {
		registry := metrics.New("toy", metrics.Build{}, clock.RealClock{})
		inLoop(t, Options{Watchers: Watchers{Metrics: registry}}, func(c *cluster) {
			c.put("bad", change)
			c.put("web", asItIs)
			advanceTime(10 * time.Minute)
			if bad, good := c.programmed("bad"), c.programmed("web"); bad != "False InternalError" || good != "True Programmed" {
				t.Errorf("%s: bad: %s, good: %s", stage, bad, good)
			}
			if n := panicsIn(t, registry); n < 1 || n > 4 {
				t.Errorf("%s: %v panics counted in ten minutes, want one every five", stage, n)
			}
			c.put("bad", func(svc *corev1.Service) {
				delete(svc.Annotations, poison)
				svc.Spec.Ports[0].Port = 80
			})
			advanceTime(time.Minute)
			if got := c.programmed("bad"); got != "True Programmed" {
				t.Errorf("%s: mended: %s", stage, got)
			}
		})
	}
}

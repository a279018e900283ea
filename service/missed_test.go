package service

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
)

// TestWhatAnInformerMissed: a Service that an informer shows in an old version is
// reconciled again if a newer version, known only from the answer to a write, was handled.
func TestWhatAnInformerMissed(t *testing.T) {
	version := func(v string, change func(*corev1.Service)) *corev1.Service {
		svc := newClaimService("berth", func(svc *corev1.Service) { svc.ResourceVersion = v })
		change(svc)
		return svc
	}
	plain := func(*corev1.Service) {}
	address := func(svc *corev1.Service) {
		svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	}
	otherType := func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP }
	for name, tc := range map[string]struct {
		answer, now *corev1.Service
		want        int
	}{
		"a type that came and went":  {version("3", otherType), version("4", plain), 1},
		"an address that was wiped":  {version("3", address), version("4", plain), 1},
		"what we wrote":              {version("3", address), version("3", address), 0},
		"what was there before that": {version("3", address), version("2", plain), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v, _ := visitTo(newClaimService("berth"))
				c := v.Controller
				c.options.Clock = clock.RealClock{}
				c.queue = newQueue(clock.RealClock{}, func(string, time.Duration) {}, 1)
				defer c.queue.Close()
				c.writes.begin(v.key)
				c.writes.end(v.key, tc.answer, nil)
				c.serviceChanged(version("1", plain), tc.now)
				time.Sleep(2 * minContest)
				synctest.Wait()
				if got := countWaiting(c.queue); got != tc.want {
					t.Errorf("%d are queued, want %d", got, tc.want)
				}
			})
		})
	}
}

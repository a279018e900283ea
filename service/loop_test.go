package service

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/status"
)

func asItIs(*corev1.Service) {}

// TestARefusalIsTriedInSteps: what the cloud refuses is tried once per step of the
// back-off, though its words are others each time, and the Service is written once.
func TestARefusalIsTriedInSteps(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		n := 0
		c.cloud.answer(func() error {
			n++
			return fault.New(fault.Denied, "not authorized. RequestID: 0e5b1f0a-1c1e-4b58-9a53-%012d", n)
		})
		c.put("web", asItIs)
		advanceTime(10 * time.Minute) // 5, 10, 20, 40, 80, 160, 300 seconds apart
		if got := c.cloud.count(); got < 6 || got > 8 {
			t.Errorf("%d calls in ten minutes", got)
		}
		if got := c.written(); got > 2 {
			t.Errorf("%d writes of the Service: the claim and one condition are enough", got)
		}
		if got := c.programmed("web"); got != "False Denied" {
			t.Errorf("programmed: %s", got)
		}
		c.cloud.answer(nil)
		c.put("web", func(svc *corev1.Service) { svc.Spec.Ports[0].Port = 81 })
		advanceTime(time.Second)
		if got := c.programmed("web"); got != "True Programmed" {
			t.Errorf("after a user's change: %s", got)
		}
	})
}

// TestANodeWritesNoService: members follow a node that joins, and neither is a Service
// written nor an event told.
func TestANodeWritesNoService(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		for _, name := range serviceNames(20) {
			c.put(name, asItIs)
		}
		advanceTime(10 * time.Second)
		before := c.written()
		recordedEvents(c.events)
		c.node("n2")
		advanceTime(10 * time.Second)
		for _, name := range serviceNames(20) {
			if nodes, _ := c.cloud.serves(c.get(name).UID); nodes != "n1 n2" {
				t.Errorf("behind %s are %q", name, nodes)
			}
		}
		if got := c.written() - before; got > 0 {
			t.Errorf("%d writes of Services", got)
		}
		if got := recordedEvents(c.events); len(got) > 0 {
			t.Errorf("events: %q", got)
		}
	})
}

// TestFollowingIsQuietForAWhile: while a transient failure keeps backends from following
// the nodes, nothing is reported; if it lasts, the condition is no longer true.
func TestFollowingIsQuietForAWhile(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(10 * time.Second)
		recordedEvents(c.events)
		before := c.written()
		c.cloud.answer(func() error { return fault.New(fault.Unavailable, "no answer") })
		c.node("n2")
		advanceTime(4 * time.Minute)
		if got := c.programmed("web"); got != "True Programmed" || c.written() != before {
			t.Errorf("after four minutes: %s, %d writes", got, c.written()-before)
		}
		if got := recordedEvents(c.events); len(got) > 0 {
			t.Errorf("events: %q", got)
		}
		advanceTime(10 * time.Minute)
		if got := c.programmed("web"); got != "False CloudUnavailable" {
			t.Errorf("when it lasts: %s", got)
		}
		if got := c.told(status.EventSyncFailed); got == 0 {
			t.Error("no event when it lasts")
		}
		c.cloud.answer(nil)
		advanceTime(6 * time.Minute)
		if got := c.programmed("web"); got != "True Programmed" {
			t.Errorf("when it is over: %s", got)
		}
	})
}

// TestTwoWritersOfOneStatus: writes of other addresses are corrected less and less often,
// and an event names the writer.
func TestTwoWritersOfOneStatus(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(10 * time.Second)
		recordedEvents(c.events)
		before := c.written()
		for range 3600 { // the other one looks every half second
			if in := c.get("web").Status.LoadBalancer.Ingress; len(in) != 1 || in[0].IP != "192.0.2.1" {
				c.putAs("svclb-controller", "web", func(svc *corev1.Service) {
					svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
				})
			}
			advanceTime(500 * time.Millisecond)
		}
		if got := c.written() - before; got < 3 || got > 12 {
			t.Errorf("%d writes in half an hour", got)
		}
		events := recordedEvents(c.events)
		named := slices.ContainsFunc(events, func(e string) bool {
			return strings.Contains(e, "AddressOverwritten") && strings.Contains(e, "svclb-controller")
		})
		if !named || len(events) > 3 {
			t.Errorf("events: %q", events)
		}
	})
}

// TestAFinalizerTakenOff: what a Service had whose finalizer was taken off is deleted.
func TestAFinalizerTakenOff(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(10 * time.Second)
		if _, there := c.cloud.serves("uid-web"); !there {
			t.Fatal("it is not served")
		}
		recordedEvents(c.events)
		if err := c.client.Tracker().Delete(servicesResource, "shop", "web"); err != nil {
			t.Fatal(err)
		}
		advanceTime(10 * time.Second)
		if _, there := c.cloud.serves("uid-web"); there {
			t.Error("its load balancer is still there")
		}
		if got := c.told(status.EventFinalizerRemoved); got != 1 {
			t.Errorf("told %d times", got)
		}
	})
}

// TestANamesakeHidesNoLoss: a Service that is applied again under its name after its finalizer
// was removed is another one, whether the manifest has the finalizer or not: what the first one
// had is deleted once, and reported once.
func TestANamesakeHidesNoLoss(t *testing.T) {
	for name, finalizers := range map[string][]string{"plain": nil, "with the finalizer": {StockFinalizer}} {
		t.Run(name, func(t *testing.T) {
			inLoop(t, Options{}, func(c *cluster) {
				c.put("web", asItIs)
				advanceTime(10 * time.Second)
				recordedEvents(c.events)
				c.put("web", func(svc *corev1.Service) { // an informer may see both changes as one
					svc.UID = "uid-again"
					svc.Finalizers, svc.Annotations, svc.Status = finalizers, nil, corev1.ServiceStatus{}
				})
				advanceTime(10 * time.Second)
				if _, there := c.cloud.serves("uid-web"); there {
					t.Error("the load balancer of the first one still exists")
				}
				if _, there := c.cloud.serves("uid-again"); !there || c.programmed("web") != "True Programmed" {
					t.Errorf("the second one: served %v, programmed %s", there, c.programmed("web"))
				}
				if got := c.told(status.EventFinalizerRemoved); got != 1 {
					t.Errorf("%d events", got)
				}
				before := c.cloud.readCount()
				c.node("n2")
				advanceTime(10 * time.Second)
				if got := c.cloud.readCount() - before; got > 0 {
					t.Errorf("%d reads when a node joins: the first one is still being released", got)
				}
			})
		})
	}
}

// TestADryRunBindsNothing: it says on the condition and in one event what it would do,
// and writes neither a finalizer nor a record.
func TestADryRunBindsNothing(t *testing.T) {
	inLoop(t, Options{DryRun: true}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(10 * time.Second)
		svc := c.get("web")
		if len(svc.Finalizers) > 0 || len(svc.Annotations) > 0 || c.cloud.count() > 0 {
			t.Errorf("finalizers %v, annotations %v, %d calls", svc.Finalizers, svc.Annotations, c.cloud.count())
		}
		if got := c.programmed("web"); got != "False HeldByPolicy" {
			t.Errorf("programmed: %s", got)
		}
		if got := c.told(status.EventHeldByPolicy); got != 1 {
			t.Errorf("%d events", got)
		}
	})
}

// TestToAndFro: a Service that ceases to be of load balancers and becomes one again
// while it is released is never served without its finalizer.
func TestToAndFro(t *testing.T) {
	for pause := range 12 {
		t.Run(fmt.Sprint(pause), func(t *testing.T) {
			inLoop(t, Options{}, func(c *cluster) {
				c.put("web", asItIs)
				advanceTime(10 * time.Second)
				c.put("web", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP })
				advanceTime(time.Duration(pause*100) * time.Millisecond)
				c.put("web", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeLoadBalancer })
				for range 50 {
					advanceTime(100 * time.Millisecond)
					_, there := c.cloud.serves("uid-web")
					bound := slices.Contains(c.get("web").Finalizers, StockFinalizer)
					if there && !bound {
						t.Fatal("it is served and has no finalizer")
					}
				}
				if _, there := c.cloud.serves("uid-web"); !there || c.programmed("web") != "True Programmed" {
					t.Errorf("served %v, programmed %s", there, c.programmed("web"))
				}
			})
		})
	}
}

// TestWhoLostIsWokenAtOnce: if two Services request a resource that one of them can have,
// the second one gets it as soon as the first one releases it, by a change or by its
// deletion; and after at most five minutes if the holder is unknown to us.
func TestWhoLostIsWokenAtOnce(t *testing.T) {
	seat := func(svc *corev1.Service) { metav1.SetMetaDataAnnotation(&svc.ObjectMeta, seatKey, "yes") }
	ends := map[string]struct {
		ends   func(*cluster)
		within time.Duration
	}{
		"by a change": {func(c *cluster) {
			c.put("first", func(svc *corev1.Service) { delete(svc.Annotations, seatKey) })
		}, 2 * time.Second},
		"by its end": {func(c *cluster) {
			c.put("first", func(svc *corev1.Service) { svc.DeletionTimestamp = new(metav1.Now()) })
		}, 2 * time.Second},
		"elsewhere": {func(c *cluster) {
			c.cloud.mu.Lock()
			defer c.cloud.mu.Unlock()
			c.cloud.seat = ""
		}, maxBackoff + 10*time.Second},
	}
	for name, tc := range ends {
		t.Run(name, func(t *testing.T) {
			inLoop(t, Options{}, func(c *cluster) {
				c.put("first", seat)
				advanceTime(time.Second)
				c.put("second", seat)
				advanceTime(time.Minute)
				if _, there := c.cloud.serves(c.get("second").UID); there {
					t.Fatal("both have got it")
				}
				tc.ends(c)
				advanceTime(tc.within)
				if got := c.programmed("second"); got != "True Programmed" {
					t.Errorf("after %v: %s", tc.within, got)
				}
			})
		})
	}
}

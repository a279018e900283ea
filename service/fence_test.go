package service

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/status"
)

// term is a fence that tests close and open.
type term struct {
	mu  sync.Mutex
	err error
}

func (f *term) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (*term) Term() context.Context { return context.Background() }

func (f *term) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// TestFence: while its Lease is over a process writes nothing to the cloud or to
// Kubernetes, and does not take another leader's release for a finalizer that was removed
// by hand. Once the Lease is renewed it does what is due.
func TestFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f := newCluster(t, newToy()), &term{}
		c.beside(c.cloud.bound(t), reconcile.Options{Fence: f}, Options{Fence: f}, func() {
			c.put("gone", func(*corev1.Service) {})
			c.put("web", func(*corev1.Service) {})
			advanceTime(time.Minute)
			recordedEvents(c.events)
			f.set(errors.New("the Lease was not renewed"))
			writes, patches := c.cloud.count(), c.written()
			c.put("web", func(svc *corev1.Service) { svc.Spec.Ports[0].Port = 81 })
			c.put("new", func(*corev1.Service) {})
			if err := c.client.Tracker().Delete(servicesResource, "shop", "gone"); err != nil {
				t.Error(err)
			}
			c.node("n2")
			advanceTime(time.Minute)
			if c.cloud.count() != writes || c.written() != patches {
				t.Errorf("%d writes and %d patches after the end of the Lease", c.cloud.count()-writes, c.written()-patches)
			}
			if events := recordedEvents(c.events); len(events) > 0 {
				t.Errorf("events after the end of the Lease: %q", events)
			}
			f.set(nil)
			advanceTime(time.Minute)
			if nodes, there := c.cloud.serves("uid-new"); !there || nodes != "n1 n2" || c.programmed("web") != "True Programmed" {
				t.Errorf("after the renewal: %v %q, %s", there, nodes, c.programmed("web"))
			}
		})
	})
}

// TestFenceDuringRun: a Lease that runs out in the middle of a run ends the run before its
// next write, and no event blames the cloud for it.
func TestFenceDuringRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f := newCluster(t, newToy()), &term{}
		c.cloud.answer(func() error {
			f.set(errors.New("the Lease was not renewed"))
			return nil
		})
		c.beside(c.cloud.bound(t), reconcile.Options{Fence: f}, Options{Fence: f}, func() {
			c.put("web", func(*corev1.Service) {})
			advanceTime(10 * time.Second)
			if c.cloud.count() != 1 || c.programmed("web") != "" || c.told(status.EventSyncFailed) > 0 {
				t.Errorf("%d writes, status %q", c.cloud.count(), c.programmed("web"))
			}
		})
	})
}

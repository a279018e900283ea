package service

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-lb/berth/status"
)

// markDeleted marks a Service as deleted, as the API server does while it has finalizers.
func (c *cluster) markDeleted(name string) {
	c.put(name, func(svc *corev1.Service) { svc.DeletionTimestamp = &metav1.Time{Time: time.Now()} })
}

// programmedMessage returns the message of the condition Programmed.
func (c *cluster) programmedMessage(name string) string {
	for _, cond := range c.get(name).Status.Conditions {
		if cond.Type == status.TypeProgrammed {
			return cond.Message
		}
	}
	return ""
}

// TestReleaseIsReportedFirst: when the cloud gets the first deletion of a release, the
// condition already says so.
func TestReleaseIsReportedFirst(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(10 * time.Second)
		if got := c.programmed("web"); got != "True Programmed" {
			t.Fatal(got)
		}
		var during []string
		c.cloud.answer(func() error {
			during = append(during, c.programmed("web"))
			return nil
		})
		c.markDeleted("web")
		advanceTime(10 * time.Second)
		if len(during) == 0 || during[0] != "False Deleting" {
			t.Errorf("during the deletion: %q", during)
		}
		if _, err := c.client.Tracker().Get(servicesResource, "shop", "web"); !apierrors.IsNotFound(err) {
			t.Errorf("after the deletion: %v", err)
		}
	})
}

// TestRefusedFinalizerRemoval: while the API server refuses to remove the finalizer, the status
// has no address of the deleted load balancer and names the refusal.
func TestRefusedFinalizerRemoval(t *testing.T) {
	inLoop(t, Options{}, func(c *cluster) {
		c.put("web", asItIs)
		advanceTime(10 * time.Second)
		var refuse atomic.Bool
		refuse.Store(true)
		c.client.PrependReactor("patch", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
			a, _ := action.(clienttesting.PatchAction)
			if !refuse.Load() || !strings.Contains(string(a.GetPatch()), "deleteFromPrimitiveList") {
				return false, nil, nil
			}
			return true, nil, apierrors.NewForbidden(servicesResource.GroupResource(), "web", errors.New("finalizers are kept by policy"))
		})
		c.markDeleted("web")
		advanceTime(time.Second)
		svc := c.get("web")
		if _, there := c.cloud.serves(svc.UID); there {
			t.Fatal("the load balancer exists")
		}
		if got := c.programmed("web"); got != "False Deleting" || !strings.Contains(c.programmedMessage("web"), "finalizers are kept by policy") {
			t.Errorf("condition: %s: %s", got, c.programmedMessage("web"))
		}
		if got := svc.Status.LoadBalancer.Ingress; len(got) > 0 {
			t.Errorf("addresses: %v", got)
		}
		patches := c.written()
		advanceTime(time.Minute)
		if got := c.written(); got != patches {
			t.Errorf("%d more patches of the same content", got-patches)
		}
		refuse.Store(false)
		advanceTime(5 * time.Minute)
		if _, err := c.client.Tracker().Get(servicesResource, "shop", "web"); !apierrors.IsNotFound(err) {
			t.Errorf("after the end of the refusals: %v", err)
		}
	})
}

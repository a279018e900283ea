package gce_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/test/props"
)

// TestNodeAboutToGo: a node that the autoscaler is about to remove, or that is being
// deleted, keeps its connections: it stays a member, without a call, until it is
// deleted.
func TestNodeAboutToGo(t *testing.T) {
	for _, class := range []string{"l4-regional-external-legacy", "l4-regional-external", "l4-regional-internal-legacy", "l4-regional-internal"} {
		t.Run(class, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nearCloud(t, 6, 0)
				svc, r, api := numberedService(1, class), n.process(t), n.user(t)
				reconcileFully(t, r, svc, reconcile.Job{NeverProvisioned: true})
				all := groupedMachines(t, api, "")
				nodes := n.cloud.Seed.KubernetesNodes()
				nodes[0].Spec.Taints = []corev1.Taint{{Key: "ToBeDeletedByClusterAutoscaler", Effect: corev1.TaintEffectNoSchedule}}
				nodes[1].DeletionTimestamp = &metav1.Time{Time: time.Now()}
				n.cloud.Journal.Reset()
				r.SetNodes(props.Project(nodes))
				reconcileFully(t, r, svc, reconcile.Job{})
				if calls := n.cloud.Journal.Counts(); len(calls) > 0 {
					t.Errorf("calls for nodes that are still there: %v", calls)
				}
				if now := groupedMachines(t, api, ""); !slices.Equal(all, now) || len(all) != 6 {
					t.Errorf("members were %v and are %v", all, now)
				}
				r.SetNodes(props.Project(nodes[2:]))
				reconcileFully(t, r, svc, reconcile.Job{})
				if now := groupedMachines(t, api, ""); len(now) != 4 {
					t.Errorf("members are %v, want four", now)
				}
				time.Sleep(time.Minute) // what gathers calls ends
			})
		})
	}
}

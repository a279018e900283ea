package service

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// TestOutdated: a record is taken back before the first write that makes it untrue, and
// by nothing else.
func TestOutdated(t *testing.T) {
	some := plan.Plan{Steps: []plan.Step{stepOf("x")}}
	for name, tc := range map[string]struct {
		record  string
		draft   reconcile.Draft
		deleted bool
		want    string
	}{
		"another wish":                {record: "old", draft: reconcile.Draft{Parsed: reconcile.Parsed{Asked: "new"}, Plan: some}, want: ";class=berth"},
		"no wish any more":            {record: "old", draft: reconcile.Draft{Parsed: reconcile.Parsed{Intent: reconcile.Release}, Plan: some}, want: ";by=before;class=berth"},
		"refused until now":           {record: nothingMade, draft: reconcile.Draft{Parsed: reconcile.Parsed{Asked: "new"}, Plan: some}, want: ";class=berth"},
		"deleted":                     {record: "old", draft: reconcile.Draft{Parsed: reconcile.Parsed{Intent: reconcile.Release}, Plan: some}, deleted: true},
		"nodes alone":                 {record: "old", draft: reconcile.Draft{Parsed: reconcile.Parsed{Asked: "old"}, Plan: some}},
		"nothing to do":               {record: "old", draft: reconcile.Draft{Parsed: reconcile.Parsed{Asked: "new"}}},
		"nothing recorded":            {draft: reconcile.Draft{Parsed: reconcile.Parsed{Asked: "new"}, Plan: some}},
		"drift is kept":               {record: "kept:as-is", draft: reconcile.Draft{Parsed: reconcile.Parsed{Asked: "new", Digest: "as-is"}, Plan: some}},
		"drift is kept no longer":     {record: "kept:as-is", draft: reconcile.Draft{Parsed: reconcile.Parsed{Asked: "new", Digest: "other"}, Plan: some}, want: ";class=berth"},
		"drift was kept, and is gone": {record: "kept:as-is", draft: reconcile.Draft{Parsed: reconcile.Parsed{Intent: reconcile.Release}, Plan: some}, want: ";by=before;class=berth"},
	} {
		svc := newClaimService("berth")
		svc.Annotations[status.AnnotationApplied] = NewRecord(svc, tc.record, "before").String()
		if tc.deleted {
			svc.DeletionTimestamp = &metav1.Time{Time: time.Unix(1e9, 0)}
		}
		got, outdated := Outdated(svc, &tc.draft, "")
		if outdated != (tc.want != "") || got.Annotations[status.AnnotationApplied] != tc.want {
			t.Errorf("%s: %v, %q, want %q", name, outdated, got.Annotations[status.AnnotationApplied], tc.want)
		}
	}
}

// TestRecordIsVoidBeforeWrites: whenever the process ends in the middle of a run, the
// next one finds no record of what the cloud has no longer.
func TestRecordIsVoidBeforeWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*cluster)
		void   bool
	}{
		"another port": {func(c *cluster) { c.put("web", func(svc *corev1.Service) { svc.Spec.Ports[0].Port = 81 }) }, true},
		"another type": {func(c *cluster) {
			c.put("web", func(svc *corev1.Service) { svc.Spec.Type = corev1.ServiceTypeClusterIP })
		}, true},
		"a node": {func(c *cluster) { c.node("n2") }, false},
	} {
		inLoop(t, Options{}, func(c *cluster) {
			c.put("web", asItIs)
			advanceTime(time.Minute)
			if record, _ := RecordOf(c.get("web")); record.Digest == "" {
				t.Fatalf("%s: nothing is recorded", name)
			}
			var during []string
			c.cloud.answer(func() error {
				record, _ := RecordOf(c.get("web"))
				during = append(during, record.Digest)
				return nil
			})
			tc.change(c)
			advanceTime(time.Minute)
			if len(during) == 0 || during[0] == "" != tc.void {
				t.Errorf("%s: recorded at the writes: %q, want a void record: %v", name, during, tc.void)
			}
		})
	}
}

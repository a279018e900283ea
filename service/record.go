package service

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/status"
)

// Record is the content of the annotation berth-lb.io/applied: the last applied
// request, and the installation that served the Service.
type Record struct {
	Digest string // of the request at the last clean run; empty: unknown
	Class  string // of the Service when it was served; empty: none
	By     string // the installation that served it; empty: the only one
}

// Separators of the parts of a record.
const (
	recordBy    = ";by="
	recordClass = ";class="
)

// RecordOf reads the record on a Service; false if there is none.
func RecordOf(svc *corev1.Service) (Record, bool) {
	head, class, ok := strings.Cut(svc.Annotations[status.AnnotationApplied], recordClass)
	digest, by, _ := strings.Cut(head, recordBy)
	if !ok {
		class = ""
	}
	return Record{Digest: digest, Class: class, By: by}, ok
}

// String returns the value of the annotation.
func (r Record) String() string {
	head := r.Digest
	if r.By != "" {
		head += recordBy + r.By
	}
	return head + recordClass + r.Class
}

// NewRecord returns the record of a Service that an installation serves now.
func NewRecord(svc *corev1.Service, digest, installation string) Record {
	class, _ := classOf(svc)
	return Record{Digest: digest, Class: class, By: installation}
}

// Outdated returns the Want of a Service before a run of the draft, because its record and
// its conditions are untrue as soon as the run begins, and the process can end at any point
// of it; false: nothing changes. A Service in deletion cannot return to its earlier request.
// The installation stays on a released Service.
func Outdated(svc *corev1.Service, draft *reconcile.Draft, installation string) (status.Want, bool) {
	record, _ := RecordOf(svc)
	if svc.DeletionTimestamp != nil || !draft.Outdates(record.Digest) {
		return status.Want{}, false
	}
	if record.Digest = ""; draft.Intent != reconcile.Release {
		record = NewRecord(svc, "", installation)
	}
	want := status.Want{Annotations: map[string]string{status.AnnotationApplied: record.String()}}
	if draft.Intent != reconcile.Release {
		want.Generation, want.Conditions = svc.Generation, conditions.Applying(draft)
	}
	return want, true
}

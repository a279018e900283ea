package service

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/status"
)

// touched reports whether others have changed annotations or labels of a Service since
// its last reconcile. Then the cloud is read even if there is no other work, so that a
// touch detects a load balancer that was deleted by hand.
func (v *visit) touched() bool {
	before := v.known.marks
	v.known.marks = marksOf(v.svc, v.reconciler.Outputs())
	return before != "" && before != v.known.marks
}

// lookAge is the validity of a read of the cloud: repeated touches by a tool cost no
// calls.
const lookAge = time.Minute

// wantsLook reports whether to read the cloud although there is no other work: a user has
// requested it, or has touched a Service that was not read for a while.
func (v *visit) wantsLook() bool {
	first := v.known.marks == ""
	touched, now := v.touched(), v.options.Clock.Now()
	asked := v.svc.Annotations[status.AnnotationLookAgain]
	demanded := asked != v.known.asked && !first
	v.known.asked = asked
	if first {
		v.known.looked = now
	}
	return demanded || touched && now.Sub(v.known.looked) >= lookAge
}

// marksOf returns a digest of the metadata of a Service; never empty.
func marksOf(svc *corev1.Service, outputs providers.Outputs) string {
	ours := append(status.OwnAnnotations(), outputs.Annotations...)
	var all []string
	for key, value := range svc.Annotations {
		if !slices.Contains(ours, key) {
			all = append(all, "a "+key+"="+value)
		}
	}
	for key, value := range withoutKeys(svc.Labels, outputs.Labels) {
		all = append(all, "l "+key+"="+value)
	}
	slices.Sort(all)
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return hex.EncodeToString(sum[:8])
}

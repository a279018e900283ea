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

// touched tells whether annotations or labels of a Service were changed since it was
// seen last, by anybody but us. Where nothing else asks for work, the cloud is read
// then: who touches a Service that looks well wants it looked at, and a load balancer
// that was deleted by hand is found.
func (v *visit) touched() bool {
	before := v.known.marks
	v.known.marks = marksOf(v.svc, v.reconciler.Outputs())
	return before != "" && before != v.known.marks
}

// lookAge is how long a look at the cloud answers for: what is touched again and again
// by some tool costs no calls.
const lookAge = time.Minute

// wantsLook tells whether the cloud is to be read although nothing else asks for work: a
// user has asked for it, or has touched a Service that was not looked at for a while.
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

// marksOf is what was written on a Service beside its spec; never empty.
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

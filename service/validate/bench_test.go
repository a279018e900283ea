package validate_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// BenchmarkReview reports the 99th percentile of the time that a review takes: an update of a
// Service of 50 ports, which compares the old with the new one.
func BenchmarkReview(b *testing.B) {
	ports := func(svc *corev1.Service) {
		svc.Spec.Ports = nil
		for i := range int32(50) {
			svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Port: 1000 + i, Protocol: corev1.ProtocolTCP, NodePort: 30000 + i})
		}
	}
	handle := newHandler(b, true)
	request := newRequest(b, newService(ports), newService(ports, setAnnotation(prefix+"healthcheck-interval", "soon")))
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := handle(request); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

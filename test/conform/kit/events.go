package kit

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ensured is a Suite's Watch that waits for events: the stock service controller has reported
// once more for every Service that it is done.
func Ensured(w *World, services []corev1.Service) func(context.Context) error {
	before := w.ensures()
	return func(context.Context) error {
		now := w.ensures()
		for _, s := range services {
			if now[s.Name] <= before[s.Name] {
				return fmt.Errorf("%s was not looked at", s.Name)
			}
		}
		return nil
	}
}

// ensures counts, by Service, how often the stock controller has told that it was
// done with one.
func (w *World) ensures() map[string]int32 {
	w.T.Helper()
	events, err := w.Client.CoreV1().Events(w.Namespace).List(w.T.Context(), metav1.ListOptions{FieldSelector: "reason=EnsuredLoadBalancer"})
	w.Must(err)
	out := map[string]int32{}
	for _, e := range events.Items {
		out[e.InvolvedObject.Name] += max(1, e.Count)
	}
	return out
}

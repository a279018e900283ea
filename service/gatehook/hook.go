package gatehook

import (
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/webhook"
)

// Path is where the webhook of readiness gates answers.
const Path = "/mutate-pods"

// Services lists the known Services of a namespace.
type Services func(namespace string) []*corev1.Service

// Gates returns the handler that gives new pods the readiness gates of their Services.
func Gates(services Services) webhook.Handler {
	return patchPods(func(namespace string, pod *corev1.Pod) ([]byte, error) {
		return patchFor(pod, gatesFor(pod, services(namespace)))
	})
}

// ServerIDs returns the handler that gives containers of new pods ids for QUIC.
func ServerIDs() webhook.Handler {
	return patchPods(func(_ string, pod *corev1.Pod) ([]byte, error) { return serverIDs(pod) })
}

// patchPods returns a handler that patches new pods and allows every request.
func patchPods(patch func(namespace string, pod *corev1.Pod) ([]byte, error)) webhook.Handler {
	return func(r *admissionv1.AdmissionRequest) (webhook.Verdict, error) {
		if r.Operation != admissionv1.Create || r.Resource.Resource != "pods" || r.SubResource != "" {
			return webhook.Verdict{}, nil
		}
		pod := &corev1.Pod{}
		if err := json.Unmarshal(r.Object.Raw, pod); err != nil {
			return webhook.Verdict{}, fmt.Errorf("pod: %w", err)
		}
		body, err := patch(r.Namespace, pod)
		return webhook.Verdict{Patch: body}, err
	}
}

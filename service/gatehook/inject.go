package gatehook

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-lb/berth/status"
)

// gatesFor returns the sorted readiness gates of a pod: the conditions of the Services of
// its namespace that select it, and of Services that name another one which selects it.
func gatesFor(pod *corev1.Pod, services []*corev1.Service) []string {
	selects := map[string]bool{}
	for _, svc := range services {
		selects[svc.Name] = len(svc.Spec.Selector) > 0 && labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(pod.Labels))
	}
	var out []string
	for _, svc := range services {
		stands := svc.Annotations[status.AnnotationPodGates]
		if stands == "" {
			continue
		}
		for entry := range strings.SplitSeq(stands, ",") {
			gate, of, named := strings.Cut(entry, "=")
			if !named {
				of = svc.Name
			}
			if selects[of] {
				out = append(out, gate)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patchFor returns the JSON patch that gives a pod the gates that it does not have yet; nil
// if it has them all.
func patchFor(pod *corev1.Pod, gates []string) ([]byte, error) {
	all := slices.Clone(pod.Spec.ReadinessGates)
	for _, name := range gates {
		gate := corev1.PodReadinessGate{ConditionType: corev1.PodConditionType(name)}
		if !slices.Contains(all, gate) {
			all = append(all, gate)
		}
	}
	if len(all) == len(pod.Spec.ReadinessGates) {
		return nil, nil
	}
	return json.Marshal([]operation{{Op: "add", Path: "/spec/readinessGates", Value: all}})
}

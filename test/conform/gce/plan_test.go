package conform

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack/plan"
)

// plan asks the command line for the plan of the whole cluster and returns what
// it has to say on each Service: nothing, on a take-over.
func (w *world) plan(services []corev1.Service) map[string]string {
	w.t.Helper()
	text, code := w.command("plan", "-A", "-o", "json")
	if code != plan.ExitNothing {
		human, _ := w.command("plan", "-A")
		w.t.Errorf("plan: exit code %d\n%s", code, human)
	}
	var doc plan.Document
	w.must(json.Unmarshal([]byte(text), &doc))
	out := map[string]string{}
	for _, p := range doc.Plans {
		var lines []string
		for _, s := range p.Steps {
			lines = append(lines, s.ID)
		}
		out[p.Owner.Name] = strings.Join(lines, "; ")
	}
	if len(doc.Plans) != len(services) {
		w.t.Errorf("plan: %d Services, want %d", len(doc.Plans), len(services))
	}
	return out
}

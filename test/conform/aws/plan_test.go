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
	text, code := w.command("", "plan", "-A", "-o", "json")
	if code != plan.ExitNothing {
		human, _ := w.command("", "plan", "-A")
		w.t.Errorf("plan: exit code %d\n%s", code, human)
	}
	var doc plan.Document
	w.must(json.Unmarshal([]byte(text), &doc))
	out := map[string]string{}
	seen := 0
	for _, p := range doc.Plans {
		seen++
		var lines []string
		for _, s := range p.Steps {
			lines = append(lines, s.ID)
		}
		out[p.Owner.Name] = strings.Join(lines, "; ")
	}
	w.planChoice(services)
	if seen != len(services) {
		w.t.Errorf("plan: %d Services, want %d", seen, len(services))
	}
	return out
}

// planChoice asks for the Services of one namespace, and of one label.
func (w *world) planChoice(services []corev1.Service) {
	w.t.Helper()
	networks := 0
	for _, s := range services {
		if s.Labels["kind"] == "nlb" {
			networks++
		}
	}
	for _, c := range []struct {
		want int
		args []string
	}{
		{len(services), []string{"-n", w.namespace}},
		{networks, []string{"-n", w.namespace, "-l", "kind=nlb"}},
		{networks, []string{"-A", "-l", "kind=nlb"}},
		{0, []string{"-n", "default"}},
	} {
		text, code := w.command("", append([]string{"plan", "-o", "json"}, c.args...)...)
		var doc plan.Document
		w.must(json.Unmarshal([]byte(text), &doc))
		if code != plan.ExitNothing || len(doc.Plans) != c.want {
			w.t.Errorf("plan %v: exit code %d, %d Services, want %d", c.args, code, len(doc.Plans), c.want)
		}
	}
}

package props

import (
	"cmp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/service/conditions"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/golden"
)

// Mistake is a Service with an error of an application developer.
type Mistake struct {
	Name        string
	Annotations map[string]string
	Spec        func(*corev1.ServiceSpec)
	Live        bool // the Service was served before, without the annotations and the change
	// Says are parts of the conditions: the cause, and the next step.
	Says []string
}

// Mistakes compares the conditions of each mistake, as kubectl get -o yaml shows them, with a
// golden file, and fails where a condition lacks the cause or the next step.
func Mistakes(t *testing.T, fresh New, all []Mistake) {
	t.Helper()
	texts := make([]string, len(all))
	t.Run("all", func(t *testing.T) {
		for i, m := range all {
			runVirtual(t, m.Name, func(t *testing.T) { texts[i] = m.conditions(t, fresh(t)) })
		}
	})
	var file strings.Builder
	for i, m := range all {
		file.WriteString("# " + m.Name + "\n" + texts[i] + "\n")
		if len(m.Says) < 2 {
			t.Errorf("%s: the case does not say what cause and next step are expected", m.Name)
		}
		for _, part := range m.Says {
			if !strings.Contains(joinLines(texts[i]), part) {
				t.Errorf("%s: the conditions do not contain %q:\n%s", m.Name, part, texts[i])
			}
		}
	}
	golden.Check(t, "testdata/mistakes.golden", file.String())
}

// conditions returns the conditions that the Service ends with.
func (m Mistake) conditions(t *testing.T, s Subject) string {
	t.Helper()
	svc := Service("web", m.Annotations, m.Spec).Service
	p := startProcess(t, s, s.Nodes(), svc)
	if m.Live {
		before := Service("web", map[string]string{}).Service
		before.Spec.LoadBalancerClass = svc.Spec.LoadBalancerClass
		p.converge(before, false)
	}
	var last reconcile.Result
	for range runsUntilSettled {
		res, err := Work(t.Context(), p.r, reconcile.Job{Service: svc})
		if err != nil {
			return asYAML(t, []status.Condition{conditions.Failed(err)})
		}
		svc.Status.LoadBalancer.Ingress = res.Status.Ingress
		if last = res; res.Clean {
			break
		}
	}
	hold, _ := conditions.Standing(last)
	return asYAML(t, append(hold, conditions.Programmed(last)))
}

// runsUntilSettled is how often a Service is reconciled before its conditions are read.
const runsUntilSettled = 6

// joinLines returns YAML without its line breaks and quotes.
func joinLines(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "''", "'")
}

// asYAML renders conditions without their times.
func asYAML(t *testing.T, all []status.Condition) string {
	t.Helper()
	var out []map[string]string
	for _, c := range all {
		out = append(out, map[string]string{"type": c.Type, "status": string(c.Status), "reason": string(c.Reason), "message": cmp.Or(c.Message, "-")})
	}
	text, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

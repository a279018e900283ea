package props

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/reconcile"
)

// Mistaken checks what becomes of a Service whose annotation gets a value that names
// nothing in the cloud: it is told, with key and value; what is there stays as it is and
// follows the nodes, for the process that has served the Service as for a new one; put
// right, nothing has to be done.
func Mistaken(t *testing.T, fresh New, c Case, key, value string) {
	mistaken(t, fresh, c, key, value, annotations.Error)
}

// Unheeded is Mistaken for a key that is not heeded any more once the load balancer is
// there: the Service is warned.
func Unheeded(t *testing.T, fresh New, c Case, key, value string) {
	mistaken(t, fresh, c, key, value, annotations.Warning)
}

func mistaken(t *testing.T, fresh New, c Case, key, value string, severity annotations.Severity) {
	virtually(t, c.Name+" "+key, func(t *testing.T) {
		s := fresh(t)
		served := begin(t, s, s.Nodes(), c.Service)
		served.converge(c.Service, false)
		moves := served.without(s, c.Service)
		all := shape(t, s, c.Service)
		bad := c.Service.DeepCopy()
		if bad.Annotations == nil {
			bad.Annotations = map[string]string{}
		}
		bad.Annotations[key] = value
		for who, start := range map[string]func() *process{
			"the process that has served it": func() *process { return served },
			"a new process":                  func() *process { return begin(t, s, s.Nodes(), bad) },
		} {
			p := start()
			p.told(bad, key, value, severity)
			if p.without(s, bad) != moves {
				t.Errorf("%s: the Service does not follow the nodes as it did before", who)
			}
			if diff := cmp.Diff(all, shape(t, s, c.Service)); diff != "" {
				t.Errorf("%s: what is there has changed (-want +got):\n%s", who, diff)
			}
		}
		nothingToDo(t, s, s.Nodes(), c.Service)
	})
}

// told works on a Service and wants it told of a key and its value, and nothing written.
func (p *process) told(svc *corev1.Service, key, value string, severity annotations.Severity) {
	p.t.Helper()
	p.s.Control().Journal.Reset()
	res, err := p.once(p.t.Context(), svc, false)
	if err != nil || res.Err != nil {
		p.t.Fatal(err, res.Err)
	}
	if res.Draft.Intent == reconcile.LeaveAlone {
		p.t.Errorf("%s is left alone", svc.Name)
	}
	if !slices.ContainsFunc(res.Draft.Problems, func(problem annotations.Problem) bool {
		return problem.Key == key && problem.Value == value && problem.Severity == severity
	}) {
		p.t.Errorf("nobody is told of %s: %s: %v", key, value, res.Draft.Problems.Strings())
	}
	if n := writes(p.s); n != 0 {
		p.t.Errorf("%d writing calls for a mistake: %v", n, p.s.Control().Journal.Counts())
	}
}

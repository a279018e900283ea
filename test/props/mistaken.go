package props

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
)

// Mistaken checks a Service whose annotation gets a value that names nothing in the cloud.
// The mistake is reported with key and value. Existing resources stay unchanged and follow
// the nodes, for the process that has served the Service and for a new one. Once the value is
// corrected, nothing has to be done.
func Mistaken(t *testing.T, fresh New, c Case, key, value string) {
	testMistake(t, fresh, c, mistake{key, value, annotations.Error, false})
}

// FoundOut is Mistaken for a name of a resource that the cloud does not list: the mistake is
// reported once the cloud has refused it.
func FoundOut(t *testing.T, fresh New, c Case, key, value string) {
	testMistake(t, fresh, c, mistake{key, value, annotations.Error, true})
}

// Unheeded is Mistaken for a key that has no effect once the load balancer exists: the
// Service gets a warning.
func Unheeded(t *testing.T, fresh New, c Case, key, value string) {
	testMistake(t, fresh, c, mistake{key, value, annotations.Warning, false})
}

// mistake is what a user writes, and how severe it is; tried says that the cloud has to be
// asked by a write.
type mistake struct {
	key, value string
	severity   annotations.Severity
	tried      bool
}

func testMistake(t *testing.T, fresh New, c Case, m mistake) {
	runVirtual(t, c.Name+" "+m.key, func(t *testing.T) {
		s := fresh(t)
		served := startProcess(t, s, s.Nodes(), c.Service)
		served.converge(c.Service, false)
		moves := served.without(s, c.Service)
		all := resourceKeys(t, s, c.Service)
		bad := c.Service.DeepCopy()
		if bad.Annotations == nil {
			bad.Annotations = map[string]string{}
		}
		bad.Annotations[m.key] = m.value
		for who, start := range map[string]func() *process{
			"the process that has served it": func() *process { return served },
			"a new process":                  func() *process { return startProcess(t, s, s.Nodes(), bad) },
		} {
			p := start()
			p.told(bad, m)
			if p.without(s, bad) != moves {
				t.Errorf("%s: the Service does not follow the nodes as it did before", who)
			}
			if diff := cmp.Diff(all, resourceKeys(t, s, c.Service)); diff != "" {
				t.Errorf("%s: existing resources have changed (-want +got):\n%s", who, diff)
			}
		}
		nothingToDo(t, s, s.Nodes(), c.Service)
	})
}

// told reconciles a Service and wants a mistake reported and nothing written. A refused call
// may reveal the mistake.
func (p *process) told(svc *corev1.Service, m mistake) {
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
		return problem.Key == m.key && problem.Value == m.value && problem.Severity == m.severity
	}) {
		p.t.Errorf("no problem reports %s: %s: %v", m.key, m.value, res.Draft.Problems.Strings())
	}
	for _, e := range p.s.Control().Journal.Entries() {
		if e.Write && (e.Committed || !m.tried) {
			p.t.Errorf("a writing call for a mistake: %s, %s", e.Operation, e.Code)
		}
	}
}

// FoundOutAmid is FoundOut for a name that is set together with other ports: nothing of the
// old ports is deleted, neither by the process that has served the Service nor by a new one,
// until the name exists in the cloud.
func FoundOutAmid(t *testing.T, fresh New, c Case, key, value, good string) {
	runVirtual(t, c.Name+" "+key, func(t *testing.T) {
		s := fresh(t)
		served := startProcess(t, s, s.Nodes(), c.Service)
		served.converge(c.Service, false)
		before := observedStack(t, s, c.Service)
		bad := c.Service.DeepCopy()
		for i := range bad.Spec.Ports {
			bad.Spec.Ports[i].Port += 1000
		}
		if bad.Annotations == nil {
			bad.Annotations = map[string]string{}
		}
		bad.Annotations[key] = value
		for who, start := range map[string]func() *process{
			"the process that has served it": func() *process { return served },
			"a new process":                  func() *process { return startProcess(t, s, s.Nodes(), bad) },
		} {
			p := start()
			for range 3 {
				if _, err := p.once(t.Context(), bad, false); err != nil {
					t.Fatal(who, err)
				}
			}
			if lost := missingFrom(before, observedStack(t, s, bad)); len(lost) > 0 {
				t.Errorf("%s: gone while nothing has taken its place: %v", who, lost)
			}
		}
		bad.Annotations[key] = good
		served.converge(bad, false)
		nothingToDo(t, s, s.Nodes(), bad)
	})
}

// missingFrom lists found resources that no longer exist, and missing members of resources that
// still exist.
func missingFrom(before, after *stack.Stack) []string {
	var out []string
	for _, b := range before.Resources {
		a, there := after.Get(b.Key)
		if !there {
			out = append(out, b.Key.String())
			continue
		}
		was, is := reflect.ValueOf(b.Spec), reflect.ValueOf(a.Spec)
		for i := range was.NumField() {
			if was.Field(i).Kind() != reflect.Slice {
				continue
			}
			for n := range was.Field(i).Len() {
				if member := was.Field(i).Index(n).Interface(); !listContains(is.Field(i), member) {
					out = append(out, fmt.Sprintf("%s: %s %+v", b.Key, was.Type().Field(i).Name, member))
				}
			}
		}
	}
	return out
}

func listContains(list reflect.Value, member any) bool {
	for n := range list.Len() {
		if reflect.DeepEqual(list.Index(n).Interface(), member) {
			return true
		}
	}
	return false
}

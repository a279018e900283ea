package props

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// RunRewritten checks that every case is served by rewritten answers.
func RunRewritten(t *testing.T, fresh New, cases []Case, rewrite func([]byte) []byte) {
	for _, c := range cases {
		runVirtual(t, c.Name, func(t *testing.T) { rewriteAnswers(t, fresh, c, rewrite) })
	}
}

// rewriteAnswers: a Service is served, found again and released by answers that say the same in another form:
// with lists in another order, which clouds do not promise, or without empty members.
func rewriteAnswers(t *testing.T, fresh New, c Case, rewrite func([]byte) []byte) {
	s := fresh(t)
	before := cloudState(t, s)
	s.Control().Rewrite = rewrite
	p := startProcess(t, s, s.Nodes(), c.Service)
	p.converge(c.Service, false)
	nothingToDo(t, s, s.Nodes(), c.Service)
	p = startProcess(t, s, s.Nodes(), c.Service)
	p.converge(c.Service, true)
	if diff := cmp.Diff(before, cloudState(t, s)); diff != "" {
		t.Errorf("deletion left something (-before +after):\n%s", diff)
	}
}

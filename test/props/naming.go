package props

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/reconcile"
)

// NamesRefused runs Services under a policy that lets nothing be named. Each annotation of a
// cloud that names something is refused, with its key, before any write. A Service that names
// nothing is served and stays accepted, with the annotations that the controller writes.
func NamesRefused(t *testing.T, fresh New, set *annotations.Set, cases ...Case) {
	for _, c := range cases {
		runVirtual(t, c.Name, func(t *testing.T) {
			s := fresh(t)
			p := underNoNames(t, s)
			tried := 0
			for _, row := range annotations.Rows(set) {
				if row.Writer != annotations.ByController && row.On == annotations.ServiceAnnotation && row.Support == annotations.Works {
					tried += p.refusesNames(set, c.Service, row)
				}
			}
			if tried == 0 {
				t.Error("no key names anything")
			}
			p.converge(c.Service, false)
			served, err := p.once(t.Context(), c.Service, false)
			if err != nil || served.Err != nil {
				t.Fatal(err, served.Err)
			}
			after := c.Service.DeepCopy()
			if after.Annotations == nil {
				after.Annotations = map[string]string{}
			}
			for key, value := range served.Status.Annotations {
				after.Annotations[key] = value
			}
			for _, process := range []*process{p, underNoNames(t, s)} {
				again, err := process.once(t.Context(), after, false)
				if err != nil || again.Draft.Problems.Errors() {
					t.Errorf("a Service that names nothing: %v %q", err, again.Draft.Problems.Strings())
				}
			}
		})
	}
}

// underNoNames starts a process whose policy lets nothing be named.
func underNoNames(t testing.TB, s Subject) *process {
	p := &process{t: t, s: s}
	p.r = reconcile.New(s.Open(t), reconcile.Options{Admit: refuseNames})
	p.r.SetNodes(s.Nodes())
	p.r.AllKnown()
	return p
}

// refuseNames refuses every thing that a Service names.
func refuseNames(_ *corev1.Service, reach providers.Reach) annotations.Problems {
	var out annotations.Problems
	for _, n := range reach.Names {
		out.Refuse(n.Key, n.Value, "is named", "nothing")
	}
	return out
}

// refusesNames tries the annotation with each value that names something and returns how many
// there are.
func (p *process) refusesNames(set *annotations.Set, svc *corev1.Service, row annotations.Row) int {
	p.t.Helper()
	var values []string
	for _, names := range row.Names {
		entry, _, inside := strings.Cut(names, ": ")
		switch {
		case names == "nothing":
		case inside:
			values = append(values, entry+"=something")
		default:
			values = append(values, row.Example)
		}
	}
	tried := 0
	for _, value := range values {
		named := svc.DeepCopy()
		if named.Annotations == nil {
			named.Annotations = map[string]string{}
		}
		key := strings.NewReplacer("<PORT>", "80", "{port}", "80", "<PROTOCOL>", "TCP").Replace(row.Key)
		named.Annotations[key] = value
		named.Name, named.UID = "named", "8d5d9b1e-6a3c-4c53-9d0f-0e7f00000001"
		if !set.Works(key, p.s.Open(p.t).Choose(named).Kind) {
			continue
		}
		p.s.Control().Journal.Reset()
		res, err := p.once(p.t.Context(), named, false)
		said := res.Draft.Problems.Strings()
		// A refused Service may name an account that its reads need and that is unknown.
		if failed := err != nil || res.Err != nil; failed && !res.Draft.Problems.Errors() {
			p.t.Fatal(err, res.Err)
		}
		tried++
		if !strings.Contains(strings.Join(said, " "), key) || !res.Draft.Problems.Errors() {
			p.t.Errorf("%s: %q is not refused: %q", key, value, said)
		}
		for _, e := range p.s.Control().Journal.Entries() {
			if e.Write {
				p.t.Errorf("%s: %q: %s was sent: %v; %q", key, value, e.Operation, stepIDs(res.Draft.Plan), said)
			}
		}
	}
	return tried
}

package props

import (
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/traffic"
	"github.com/berth-lb/berth/test/sim"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// Uninterrupted changes a Service into another one while the cloud permanently refuses one type
// of write: no port is lost, as [LostPorts] reports, also after a restart. Once no write is
// refused, the desired state is reached. It is the first law of test/laws on a simulator.
// Excepted are operations whose refusal the plan cannot make up for.
func Uninterrupted(t *testing.T, fresh New, from, to Case, except ...string) {
	was, is := from.Service, to.Service.DeepCopy()
	is.ObjectMeta.Name, is.ObjectMeta.UID = was.Name, was.UID
	name := from.Name + " to " + to.Name
	for _, operation := range writesOf(t, fresh, name, was, is) {
		if slices.Contains(except, operation) {
			continue
		}
		runVirtual(t, name+" "+operation, func(t *testing.T) {
			s := fresh(t)
			p := startProcess(t, s, s.Nodes(), was)
			p.converge(was, false)
			before := observedStack(t, s, was)
			allow := refuseOperation(t, s, operation)
			for _, who := range []string{"the process that has served it", "a new process"} {
				for range 4 {
					if _, err := p.once(t.Context(), is, false); err != nil {
						t.Fatal(who, err)
					}
				}
				p = startProcess(t, s, s.Nodes(), is)
				d, err := p.r.Draft(t.Context(), p.job(is))
				if err != nil {
					t.Fatal(err)
				}
				if lost := LostPorts(s.Open(t).Flows, before, d); len(lost) > 0 {
					t.Errorf("%s: clients are not served any more:\n%s", who, traffic.Text(lost))
				}
			}
			allow()
			p.converge(is, false)
			nothingToDo(t, s, s.Nodes(), is)
		})
	}
}

// Renumbered returns the Service of a case with other port numbers.
func Renumbered(c Case) Case {
	out := Case{c.Name + " renumbered", c.Service.DeepCopy()}
	for i := range out.Service.Spec.Ports {
		out.Service.Spec.Ports[i].Port += 1000
	}
	return out
}

// LostPorts returns the flows of a Service that served before and do not serve in the observed
// state of a draft. A port that is not desired any more may have ended once all new ones serve.
func LostPorts(flows traffic.Func, before *stack.Stack, d *reconcile.Draft) []traffic.Flow {
	of := func(s *stack.Stack) []traffic.Flow {
		if s == nil {
			return nil
		}
		return slices.DeleteFunc(flows([]*stack.Stack{s}), func(f traffic.Flow) bool { return !f.Serves() })
	}
	old, wanted, now := of(before), of(d.Want), of(d.Have)
	replaced := len(wanted) > 0 && !slices.ContainsFunc(wanted, func(f traffic.Flow) bool { return !isServed(f, f, now) })
	return slices.DeleteFunc(slices.Clone(old), func(f traffic.Flow) bool {
		at := slices.IndexFunc(wanted, func(w traffic.Flow) bool { return samePort(f, w) })
		return at >= 0 && isServed(f, wanted[at], now) || at < 0 && (replaced || isServed(f, f, now))
	})
}

// isServed reports whether the clients that two flows admit reach their port, with as many
// backends as the first one has.
func isServed(f, g traffic.Flow, now []traffic.Flow) bool {
	return slices.ContainsFunc(now, func(n traffic.Flow) bool {
		return samePort(f, n) && traffic.Contains(n.From, traffic.Intersect(f.From, g.From))
	})
}

func samePort(f, g traffic.Flow) bool {
	return f.Family == g.Family && f.Port == g.Port && f.Protocol == g.Protocol
}

// refuseOperation makes the cloud refuse an operation until it is allowed again. A
// refusal that no call has met proves nothing, and fails the test.
func refuseOperation(t *testing.T, s Subject, operation string) (allow func()) {
	t.Helper()
	control := s.Control()
	control.Journal.Reset()
	id, err := control.Faults.Add(sim.Fault{Kind: sim.FaultError, Operation: operation, WritesOnly: true, Status: http.StatusBadRequest})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		control.Faults.Remove(id)
		if !slices.ContainsFunc(control.Journal.Entries(), func(e sim.Entry) bool { return len(e.Faults) > 0 }) {
			t.Errorf("%s was never refused", operation)
		}
	}
}

// writesOf names the writing calls that a change of a Service takes.
func writesOf(t *testing.T, fresh New, name string, from, to *corev1.Service) []string {
	var out []string
	virtual.Run(t, name+" undisturbed", func(t *testing.T) {
		s := fresh(t)
		p := startProcess(t, s, s.Nodes(), from)
		p.converge(from, false)
		s.Control().Journal.Reset()
		p.converge(to, false)
		for _, e := range s.Control().Journal.Entries() {
			if e.Write && !slices.Contains(out, e.Operation) {
				out = append(out, e.Operation)
			}
		}
	})
	slices.Sort(out)
	return out
}

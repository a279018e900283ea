package kit

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/test/sim"
)

// Cost is what a phase took of the cloud, per Service.
type Cost struct{ Calls, Writes float64 }

// String is the cost as tables have it.
func (c Cost) String() string { return fmt.Sprintf("%.1f (%.1f)", c.Calls, c.Writes) }

// Phases are those of a Service's life, in order.
func Phases() []string { return []string{"create", "touch", "port", "delnode", "addnode", "delete"} }

// Calls counts what the official controller and Berth ask of the same cloud in each
// phase of the lives of so many Services, which are copies of the first one that
// testdata has for the configuration. It returns Berth's costs by phase.
func (s *Suite) Calls(t *testing.T, config string, number int, results *Table) map[string]Cost {
	var official, berth map[string]Cost
	lived := t.Run(fmt.Sprintf("official/%d", number), func(t *testing.T) {
		official = s.life(t, config, number, func(w *World) func() { return w.Official().Kill })
	})
	lived = t.Run(fmt.Sprintf("berth/%d", number), func(t *testing.T) {
		berth = s.life(t, config, number, func(w *World) func() {
			p := w.Berth()
			return func() { w.Stop(p) }
		})
	}) && lived
	if !lived {
		return berth
	}
	for _, phase := range Phases() {
		more := berth[phase].Calls > official[phase].Calls || berth[phase].Writes > official[phase].Writes
		if more {
			t.Errorf("%s of %d: Berth makes %s calls (writes) per Service, the official controller %s", phase, number, berth[phase], official[phase])
		}
		results.Add(fmt.Sprintf("calls of %d", number), phase, more, fmt.Sprintf("per Service, writes in brackets: official %s, Berth %s", official[phase], berth[phase]))
	}
	return berth
}

// life takes copies of a Service through all phases.
func (s *Suite) life(t *testing.T, config string, number int, start func(*World) (stop func())) map[string]Cost {
	w := s.NewWorld(t, config)
	services := copyServices(w.Services(config)[0], number)
	nodes, err := w.SeedNodes()
	w.Must(err)
	stop := start(w)
	defer stop()
	w.Settle(0) // it logs in
	out := map[string]Cost{}
	phase := func(name string, writes int, act error, done func(context.Context) error) {
		w.Must(act)
		out[name] = w.cost(name, number, writes, done)
	}
	w.mark = w.Mark()
	phase("create", number, w.Create(t.Context(), services...), w.Addressed(services...))
	phase("touch", 0, w.each(services, func(svc *corev1.Service) { metav1.SetMetaDataAnnotation(&svc.ObjectMeta, "example.com/touched", "yes") }), nil)
	phase("port", number, w.each(services, func(svc *corev1.Service) {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "more", Port: 8443, TargetPort: intstr.FromInt32(8443)})
	}), nil)
	phase("delnode", number, w.LeaveNode(t.Context(), nodes[0].Name), nil)
	phase("addnode", number, w.JoinNode(t.Context(), &nodes[0]), nil)
	phase("delete", number, w.Delete(t.Context(), services...), w.Gone(services...))
	return out
}

// cost waits until a phase is done, by so many writes at least, and counts its calls.
func (w *World) cost(name string, number, writes int, done func(context.Context) error) Cost {
	w.T.Helper()
	mark := w.mark
	w.Eventually(name, func(ctx context.Context) error {
		calls, err := w.Sim.Journal(ctx, mark)
		if err != nil {
			return err
		}
		if n := len(Writes(calls)); n < writes {
			return fmt.Errorf("%d writes so far", n)
		}
		if done != nil {
			return done(ctx)
		}
		return nil
	})
	calls := w.Settle(mark)
	for _, e := range calls {
		if e.Status >= 400 && e.Write {
			w.T.Logf("%s: refused: %s", name, Describe(e))
		}
	}
	w.mark = w.Mark()
	per := func(entries []sim.Entry) float64 { return float64(len(entries)) / float64(number) }
	return Cost{Calls: per(calls), Writes: per(Writes(calls))}
}

// each changes Services.
func (w *World) each(services []corev1.Service, change func(*corev1.Service)) error {
	for _, s := range services {
		if err := w.Change(w.T.Context(), s.Namespace, s.Name, change); err != nil {
			return err
		}
	}
	return nil
}

func copyServices(of corev1.Service, number int) []corev1.Service {
	out := make([]corev1.Service, 0, number)
	for i := range number {
		s := of.DeepCopy()
		s.Name = fmt.Sprintf("%s-%d", of.Name, i+1)
		out = append(out, *s)
	}
	return out
}

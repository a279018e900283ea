package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// mistaken makes each mistake on a live Service, whose load balancer is unchanged, and on a
// new one, for which nothing is created until the mistake is corrected.
func (p *place) mistaken(t *testing.T) {
	w := p.start(t, 3)
	before := w.dump()
	nodes := w.seed(2)
	w.controller()
	live := p.forMistakes(w, "", 0)
	w.must(w.Create(t.Context(), live...))
	w.programmed(live...)
	w.settled(w.meter())
	first := w.byName(live)

	meter := w.meter()
	fresh := p.forMistakes(w, "new-", len(live))
	for i, m := range p.mistakes {
		w.update(m.name, m.bad...)
		for _, c := range m.bad {
			c(&fresh[i])
		}
	}
	w.must(w.Create(t.Context(), fresh...))
	for _, m := range p.mistakes {
		w.told(m.name, m.words...)
		w.told("new-"+m.name, m.words...)
	}
	w.noWrites("mistakes", meter)
	if diff := cmp.Diff(first, w.byName(live)); diff != "" {
		t.Errorf("a mistake changed a load balancer (-before +after):\n%s", diff)
	}
	w.must(w.JoinNode(t.Context(), &nodes[2]))
	for _, svc := range live {
		w.eventually(svc.Name+" follows the nodes", func() error {
			f, err := w.front(svc.Name)
			return errors.Join(err, diffError("members", nodeNames(nodes), f.Members))
		})
		if len(w.get(svc.Name).Status.LoadBalancer.Ingress) == 0 {
			t.Errorf("%s: the address is gone: %s", svc.Name, harness.Conditions(w.get(svc.Name)))
		}
	}
	for _, m := range p.mistakes {
		w.told(m.name, m.words...) // still, and not again
		if got := w.get("new-" + m.name).Status.LoadBalancer.Ingress; len(got) > 0 {
			t.Errorf("new-%s has an address: %v", m.name, got)
		}
	}
	half := len(fresh) / 2
	w.remove(fresh[:half]...)
	for i, m := range p.mistakes {
		w.update(m.name, m.fix...)
		if i >= half {
			w.update("new-"+m.name, m.fix...)
		}
	}
	both := append(slices.Clone(live), fresh[half:]...)
	w.programmed(both...)
	w.restored(live, first)
	w.remove(both...)
	w.nothingLeft(before)
}

// forMistakes are Services, one for each mistake, without it.
func (p *place) forMistakes(w *world, prefix string, from int) []corev1.Service {
	var out []corev1.Service
	for i, m := range p.mistakes {
		svc := w.one(p.kindOf(m), from+i)
		svc.Name = prefix + m.name
		out = append(out, svc)
	}
	return out
}

func (p *place) kindOf(m mistake) kind {
	return p.kinds[slices.IndexFunc(p.kinds, func(k kind) bool { return k.name == m.kind })]
}

// restored requires live Services to be as they were before their mistakes.
func (w *world) restored(live []corev1.Service, first map[string]front) {
	w.t.Helper()
	for _, svc := range live {
		w.condition(svc.Name, status.TypeAccepted, metav1.ConditionTrue, status.ReasonAccepted)
		w.eventually(svc.Name+" is as before the mistake", func() error {
			f, err := w.front(svc.Name)
			return errors.Join(err, diffError("ports", first[svc.Name].Ports, f.Ports), diffError("settings", first[svc.Name].Settings, f.Settings))
		})
	}
}

// byName are the fronts of Services.
func (w *world) byName(services []corev1.Service) map[string]front {
	w.t.Helper()
	out := map[string]front{}
	for _, svc := range services {
		f, err := w.front(svc.Name)
		w.must(err)
		out[svc.Name] = f
	}
	return out
}

// finalizers looks at what a Service has while it is served and afterwards, by
// deletion and by a change of its type.
func (p *place) finalizers(t *testing.T) {
	w := p.start(t, 2)
	before := w.dump()
	w.controller()
	services := w.many(len(p.kinds))
	w.must(w.Create(t.Context(), services...))
	w.programmed(services...)
	for _, k := range p.kinds {
		got := w.get(k.name).Finalizers
		if len(got) == 0 {
			t.Errorf("%s has no finalizer", k.name)
		}
		for _, f := range got {
			if !strings.Contains(f, "load-balancer-cleanup") && !strings.HasPrefix(f, "gke.networking.io/l4-") && !strings.HasPrefix(f, "service.k8s.alibaba/") && f != ownFinalizer {
				t.Errorf("%s has the finalizer %s", k.name, f)
			}
		}
		w.foreign(k.name)
		w.update(k.name, ofType(corev1.ServiceTypeClusterIP))
	}
	for i, k := range p.kinds {
		want := w.one(k, i, setAnnotation("example.com/note", "kept")).Annotations
		w.eventually(k.name+" is released", func() error {
			svc, err := w.Get(context.Background(), w.ns, k.name)
			if err != nil {
				return err
			}
			return errors.Join(
				diffError("finalizers", []string{"example.com/hold"}, svc.Finalizers),
				diffError("annotations", want, svc.Annotations),
				diffError("addresses", 0, len(svc.Status.LoadBalancer.Ingress)),
				diffError("conditions", 1, len(svc.Status.Conditions)),
			)
		})
		w.update(k.name, func(svc *corev1.Service) { svc.Finalizers = nil })
	}
	w.nothingLeft(before)
}

// drift deletes the parts of load balancers by hand: everything is created again as it was,
// with the same addresses unless these have been released.
func (p *place) drift(t *testing.T) {
	w := p.start(t, 3)
	before := w.dump()
	w.controller("--drift-interval=3s")
	fleet := w.many(len(p.kinds))
	w.must(w.Create(t.Context(), fleet...))
	w.programmed(fleet...)
	first := w.byName(fleet)
	p.spoil(w)
	for _, k := range p.kinds {
		w.eventually(k.name+" is back", func() error {
			f, err := w.front(k.name)
			if p.frees {
				f.Address = first[k.name].Address
			}
			return errors.Join(err, diffError(k.name, first[k.name], f))
		})
	}
	w.settled(w.meter())
	for _, k := range p.kinds {
		w.addressed(k.name, k.name)
	}
	w.remove(fleet...)
	w.nothingLeft(before)
}

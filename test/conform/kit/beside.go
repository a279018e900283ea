package kit

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/harness"
)

// ownClass is that of Services for Berth, where the official controller has all others.
const ownClass = "berth-lb.io/berth"

// Beside runs the official controller and Berth at once, each with Services of its own of the
// same kinds, through a life in which they write at the same moments. After each part neither
// controller has anything to do for any Service; afterwards the cloud is as it was. named are
// Services of testdata of which a cloud can have two.
func (s *Suite) Beside(t *testing.T, config string, named []string, results *Table) {
	w := s.NewWorld(t, config)
	theirs := Pick(t, w.Services(config), named...)
	ours := make([]corev1.Service, len(theirs))
	for i, svc := range theirs {
		ours[i] = *svc.DeepCopy()
		ours[i].Name, ours[i].Spec.LoadBalancerClass = "own-"+svc.Name, new(ownClass)
	}
	both := slices.Concat(theirs, ours)
	nodes, err := w.SeedNodes()
	w.Must(err)
	start := w.State()
	official, berth := w.Official(), w.Berth("--default-class=false", "--load-balancer-class="+ownClass)
	defer official.Kill()

	ctx := t.Context()
	part := func(what string, with func() error) {
		t.Helper()
		mark := w.Mark()
		w.Must(with())
		w.Eventually(what, w.Addressed(theirs...))
		w.Eventually(what, w.Programmed(ours...))
		w.agreed(config, what, mark, results)
	}
	part("created at once", func() error { return w.atOnce(both, func(svc corev1.Service) error { return w.Create(ctx, svc) }) })
	part("more ports at once", func() error {
		return w.atOnce(both, func(svc corev1.Service) error {
			return w.Change(ctx, svc.Namespace, svc.Name, func(svc *corev1.Service) {
				svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: "more", Protocol: svc.Spec.Ports[0].Protocol, Port: 8443, TargetPort: intstr.FromInt32(8443)})
			})
		})
	})
	part("a node leaves", func() error { return w.LeaveNode(ctx, nodes[0].Name) })
	part("a node joins", func() error { return w.JoinNode(ctx, &nodes[0]) })
	// The controller with the last Service of a load balancer deletes it, while the other one
	// starts to use it.
	for _, goes := range [][]corev1.Service{theirs, ours} {
		w.Must(w.Delete(ctx, goes...))
		w.Eventually("half of them are deleted", w.Gone(goes...))
		stays := ours
		if goes[0].Name == ours[0].Name {
			stays = theirs
		}
		part("the others change places", func() error {
			return w.atOnce(both, func(svc corev1.Service) error {
				if svc.Spec.LoadBalancerClass != nil == (stays[0].Spec.LoadBalancerClass != nil) {
					return w.remade(svc)
				}
				return w.Create(ctx, svc)
			})
		})
	}
	w.emptied(config, both, start, berth, results)
}

// emptied deletes all Services at once, and wants the cloud as it was at the start once
// Berth has ended.
func (w *World) emptied(config string, both []corev1.Service, start string, berth *harness.Process, results *Table) {
	w.T.Helper()
	mark := w.Mark()
	w.Must(w.atOnce(both, func(svc corev1.Service) error { return w.Delete(w.T.Context(), svc) }))
	w.Eventually("deleted at once", w.Gone(both...))
	w.Settle(mark)
	w.Stop(berth)
	left := cmp.Diff(strings.ToLower(start), strings.ToLower(w.State())) // identifiers are the same in any case
	if left != "" {
		w.T.Errorf("left after deletion (-want +got):\n%s", left)
	}
	results.Add("beside "+config, describeAll(both), left != "", "deleted at once; the cloud is as it was before the first Service"+countCollisions(w, mark))
}

// remade deletes a Service and creates it again.
func (w *World) remade(svc corev1.Service) error {
	if err := w.Delete(w.T.Context(), svc); err != nil {
		return err
	}
	if err := harness.Eventually(w.T.Context(), limit, w.Gone(svc)); err != nil {
		return err
	}
	return w.Create(w.T.Context(), svc)
}

// atOnce does the same for all Services at the same time.
func (w *World) atOnce(services []corev1.Service, act func(corev1.Service) error) error {
	var group errgroup.Group
	for _, svc := range services {
		group.Go(func() error { return act(svc) })
	}
	return group.Wait()
}

// agreed waits until Berth finds nothing to do for any Service, its own and those of the
// official controller, which may pause for a while after a conflict. It verifies that this
// remains so.
func (w *World) agreed(config, what string, mark int, results *Table) {
	w.T.Helper()
	class := "--load-balancer-class=" + ownClass
	w.Eventually(what+", then nothing to do", func(context.Context) error {
		human, code := w.Command("", "plan", "-A", class)
		if code != plan.ExitNothing {
			return fmt.Errorf("plan: exit code %d\n%s", code, human)
		}
		return nil
	})
	w.Settle(mark)
	doc, code := w.Plan("-A", class)
	if code != plan.ExitNothing {
		w.T.Errorf("%s: there was nothing to do, and then plan ended with %d", what, code)
	}
	results.Add("beside "+config, fmt.Sprintf("all %d together", len(doc.Plans)), code != plan.ExitNothing, what+"; then nothing to do for any"+countCollisions(w, mark))
}

// countCollisions returns how many write calls were refused since the mark, because the
// other controller had written in between.
func countCollisions(w *World, mark int) string {
	n, calls := 0, Writes(w.Since(mark))
	for _, e := range calls {
		if e.Status == http.StatusPreconditionFailed || e.Status == http.StatusConflict {
			n++
		}
	}
	return fmt.Sprintf("; %d of %d write calls arrived too late and were repeated", n, len(calls))
}

package kit

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TakeOver lets the official controller build, Berth take over, the official one
// come back and delete every second Service, and Berth delete the others.
func (s *Suite) TakeOver(t *testing.T, config string, results *Table) {
	w := s.NewWorld(t, config)
	services := w.Services(config)
	start := w.State()

	official := w.Official()
	w.built(services)
	w.Settle(0)
	official.Kill()
	made := w.State()

	w.taken(config, services, made, results)
	rest := w.back(config, services, made, results)

	berth := w.Berth()
	w.Eventually("Berth takes over again", w.Programmed(rest...))
	w.Must(w.Delete(t.Context(), rest...))
	w.Eventually("Berth deletes", w.Gone(rest...))
	w.Stop(berth)
	left := cmp.Diff(start, w.State())
	if left != "" {
		t.Errorf("left after deletion (-want +got):\n%s", left)
	}
	results.Add("deletion "+config, describeAll(rest), left != "", "the cloud is as it was before the first Service")
}

// taken sees that the plan is empty, that Berth takes over without a writing call,
// and that no address changes.
func (w *World) taken(config string, services []corev1.Service, made string, results *Table) {
	w.T.Helper()
	t, addresses, planned := w.T, w.statuses(services), w.planned(services)
	mark := w.Mark()
	berth := w.Berth()
	w.Eventually("Berth takes over", w.Programmed(services...))
	calls := w.Settle(mark)
	wrote := Writes(calls)
	for _, e := range wrote {
		t.Errorf("Berth wrote on take-over: %s", Describe(e))
	}
	if diff := cmp.Diff(made, w.State()); diff != "" {
		t.Errorf("the cloud changed on take-over (-want +got):\n%s", diff)
	}
	after := w.statuses(services)
	if diff := cmp.Diff(addresses, after); diff != "" {
		t.Errorf("addresses after take-over (-want +got):\n%s", diff)
	}
	touched := w.touch(services)
	w.Stop(berth)

	for _, s := range services {
		detail := "nothing to do, same address"
		if planned[s.Name] != "" {
			detail = planned[s.Name]
		}
		results.Add("take-over "+config, s.Name, planned[s.Name] != "" || !cmp.Equal(addresses[s.Name], after[s.Name]), detail)
	}
	reads := len(calls) - len(wrote)
	results.Add("take-over "+config, describeAll(services), len(wrote) > 0 || touched > 0,
		fmt.Sprintf("%d writing calls, %d reading calls (%.1f per Service), %d calls after a change that means nothing",
			len(wrote), reads, float64(reads)/float64(len(services)), touched))
}

// back starts the official controller on Berth's load balancers and verifies that it cuts
// nothing, and that a Service whose deletion it handles is deleted: nothing of Berth blocks
// it. It returns the Services that stay.
func (w *World) back(config string, services []corev1.Service, made string, results *Table) []corev1.Service {
	w.T.Helper()
	mark, looked := w.Mark(), w.suite.Watch(w, services)
	official := w.Official()
	w.Eventually("the official controller looks at all", looked)
	calls := w.Settle(mark)
	cuts := 0
	for _, e := range Writes(calls) {
		if w.suite.Cuts(e) {
			cuts++
			w.T.Errorf("the official controller interrupts traffic when it returns: %s", Describe(e))
		}
	}
	if diff := cmp.Diff(made, w.State()); diff != "" {
		w.T.Errorf("the cloud changed when the official controller returned (-want +got):\n%s", diff)
	}
	results.Add("back "+config, describeAll(services), cuts > 0, "no call that cuts traffic; its own habit: "+countWrites(calls))
	var gone, stay []corev1.Service
	for i, s := range services {
		if i%2 == 0 {
			gone = append(gone, s)
		} else {
			stay = append(stay, s)
		}
	}
	mark = w.Mark()
	w.deleted(gone)
	w.Settle(mark)
	official.Kill()
	results.Add("back "+config, describeAll(gone), false, "gone after a deletion that the official controller handles")
	return stay
}

// touch changes what means nothing to a load balancer, and returns how many cloud
// calls that has cost: none, if everything is remembered.
func (w *World) touch(services []corev1.Service) int {
	w.T.Helper()
	mark := w.Mark()
	for _, s := range services {
		w.Must(w.Change(w.T.Context(), s.Namespace, s.Name, func(svc *corev1.Service) {
			if svc.Annotations == nil {
				svc.Annotations = map[string]string{}
			}
			svc.Annotations["example.com/touched"] = "yes"
		}))
	}
	calls := w.Settle(mark)
	if len(calls) > 0 {
		w.T.Errorf("%d calls after a change that means nothing, such as %s", len(calls), Describe(calls[0]))
	}
	return len(calls)
}

func describeAll(services []corev1.Service) string {
	return fmt.Sprintf("all %d together", len(services))
}

package conform

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/test/sim"
)

// oneZone is the configuration with one zone of nodes, the one with the fewest
// calls for a load balancer, and with network tags that are found at the nodes.
const oneZone = "one-zone"

// TestConform hands load balancers from the official controller to Berth and
// back, in every way that users may come upon, and prints what came of each.
func TestConform(t *testing.T) {
	results := &table{}
	defer func() {
		if err := results.print(os.Stdout); err != nil {
			t.Error(err)
		}
	}()
	t.Run("coverage", coverage)
	for _, config := range []string{"stock", oneZone} {
		t.Run("take-over/"+config, func(t *testing.T) { takeOver(t, config, results) })
	}
	names := []string{"tp-local", "ilb-plain"}
	t.Run("half-built", func(t *testing.T) { halfBuilt(t, names, results) })
	t.Run("half-deleted", func(t *testing.T) { halfDeleted(t, names, results) })
}

// takeOver lets the official controller build, Berth take over, the official
// one come back, and Berth delete.
func takeOver(t *testing.T, config string, results *table) {
	w := newWorld(t, config)
	services := w.services(config)
	start := w.state()

	official := w.official()
	w.must(w.Create(t.Context(), services...))
	w.eventually("the official controller builds", w.addressed(services...))
	w.settle(0)
	official.Kill()
	made, addresses := w.state(), w.statuses(services)

	planned := w.plan(services)
	mark := w.mark()
	berth := w.berth()
	w.eventually("Berth takes over", w.Programmed(services...))
	calls := w.settle(mark)
	wrote := writes(calls)
	for _, e := range wrote {
		t.Errorf("Berth wrote on take-over: %s", describe(e))
	}
	if diff := cmp.Diff(made, w.state()); diff != "" {
		t.Errorf("the cloud changed on take-over (-want +got):\n%s", diff)
	}
	after := w.statuses(services)
	if diff := cmp.Diff(addresses, after); diff != "" {
		t.Errorf("addresses after take-over (-want +got):\n%s", diff)
	}
	touched := w.touch(services)
	w.stop(berth)

	for _, s := range services {
		detail := "nothing to do, same address"
		if planned[s.Name] != "" {
			detail = planned[s.Name]
		}
		ok := planned[s.Name] == "" && cmp.Equal(addresses[s.Name], after[s.Name])
		results.add("take-over "+config, s.Name, result(!ok), detail)
	}
	reads := len(calls) - len(wrote)
	results.add("take-over "+config, fmt.Sprintf("all %d together", len(services)), result(len(wrote) > 0 || touched > 0),
		fmt.Sprintf("%d writing calls, %d reading calls (%.1f per Service), %d calls after a change that means nothing", len(wrote), reads, float64(reads)/float64(len(services)), touched))

	w.back(config, services, made, results)

	berth = w.berth()
	w.eventually("Berth takes over again", w.Programmed(services...))
	w.must(w.Delete(t.Context(), services...))
	w.eventually("Berth deletes", w.Gone(services...))
	w.stop(berth)
	left := cmp.Diff(start, w.state())
	if left != "" {
		t.Errorf("left after deletion (-want +got):\n%s", left)
	}
	results.add("deletion "+config, fmt.Sprintf("all %d together", len(services)), result(left != ""), "the cloud is as it was before the first Service")
}

// back starts the official controller on what Berth has held and sees that it
// cuts nothing.
func (w *world) back(config string, services []corev1.Service, made string, results *table) {
	w.t.Helper()
	mark, before := w.mark(), w.ensures()
	official := w.official()
	w.eventually("the official controller looks at all", w.ensured(services, before))
	calls := w.settle(mark)
	official.Kill()
	cuts := 0
	for _, e := range writes(calls) {
		if cutsTraffic(e) {
			cuts++
			w.t.Errorf("the official controller cuts traffic when it comes back: %s", describe(e))
		}
	}
	if diff := cmp.Diff(made, w.state()); diff != "" {
		w.t.Errorf("the cloud changed when the official controller came back (-want +got):\n%s", diff)
	}
	results.add("back "+config, fmt.Sprintf("all %d together", len(services)), result(cuts > 0),
		fmt.Sprintf("no call that cuts traffic; its own habit: %s", habits(calls)))
}

// ensures counts, by Service, how often the official controller has told that it
// was done with one.
func (w *world) ensures() map[string]int32 {
	w.t.Helper()
	events, err := w.Client.CoreV1().Events(w.namespace).List(w.t.Context(), metav1.ListOptions{FieldSelector: "reason=EnsuredLoadBalancer"})
	w.must(err)
	out := map[string]int32{}
	for _, e := range events.Items {
		out[e.InvolvedObject.Name] += max(1, e.Count)
	}
	return out
}

// ensured answers nil when the official controller has done with every Service
// once more than before.
func (w *world) ensured(services []corev1.Service, before map[string]int32) func(context.Context) error {
	return func(context.Context) error {
		now := w.ensures()
		for _, s := range services {
			if now[s.Name] <= before[s.Name] {
				return fmt.Errorf("%s was not looked at", s.Name)
			}
		}
		return nil
	}
}

// touch changes what means nothing to a load balancer, and returns how many
// cloud calls that has cost: none, if everything is remembered.
func (w *world) touch(services []corev1.Service) int {
	w.t.Helper()
	mark := w.mark()
	for _, s := range services {
		w.must(w.Change(w.t.Context(), s.Namespace, s.Name, func(svc *corev1.Service) {
			if svc.Annotations == nil {
				svc.Annotations = map[string]string{}
			}
			svc.Annotations["example.com/touched"] = "yes"
		}))
	}
	calls := w.settle(mark)
	if len(calls) > 0 {
		w.t.Errorf("%d calls after a change that means nothing, such as %s", len(calls), describe(calls[0]))
	}
	return len(calls)
}

func writes(calls []sim.Entry) []sim.Entry {
	return slices.DeleteFunc(slices.Clone(calls), func(e sim.Entry) bool { return !e.Write })
}

// cutsTraffic tells whether a call takes something away that clients may be
// using. Addresses are not among it: the official controller reserves the address
// of a live rule and gives it back, and the rule keeps it.
func cutsTraffic(e sim.Entry) bool {
	collection, verb, _ := strings.Cut(e.Operation, ".")
	switch verb {
	case "delete", "insert":
		return collection != "addresses"
	}
	return strings.HasPrefix(verb, "remove") || strings.HasPrefix(verb, "detach")
}

// habits counts the writing calls of a controller that changes nothing.
func habits(calls []sim.Entry) string {
	counts := map[string]int{}
	for _, e := range writes(calls) {
		counts[e.Operation]++
	}
	var out []string
	for _, op := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[op], op))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// describe shows a call in one line.
func describe(e sim.Entry) string {
	var params []string
	for _, key := range slices.Sorted(maps.Keys(e.Request)) {
		params = append(params, key+"="+e.Request[key])
	}
	return fmt.Sprintf("%s.%s %d %s %s", e.Service, e.Operation, e.Status, e.Code, strings.Join(params, " "))
}

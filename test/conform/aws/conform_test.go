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

	"github.com/berth-lb/berth/test/sim"
)

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
	for _, config := range []string{"stock", "managed-groups", "shared-probe", "given-group", "no-node-rules"} {
		t.Run("take-over/"+config, func(t *testing.T) { takeOver(t, config, results) })
	}
	t.Run("drift", func(t *testing.T) { drift(t, results) })
	t.Run("orphans", func(t *testing.T) { orphans(t, results) })
	for config, names := range map[string][]string{"stock": {"clb-tls", "nlb-ranges"}, "managed-groups": {"nlb-ranges"}} {
		t.Run("half-built/"+config, func(t *testing.T) { halfBuilt(t, config, names, results) })
		t.Run("half-deleted/"+config, func(t *testing.T) { halfDeleted(t, config, names, results) })
	}
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
	results.add("take-over "+config, fmt.Sprintf("all %d together", len(services)), result(len(wrote) > 0 || touched > 0),
		fmt.Sprintf("%d writing calls, %d reading calls (%.1f per Service), %d calls after a change that means nothing", len(wrote), len(calls)-len(wrote), float64(len(calls)-len(wrote))/float64(len(services)), touched))

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
	mark := w.mark()
	official := w.official()
	w.eventually("the official controller looks at all", w.ensured(services, mark))
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

// ensured answers nil when the official controller has done with every Service
// since the mark: what it does last for each is told by an event.
func (w *world) ensured(services []corev1.Service, mark int) func(context.Context) error {
	return func(ctx context.Context) error {
		entries, err := w.Sim.Journal(ctx, mark)
		if err != nil {
			return err
		}
		seen := 0
		for _, e := range entries {
			if e.Operation == "DescribeLoadBalancerAttributes" {
				seen++
			}
		}
		if seen < len(services) {
			return fmt.Errorf("%d of %d Services were looked at", seen, len(services))
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
// using, or may make something wait that they are.
func cutsTraffic(e sim.Entry) bool {
	for _, verb := range []string{"Delete", "Deregister", "Revoke", "Detach", "Create"} {
		if strings.HasPrefix(e.Operation, verb) && e.Operation != "CreateLoadBalancerPolicy" {
			return true
		}
	}
	return slices.Contains([]string{"SetSecurityGroups", "ApplySecurityGroupsToLoadBalancer", "SetSubnets", "ConfigureHealthCheck"}, e.Operation)
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

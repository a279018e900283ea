package conform

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/sim"
)

// orphans lets the official controller leak in the ways it is known for, beside
// a Service that lives, and sees that all of it is found, and only that.
func orphans(t *testing.T, results *table) {
	w := newWorld(t, "managed-groups")
	services := w.services("managed-groups")
	typeChanged, interrupted, groupsKept := pick(t, services, "nlb-ranges"), pick(t, services, "nlb-ports"), pick(t, services, "nlb-udp", "clb-plain")
	alive := pick(t, services, "nlb-tags")
	start := w.state()

	official := w.official()
	w.must(w.Create(t.Context(), slices.Concat(typeChanged, interrupted, groupsKept, alive)...))
	w.eventually("the official controller builds", w.addressed(slices.Concat(typeChanged, interrupted, groupsKept, alive)...))
	official.Kill()
	for _, s := range typeChanged { // it looks for the load balancer in the other API
		w.must(w.Change(t.Context(), s.Namespace, s.Name, annotate("type", "")))
	}
	w.must(w.Delete(t.Context(), typeChanged...))
	official = w.official()
	w.eventually("deletion after a change of type", w.Gone(typeChanged...))
	w.leak("DeleteTargetGroup", interrupted)
	w.leak("DeleteSecurityGroup", groupsKept)
	official.Kill()
	leaked := w.state()

	text, code := w.command("", "orphans", "-o", "json")
	var doc plan.Document
	w.must(json.Unmarshal([]byte(text), &doc))
	w.checkOrphans(doc, code, results)
	human, _ := w.command("", "orphans", "--width=140")
	t.Logf("berth orphans:\n%s", human)
	if _, code := w.command("no\n", "orphans", "--delete"); code != plan.ExitError {
		t.Errorf("orphans --delete, not confirmed: exit code %d", code)
	}
	if diff := cmp.Diff(leaked, w.state()); diff != "" {
		t.Errorf("a report has changed the cloud (-want +got):\n%s", diff)
	}
	if _, code := w.command("yes\n", "orphans", "--delete"); code != plan.ExitNothing {
		t.Errorf("orphans --delete: exit code %d", code)
	}
	if text, code := w.command("", "plan", "-A"); code != plan.ExitNothing {
		t.Errorf("plan of the Service that lives, after the deletion: exit code %d\n%s", code, text)
	}
	berth := w.berth()
	w.eventually("Berth takes over", w.Programmed(alive...))
	w.must(w.Delete(t.Context(), alive...))
	w.eventually("Berth deletes", w.Gone(alive...))
	w.stop(berth)
	diff := cmp.Diff(start, w.state())
	if diff != "" {
		t.Errorf("left after all (-want +got):\n%s", diff)
	}
	results.add("orphans", "deletion", result(t.Failed()), "all that was leaked is gone, the Service that lives has kept everything")
}

// leak deletes Services while one operation is denied. The official controller
// tries again, finds no load balancer, and takes the work for done.
func (w *world) leak(operation string, services []corev1.Service) {
	w.t.Helper()
	w.must(w.Sim.Arm(w.t.Context(), sim.Fault{Operation: operation, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "AccessDenied"}))
	w.must(w.Delete(w.t.Context(), services...))
	w.eventually("deletion without "+operation, w.Gone(services...))
	w.must(w.Sim.Disarm(w.t.Context()))
}

// checkOrphans compares what was reported with what was leaked.
func (w *world) checkOrphans(doc plan.Document, code int, results *table) {
	w.t.Helper()
	if code != plan.ExitChanges {
		w.t.Errorf("orphans: exit code %d", code)
	}
	got := map[string][]string{}
	for _, p := range doc.Plans {
		name := p.Owner.Name
		if p.Owner.Namespace == "" {
			name = "(no name)"
		}
		for _, s := range p.Steps {
			kind := strings.Split(string(s.Target.Key.Kind), "/")[0]
			if !slices.Contains(got[name], kind) {
				got[name] = append(got[name], kind)
			}
		}
		slices.Sort(got[name])
	}
	want := map[string][]string{
		"nlb-ranges": {"network-load-balancer", "node-security-group-rule", "security-group", "target-group"},
		"nlb-ports":  {"target-group"},
		"clb-plain":  {"security-group"},
		// Rules of nodes and managed groups tell the UID or a hash, and no name.
		"(no name)": {"node-security-group-rule", "security-group"},
	}
	diff := cmp.Diff(want, got)
	if diff != "" {
		w.t.Errorf("orphans (-want +got):\n%s", diff)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		results.add("orphans", name, result(diff != ""), strings.Join(got[name], ", "))
	}
}

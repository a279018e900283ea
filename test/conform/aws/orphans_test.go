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
	"github.com/berth-lb/berth/test/conform/kit"
	"github.com/berth-lb/berth/test/sim"
)

// findOrphans makes the official controller leak in the known ways, beside a Service
// that lives, and checks that all of it is found, and nothing else.
func findOrphans(t *testing.T, results *kit.Table) {
	w := suite.NewWorld(t, "managed-groups")
	services := w.Services("managed-groups")
	typeChanged, interrupted, groupsKept := kit.Pick(t, services, "nlb-ranges"), kit.Pick(t, services, "nlb-ports"), kit.Pick(t, services, "nlb-udp", "clb-plain")
	alive := kit.Pick(t, services, "nlb-tags")
	start := w.State()

	official := w.Official()
	w.Must(w.Create(t.Context(), slices.Concat(typeChanged, interrupted, groupsKept, alive)...))
	w.Eventually("the official controller builds", w.Addressed(slices.Concat(typeChanged, interrupted, groupsKept, alive)...))
	official.Kill()
	for _, s := range typeChanged { // it looks for the load balancer in the other API
		w.Must(w.Change(t.Context(), s.Namespace, s.Name, setAnnotation("type", "")))
	}
	w.Must(w.Delete(t.Context(), typeChanged...))
	official = w.Official()
	w.Eventually("deletion after a change of type", w.Gone(typeChanged...))
	leakResources(w, "DeleteTargetGroup", interrupted)
	leakResources(w, "DeleteSecurityGroup", groupsKept)
	official.Kill()
	leaked := w.State()

	text, code := w.Command("", "orphans", "-o", "json")
	var doc plan.Document
	w.Must(json.Unmarshal([]byte(text), &doc))
	checkOrphans(w, doc, code, results)
	human, _ := w.Command("", "orphans", "--width=140")
	t.Logf("berth orphans:\n%s", human)
	if _, code := w.Command("no\n", "orphans", "--delete"); code != plan.ExitError {
		t.Errorf("orphans --delete, not confirmed: exit code %d", code)
	}
	if diff := cmp.Diff(leaked, w.State()); diff != "" {
		t.Errorf("a report has changed the cloud (-want +got):\n%s", diff)
	}
	if _, code := w.Command("yes\n", "orphans", "--delete"); code != plan.ExitNothing {
		t.Errorf("orphans --delete: exit code %d", code)
	}
	if text, code := w.Command("", "plan", "-A"); code != plan.ExitNothing {
		t.Errorf("plan of the Service that lives, after the deletion: exit code %d\n%s", code, text)
	}
	berth := w.Berth()
	w.Eventually("Berth takes over", w.Programmed(alive...))
	w.Must(w.Delete(t.Context(), alive...))
	w.Eventually("Berth deletes", w.Gone(alive...))
	w.Stop(berth)
	diff := cmp.Diff(start, w.State())
	if diff != "" {
		t.Errorf("left after all (-want +got):\n%s", diff)
	}
	results.Add("orphans", "deletion", t.Failed(), "all that was leaked is gone, the Service that lives has kept everything")
}

// leakResources deletes Services while one operation is denied. The official controller
// tries again, finds no load balancer, and considers the work done.
func leakResources(w *kit.World, operation string, services []corev1.Service) {
	w.T.Helper()
	w.Must(w.Sim.Arm(w.T.Context(), sim.Fault{Operation: operation, Kind: sim.FaultError, Status: http.StatusForbidden, Code: "AccessDenied"}))
	w.Must(w.Delete(w.T.Context(), services...))
	w.Eventually("deletion without "+operation, w.Gone(services...))
	w.Must(w.Sim.Disarm(w.T.Context()))
}

// checkOrphans compares what was reported with what was leaked.
func checkOrphans(w *kit.World, doc plan.Document, code int, results *kit.Table) {
	w.T.Helper()
	if code != plan.ExitChanges {
		w.T.Errorf("orphans: exit code %d", code)
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
		w.T.Errorf("orphans (-want +got):\n%s", diff)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		results.Add("orphans", name, diff != "", strings.Join(got[name], ", "))
	}
}

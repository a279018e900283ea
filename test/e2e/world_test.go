package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/cluster"
	"github.com/berth-lb/berth/test/harness"
	"github.com/berth-lb/berth/test/sim"
)

var plane cluster.Shared

// built are the programs under test, compiled by the first test that asks.
var built = sync.OnceValues(func() (harness.Binaries, error) {
	return harness.Build(context.Background(), os.Stderr)
})

func TestMain(m *testing.M) { plane.Main(m) }

const (
	// limit bounds a wait for something that must happen; a busy machine needs
	// much of it, a quiet one a hundredth.
	limit = 40 * time.Second
	// quiet is how long nothing must happen until it is taken for nothing: longer
	// than changes of nodes gather.
	quiet = 1500 * time.Millisecond
)

// world is what a test has at hand.
type world struct {
	*harness.World
	t     *testing.T
	ns    string
	aws   clients
	place *place // nil in the tests that are for AWS alone
	// pod starts the controller as the chart has it; nil: as the harness does.
	pod func(flags ...string) *harness.Process
	// printed is what berth said on its command line.
	printed []string
}

// startWorld starts the world of a test on AWS: machines in the cloud, all of them
// Nodes, and no controller yet.
func startWorld(t *testing.T, nodes int, simArgs ...string) *world {
	t.Helper()
	return startOn(t, &plane, "aws", nodes, simArgs...)
}

// startOn makes a world in a cloud, on a control plane that no other test uses at
// the same time.
func startOn(t *testing.T, on *cluster.Shared, cloud string, nodes int, simArgs ...string) *world {
	t.Helper()
	shared := on.Cluster(t)
	ns := shared.Namespace(t)
	binaries, err := built()
	if err != nil {
		t.Fatal(err)
	}
	hw, err := harness.Start(t.Context(), harness.Options{Cloud: cloud, Nodes: nodes, SimArgs: simArgs, Cluster: shared, Binaries: binaries})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{World: hw, t: t, ns: ns, aws: newClients(hw.Sim.URL)}
	t.Cleanup(func() {
		if err := hw.StopControllers(); err != nil {
			t.Errorf("clean-up: %v", err)
		}
		w.keptSecrets()
		if t.Failed() {
			w.tellLogs()
		}
		if err := hw.Close(); err != nil {
			t.Errorf("clean-up: %v", err)
		}
	})
	return w
}

// tellLogs shows the ends of the controllers' logs, for a test that failed.
func (w *world) tellLogs() {
	logs, err := os.ReadDir(w.Dir)
	if err != nil {
		w.t.Log(err)
		return
	}
	const shown = 25
	for _, f := range logs {
		if !strings.HasSuffix(f.Name(), ".log") {
			continue
		}
		body, err := os.ReadFile(w.Dir + "/" + f.Name())
		if err != nil {
			w.t.Log(err)
			continue
		}
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(body)), "\n"), ofEveryStart)
		w.t.Logf("end of %s:\n%s", f.Name(), strings.Join(lines[max(0, len(lines)-shown):], "\n"))
	}
}

// ofEveryStart tells a line that every controller logs when it starts.
func ofEveryStart(line string) bool {
	return slices.ContainsFunc([]string{"FLAG: ", "Feature gate default state", "extension-apiserver-authentication"}, func(of string) bool {
		return strings.Contains(line, of)
	})
}

// controller starts a controller.
func (w *world) controller(flags ...string) *harness.Process {
	w.t.Helper()
	if w.pod != nil {
		return w.pod(flags...)
	}
	p, err := w.Controller("controller", flags...)
	w.must(err)
	return p
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventually waits until the answer is nil.
func (w *world) eventually(what string, ask func() error) {
	w.t.Helper()
	if err := harness.Eventually(w.t.Context(), limit, func(context.Context) error { return ask() }); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// create creates a Service and waits until it is served.
func (w *world) create(name string, changes ...change) corev1.Service {
	w.t.Helper()
	svc := w.service(name, changes...)
	w.must(w.Create(w.t.Context(), svc))
	w.programmed(svc)
	return svc
}

func (w *world) programmed(services ...corev1.Service) {
	w.t.Helper()
	if err := harness.Eventually(w.t.Context(), limit, w.Programmed(services...)); err != nil {
		w.t.Fatal(err)
	}
}

// update changes a Service; the caller waits for the effect.
func (w *world) update(name string, changes ...change) {
	w.t.Helper()
	w.must(w.Change(w.t.Context(), w.ns, name, func(svc *corev1.Service) {
		for _, c := range changes {
			c(svc)
		}
	}))
}

// atRest waits until the Service is not written for a moment. A write that conflicts with
// another one is refused, and the API server keeps the node port that the refused write
// requested: for minutes no request gets it, not even a retry of the same one.
// Source: k8s.io/apiserver, pkg/registry/generic/registry/store.go (BeginUpdate).
func (w *world) atRest(name string) {
	w.t.Helper()
	last := w.get(name).ResourceVersion
	w.eventually(name+" is at rest", func() error {
		time.Sleep(250 * time.Millisecond)
		before := last
		last = w.get(name).ResourceVersion
		return diffError("resource version", before, last)
	})
}

// remove deletes Services and waits until they no longer exist.
func (w *world) remove(services ...corev1.Service) {
	w.t.Helper()
	w.must(w.Delete(w.t.Context(), services...))
	if err := harness.Eventually(w.t.Context(), limit, w.Gone(services...)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(name string) *corev1.Service {
	w.t.Helper()
	svc, err := w.Get(w.t.Context(), w.ns, name)
	w.must(err)
	return svc
}

// condition waits until a condition has a status and a reason.
func (w *world) condition(name, conditionType string, want metav1.ConditionStatus, reason status.Reason) metav1.Condition {
	w.t.Helper()
	var got metav1.Condition
	w.eventually(fmt.Sprintf("%s: %s=%s", name, conditionType, want), func() error {
		svc, err := w.Get(w.t.Context(), w.ns, name)
		if err != nil {
			return err
		}
		got = harness.Condition(svc, conditionType)
		if got.Status != want || got.Reason != string(reason) {
			return fmt.Errorf("want %s=%s %s, got %s", conditionType, want, reason, harness.Conditions(svc))
		}
		return nil
	})
	return got
}

// events lists the events of a Service as "Type Reason: message", each as often as it was
// recorded. Events of the API server about the addresses and ports that it has just allocated
// are left out.
func (w *world) events(name string) []string {
	w.t.Helper()
	list, err := w.Client.CoreV1().Events(w.ns).List(w.t.Context(), metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Service,involvedObject.name=" + name,
	})
	w.must(err)
	var out []string
	for _, e := range list.Items {
		if strings.HasSuffix(e.Source.Component+e.ReportingController, "-repair-controller") {
			continue
		}
		for range max(e.Count, 1) {
			out = append(out, e.Type+" "+e.Reason+": "+e.Message)
		}
	}
	return out
}

func (w *world) warnings(name string) []string {
	w.t.Helper()
	return slices.DeleteFunc(w.events(name), func(e string) bool { return !strings.HasPrefix(e, corev1.EventTypeWarning) })
}

// meter counts cloud calls from now on.
func (w *world) meter() *harness.Meter {
	w.t.Helper()
	m, err := w.Sim.Meter(w.t.Context())
	w.must(err)
	return m
}

// settled returns the calls since the meter started, once they have ended.
func (w *world) settled(m *harness.Meter) harness.Calls {
	w.t.Helper()
	calls, err := m.Settle(w.t.Context(), quiet, limit)
	w.must(err)
	return calls
}

// noWrites wants that nothing is written to the cloud for a while.
func (w *world) noWrites(why string, since *harness.Meter) {
	w.t.Helper()
	if calls := w.settled(since); calls.Writes > 0 {
		w.t.Errorf("%s: want no write, got %v", why, calls.ByOperation)
	}
}

// written returns the calls that wrote after the one with the number, in order.
func (w *world) written(since int) []sim.Entry {
	w.t.Helper()
	entries, err := w.Sim.Journal(w.t.Context(), since)
	w.must(err)
	return slices.DeleteFunc(entries, func(e sim.Entry) bool { return !e.Write })
}

// now is the number of the last call.
func (w *world) now() int {
	w.t.Helper()
	entries, err := w.Sim.Journal(w.t.Context(), 0)
	w.must(err)
	if len(entries) == 0 {
		return 0
	}
	return entries[len(entries)-1].Seq
}

// committed counts the calls of an operation that took effect.
func (w *world) committed(operation string) int {
	w.t.Helper()
	n := 0
	for _, e := range w.written(0) {
		if e.Operation == operation && e.Committed {
			n++
		}
	}
	return n
}

// state is everything in the cloud but the counters that ids are made from.
func (w *world) state() map[string]any {
	w.t.Helper()
	raw, err := w.Sim.State(w.t.Context())
	w.must(err)
	out := map[string]any{}
	w.must(json.Unmarshal(raw, &out))
	for _, part := range out {
		if fields, ok := part.(map[string]any); ok {
			delete(fields, "Seq")
		}
	}
	return out
}

// asBefore wants the cloud to be what it was.
func (w *world) asBefore(before map[string]any) {
	w.t.Helper()
	if diff := cmp.Diff(before, w.state()); diff != "" {
		w.t.Errorf("the cloud is not as before (-want +got):\n%s", diff)
	}
}

// diffError returns an error that shows the difference, nil if there is none.
func diffError(what string, want, got any) error {
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("%s (-want +got):\n%s", what, diff)
	}
	return nil
}

// requireWords requires all words in a text.
func requireWords(text string, words ...string) error {
	var all error
	for _, word := range words {
		if !strings.Contains(text, word) {
			all = errors.Join(all, fmt.Errorf("%q is not in %q", word, text))
		}
	}
	return all
}

// forbidWords forbids the words in a text.
func forbidWords(text string, words ...string) error {
	var all error
	for _, word := range words {
		if strings.Contains(text, word) {
			all = errors.Join(all, fmt.Errorf("%q is in %q", word, text))
		}
	}
	return all
}

func lowerCase(s string) string { return strings.ToLower(s) }

func atLeast(want, got int) error {
	if got < want {
		return fmt.Errorf("want at least %d, got %d", want, got)
	}
	return nil
}

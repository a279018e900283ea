package page

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/settings"
	"github.com/berth-lb/berth/test/props"
)

// account is a simulated cloud with one Service that is served.
type account struct {
	entry   providers.Entry
	url     string // of the simulator
	nodes   []corev1.Node
	service *corev1.Service
	dir     string
}

// serve serves a Service as the controller does. Write writes the files of the simulator.
func (a *account) serve(t *testing.T, annotations map[string]string, write func(dir string) error) {
	t.Helper()
	t.Setenv("KUBECONFIG", "/dev/null")
	a.dir = t.TempDir()
	if err := write(a.dir); err != nil {
		t.Fatal(err)
	}
	a.service = props.Service("web", annotations).Service
	a.service.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
	conf, err := os.ReadFile(filepath.Join(a.dir, "cloud.conf"))
	if err != nil {
		t.Fatal(err)
	}
	bound, _, err := a.entry.Open(t.Context(), bytes.NewReader(conf), providers.Env{Cluster: "kubernetes", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var nodes []nodeports.Node
	for i := range a.nodes {
		nodes = append(nodes, nodeports.Project(&a.nodes[i], func(string) bool { return true }))
	}
	process := props.Process(t, bound, nodes)
	for range 10 {
		result, err := props.Work(t.Context(), process, reconcile.Job{Service: a.service})
		if err != nil {
			t.Fatal(err)
		}
		if result.Clean {
			return
		}
	}
	t.Fatal("the Service has not its desired state after ten runs")
}

// source returns what `berth ui` shows of the account. Nothing is kept between two requests.
func (a *account) source(t *testing.T) *offline.Browser {
	t.Helper()
	text, err := yaml.Marshal(a.service)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(a.dir, "service.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	in := offline.Input{Files: []string{file}, NodeFiles: []string{filepath.Join(a.dir, "nodes.yaml")}, Offline: true}
	target := offline.Target{Cloud: a.entry, CloudConfig: filepath.Join(a.dir, "cloud.conf"), ClusterName: "kubernetes", Settings: settings.Settings{DefaultClass: true, OnTakeover: "converge"}}
	return offline.NewBrowser(in, func() offline.Judge { return offline.Judge{Target: target, Now: time.Now()} }, 0, 0)
}

// stateOf returns the state of a simulator.
func stateOf[T any](t *testing.T, url string) (out T) {
	t.Helper()
	resp, err := http.Get(url + "/_sim/state")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// compare opens the Service of an account and compares the graph on the page with resources and
// edges of the cloud. Only nodes of some kinds count: the ones that are resources of their own in
// the cloud.
func (b browser) compare(t *testing.T, a *account, kinds []string, count int, wantIDs, wantEdges []string) {
	t.Helper()
	b.open(t, servePage(t, a.source(t)), "services/shop/web")
	b.wait(t, `document.querySelector('g.node') !== null`)
	wantIDs, wantEdges = normalizeTexts(wantIDs), normalizeTexts(wantEdges)
	ids, edges := b.drawn(t, kinds)
	if len(wantIDs) != count || !slices.Equal(ids, wantIDs) {
		t.Errorf("the graph has the resources\n%s\nthe cloud\n%s", strings.Join(ids, "\n"), strings.Join(wantIDs, "\n"))
	}
	if !slices.Equal(edges, wantEdges) {
		t.Errorf("the graph has the edges\n%s\nthe cloud\n%s", strings.Join(edges, "\n"), strings.Join(wantEdges, "\n"))
	}
}

// drawn returns the identifiers of the nodes of some kinds on the page, and the edges between them.
// Parts of a resource that have its identifier are one with it.
func (b browser) drawn(t *testing.T, kinds []string) (ids, edges []string) {
	t.Helper()
	counts := func(node string) bool {
		kind, _, _ := strings.Cut(node, "/")
		return slices.Contains(kinds, kind)
	}
	known := evaluateIn[map[string]string](t, b, `Object.fromEntries([...document.querySelectorAll('details.resource')].map((d) => [d.id.slice('resource-'.length), d.querySelector('summary code')?.textContent ?? '']))`)
	for _, node := range evaluateIn[[]string](t, b, `[...document.querySelectorAll('g.node')].map((g) => g.dataset.id)`) {
		if counts(node) {
			ids = append(ids, known[node])
		}
	}
	for _, edge := range evaluateIn[[][]string](t, b, `[...document.querySelectorAll('path.edge')].map((p) => [p.dataset.from, p.dataset.to])`) {
		if from, to := known[edge[0]], known[edge[1]]; counts(edge[0]) && counts(edge[1]) && from != to {
			edges = append(edges, from+" > "+to)
		}
	}
	return normalizeTexts(ids), normalizeTexts(edges)
}

// normalizeTexts sorts a list, each text once and in lower case: Azure does not keep the case of
// identifiers.
func normalizeTexts(list []string) []string {
	var out []string
	for _, text := range list {
		out = append(out, strings.ToLower(text))
	}
	slices.Sort(out)
	return slices.Compact(out)
}
